// Ranges of the bytes of fields as ranges of row keys.
//
//   a = 'x' AND b >= 5     {single("x"), from(bytes of 5)}     x#5 up to the end of the prefix x#
//
// The fields bound from the left, up to the first one that is not a list of single values.  Of the keys that the schema
// can read, the ranges hold just those whose fields, up to there, lie in their ranges.
// Cost: linear in the ranges that come, of which there are at most `ranges_max` and, for each range of the field that is the last
//   to bound, as many as the bound has bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/row_key_schema.h"
#include "model/row_range.h"

namespace sonde::sql {

// `fields`: of each field ranges of its bytes (AppendField), in the normal form.  The result is in it, too.
// A field whose values would make more than `ranges_max` ranges is taken as one range from its first to its last.
std::vector<RowRange> KeysWithFields(const RowKeySchema& schema,
                                     absl::Span<const std::vector<RowRange>> fields, size_t ranges_max);

}  // namespace sonde::sql
