// Rows into buckets of time, group by group, and buckets into rows: aggregates, windows over buckets, filled
// gaps.
//
//   rows::BucketFold fold(plan, hold, interrupted);
//   while (source.Next(&batch)) status = fold.Add(batch);
//   while (*fold.Next(&batch)) ...                       // a row a bucket
//
// Shape of incoming batches: columns as FoldPlan says.  Each batch is of one group, so its keys are constant
// columns. Shape of outgoing batches: the keys (constant); the start of the bucket (kTime), or without
// buckets the time of the group's first row; then for each input, for each aggregate, for each window a
// column of TypeOfAggregate.  With Fill::kLinear, as many columns of doubles follow, which have the values
// for the gaps of those (rows/fill.h).
//
// Order:     A batch's rows lie by time, ascending or descending; batches come in any order.  Groups go out
//           by their keys, ascending by bytes; the rows of a group go out by time.
// Ownership: A batch that Next gives holds until the next call of Next or Add.
// Threads:   Not for several threads.
// Errors:    INVALID_ARGUMENT, more than the plan's limits (asking again is no cure); OUT_OF_RANGE, an int
//           aggregate of ints leaves 64 bits; those of `hold` and of `interrupted`.
// Cost:      A run of rows in one bucket costs a search and, for each input, a loop over its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/accumulators.h"
#include "rows/aggregate.h"
#include "rows/batch.h"
#include "rows/fill.h"
#include "rows/held_memory.h"
#include "rows/work_check.h"

namespace sonde::rows {

// [start, end)
struct Bucket {
  int64_t start_micros = 0;
  int64_t end_micros = 0;
};

// Buckets of time: each time of [begin_micros, ...) lies in one, and one begins where the one before ends.
struct Buckets {
  std::function<Bucket(int64_t time_micros)> find;  // the one that holds the time
  int64_t begin_micros = 0;                         // the first time that there is; a bucket begins there
  int64_t width_micros_min = 1;                     // about how long one is
};

// What may be held or done at a time; more is INVALID_ARGUMENT.
struct FoldLimits {
  size_t accumulators_max = 4'000'000;    // buckets of inputs
  size_t values_held_max = 16'000'000;    // for percentiles
  size_t filled_buckets_max = 1'000'000;  // of one group, those of its gaps included
  // Buckets of inputs that windows join; a value that they keep for percentiles counts as `steps_of_value`.
  // Each takes some 10 ns.
  int64_t joins_max = 1'000'000'000;
  int64_t steps_of_value = 3;
};

struct FoldPlan {
  struct Input {
    size_t column = 0;
    ColumnType type = ColumnType::kInt64;
    std::string name;  // for errors: n, delta(n)
  };
  std::vector<size_t> keys;  // columns of kBytes
  size_t times = 0;          // a column of kTime
  std::vector<Input> inputs;
  std::vector<Aggregate> aggregates;
  std::optional<Buckets> buckets;  // none: one bucket for all times
  std::vector<int> windows = {1};  // aggregates over the last so many buckets, this one included
  // The buckets that go out: those that begin in or hold [from, to); none: from a group's first row on, or up
  // to its last one.  Windows look back behind `from`.
  std::optional<int64_t> from_micros;
  std::optional<int64_t> to_micros;
  Fill fill = Fill::kNone;  // of buckets without rows in a group; counts are 0 there, whichever
  FoldLimits limits;
};

class BucketFold {
 public:
  // `hold` and `interrupted` must outlive this.
  BucketFold(FoldPlan plan, const Hold& hold, const Interrupted& interrupted);

  absl::Status Add(const Batch& batch);

  // Whether there are rows of another group than that of `batch`, and of no other.  A source whose groups lie
  // one behind the other has all of that one given, so that it can go out.
  bool HoldsAnotherGroup(const Batch& batch) const;

  // Gives out the next rows, and forgets all when there are none left: false.  Rows that come before an error
  // are given first.
  absl::StatusOr<bool> Next(Batch* batch);

 private:
  using Key = std::vector<std::string>;
  struct Group {
    std::map<int64_t, size_t> places;  // a bucket's start, and its accumulator of each input
    int64_t first_micros = 0;          // of its rows
  };
  using Groups = std::map<Key, Group>;

  bool IsOfGroup(const Batch& batch, const Key& key) const;
  Group* FindGroup(const Batch& batch, int64_t first_micros);
  // The accumulator of the bucket that holds `time_micros`, which is in bucket_ then.
  absl::StatusOr<size_t> FindBucket(Group* group, int64_t time_micros);
  // Sets starts_ to those of the buckets to give out, ascending.
  absl::Status FindStarts(const Group& group);
  absl::Status BeginGroup(const Group& group);
  // Counts the buckets that the group's windows will join at most.
  absl::Status CountJoinsOf(const Group& group);
  absl::Status CountJoins(int64_t joins);
  // Makes looked_back_ of this start; those of a group ascend.
  absl::Status LookBack(int64_t start_micros);
  // Appends the row of a bucket to results_.
  absl::Status AddRow(const Group& group, int64_t start_micros);
  absl::Status JoinWindow(const Group& group, size_t window, int64_t start_micros);
  absl::Status AppendResult(const Accumulators* some, size_t index, size_t input, const Aggregate& aggregate,
                            Column* out);
  absl::Status FillGaps();
  void GiveRows(const Key& key, Batch* batch);
  void Forget();

  const FoldPlan plan_;
  const AggregateNeeds needs_;
  const Hold& hold_;
  const bool has_several_percentiles_;
  const int longest_window_;
  WorkCheck check_;
  HeldMemory held_;

  Groups groups_;
  Groups::iterator last_group_;             // that rows were added to; end: none
  std::vector<Accumulators> accumulators_;  // one for each input, of all groups' buckets
  Bucket bucket_;                           // that was found last
  size_t values_held_ = 0;
  int64_t joins_ = 0;  // of all groups so far

  // The group that goes out.
  std::optional<Groups::iterator> giving_;
  std::vector<int64_t> starts_;
  size_t next_start_ = 0;
  absl::Status error_;
  // Starts of buckets: the one at hand first, then those before it, as many as the longest window has.
  std::deque<int64_t> looked_back_;
  std::vector<Accumulators> joined_;  // one for each input, of each window
  std::vector<std::string_view> keys_;
  Column times_;
  std::vector<Column> results_, between_;
  HeldMemory results_held_;
};

// The start of the bucket that lies `count` before the one that starts at `start_micros`, or the first one.
int64_t BucketsBefore(const Buckets& buckets, int64_t start_micros, int count);

}  // namespace sonde::rows
