// Numbers groups of rows: rows with equal keys are one group.
//
//   Groups groups({ColumnType::kBytes, ColumnType::kInt64});
//   groups.Find(keys, rows);
//   if (groups.IsInRuns()) ... groups.runs() ... else ... groups.of_rows() ...
//
// Keys are equal as GROUP BY takes them (Compare is 0): NULL is NULL, all NaN are one, 0.0 is -0.0.
// Order: groups are numbered from 0 in the order in which they came first.
// Ownership: keys are copied.
// Threads: not for several threads.
// Cost: rows are first cut into runs of equal keys, by comparing each row with the one before; constant columns are not looked
//   at.  Only the first row of a run is hashed.  The table of places grows step by step, so that no call takes long because of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "model/column.h"
#include "rows/column.h"

namespace sonde::sql {

class Groups {
 public:
  // Rows [first, first + rows) are of one group.
  struct Run {
    size_t first = 0;
    size_t rows = 0;
    uint32_t group = 0;
  };
  static constexpr size_t kGroupsMax = 0xffff'fffe;

  // The types of the keys' columns.  Without keys all rows are of group 0.
  explicit Groups(const std::vector<ColumnType>& types);

  // Finds the groups of `rows` > 0 rows, and makes those that are new.  `keys`: a column of `rows` rows each.
  void Find(absl::Span<const ColumnView> keys, size_t rows) { Find(keys, rows, /*adds=*/true); }
  // As Find, but makes none: rows of no group are of kNone.
  static constexpr uint32_t kNone = uint32_t{0xffff'ffff};
  void FindKnown(absl::Span<const ColumnView> keys, size_t rows) { Find(keys, rows, /*adds=*/false); }
  // Of the last Find: the runs, and for each row its group.
  const std::vector<Run>& runs() const { return runs_; }
  absl::Span<const uint32_t> of_rows();
  // Whether runs are so long that it pays to go by them.
  bool AreRunsLong() const { return runs_.size() * kRowsOfLongRun <= rows_; }

  size_t size() const { return size_; }
  // The keys of the groups, in their order.
  ColumnView Keys(size_t column) const { return keys_[column].View(); }
  size_t MemoryBytes() const;
  void Clear();

 private:
  static constexpr size_t kRowsOfLongRun = 4;

  void Find(absl::Span<const ColumnView> keys, size_t rows, bool adds);
  void FindRuns(absl::Span<const ColumnView> keys);
  void HashRuns(absl::Span<const ColumnView> keys);
  // The group of a row, or kNone.  With `adds` it is made if it is new.
  uint32_t FindRow(absl::Span<const ColumnView> keys, size_t row, uint64_t hash, bool adds);
  bool IsOf(uint32_t group, absl::Span<const ColumnView> keys, size_t row) const;
  void Add(absl::Span<const ColumnView> keys, size_t row);

  // Open addressing; `count` is a power of two.
  struct Place {
    uint32_t group = 0;  // the number of the group, plus 1; 0: nothing is here
    uint32_t hash = 0;   // of its keys
  };
  struct Free {
    void operator()(Place* places) const { std::free(places); }
  };
  struct Places {
    explicit Places(size_t count);
    // Where a group with such a hash can be put.
    Place* Empty(uint32_t hash) const;

    size_t count;
    std::unique_ptr<Place[], Free> array;
  };
  // The group, if it is among `places`; else kNone, and *empty is where it would be.
  uint32_t Probe(const Places& places, absl::Span<const ColumnView> keys, size_t row, uint32_t hash,
                 Place** empty) const;
  // Goes on with a growth that has begun, or begins one.
  void Grow();

  std::vector<rows::Column> keys_;
  std::vector<ColumnView> views_;  // of keys_
  size_t size_ = 0;
  Places places_;
  // While the table grows: the places before, of which the first moved_ are in places_, too.
  Places old_places_;
  size_t moved_ = 0;

  // Of the last Find.
  size_t rows_ = 0;
  std::vector<uint8_t> begins_;  // by row: 1: its keys are not those of the row before
  std::vector<Run> runs_;
  std::vector<uint64_t> run_hashes_;
  std::vector<uint32_t> of_rows_;
};

}  // namespace sonde::sql
