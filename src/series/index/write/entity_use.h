// Points of one entity that are about to be written, as the index is told of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "series/index/write/entity_hash.h"
#include "series/known/known_series.h"

namespace sonde::series {

struct EntityUse {
  const KnownSeriesRef* series =
      nullptr;  // an open one, which has the fields and labels, or an IndexedView; the same for all uses of it in a call
  std::string_view text;                    // the labels as keys have them
  EntityHash hash;                          // of the text: IndexWriter::HashOf
  absl::InlinedVector<int32_t, 2> days;     // since 1970, each once
  absl::InlinedVector<uint64_t, 1> fields;  // bit I of word W: field 64 W + I of the series
};

}  // namespace sonde::series
