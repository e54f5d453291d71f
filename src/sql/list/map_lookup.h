// Finds the value of a key in a map.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/value/value.h"

namespace sonde::sql {

// `items`: the keys and values of a map in turn, by keys ascending.  Null: the map has no such key.
// Cost: some ten comparisons for a thousand entries.
inline const Datum* FindInMap(absl::Span<const Datum> items, const Datum& key) {
  size_t first = 0;
  size_t end = items.size() / 2;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    const int order = Compare(items[2 * middle], key);
    if (order == 0) return &items[2 * middle + 1];
    if (order < 0) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return nullptr;
}

}  // namespace sonde::sql
