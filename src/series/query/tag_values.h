// The values that a tag of a series has, for those who complete a condition while it is written.
//
// Rows are read by seeks: of a value that is known no further row is read, as far as keys allow it (the tag is before the
// time in the key).
// Threads: the function may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/known/known_series.h"
#include "series/query/query_words.h"

namespace sonde::series {

struct TagValues {
  std::vector<std::string> values;  // sorted, each once
  bool has_more = false;            // there are others, or there may be
  int64_t rows_read = 0;
};

// At most `values_max` values of `tag` (of an open series: a label, by its place in LabelsAsTags) that begin with `prefix` and
// that points have which `query` asks for by its tags, conditions and times; all else of it is not looked at.  DEADLINE_EXCEEDED of
// query.interrupted ends the search, and what was found is the answer.  Other errors: those of the query.
absl::StatusOr<TagValues> ListTagValues(const KnownSeries& series, Query query, size_t tag,
                                        const std::string& prefix, size_t values_max, TableAccess* tables);

}  // namespace sonde::series
