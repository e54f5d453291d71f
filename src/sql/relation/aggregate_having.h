// HAVING MAX and HAVING MIN of an aggregate: the rows whose value is that of its group's extreme.
//
// Shape: a group has a generation, which begins anew whenever a more extreme value comes: what was taken of it before does not count.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/function/aggregator.h"

namespace sonde::sql {

class GroupExtremes {
 public:
  explicit GroupExtremes(bool is_max) : is_max_(is_max) {}

  // Keeps of `places` those rows of a batch whose value is the extreme of its group so far.  Clears the groups of `aggregator` that
  // begin anew.
  void Keep(const ColumnView& values, absl::Span<const uint32_t> groups, std::vector<size_t>* places,
            Aggregator* aggregator);
  uint32_t Generation(uint32_t group) const { return group < groups_.size() ? groups_[group].generation : 0; }
  size_t MemoryBytes() const { return groups_.capacity() * sizeof(Group) + bytes_held_; }
  void Clear();

 private:
  struct Group {
    Datum extreme;  // missing: there was no value
    uint32_t generation = 0;
    bool is_nan = false;  // no row counts any more
  };

  bool IsBeyond(const Datum& value, const Datum& extreme) const;
  void Take(const Datum& value, Group* group);

  const bool is_max_;
  std::vector<Group> groups_;
  Arena arena_;            // what the extremes view
  size_t bytes_held_ = 0;  // by arena_
};

}  // namespace sonde::sql
