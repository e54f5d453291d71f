// Folds rows into buckets of time, group by group, and gives a row for each bucket: aggregates, windows over
// buckets, filled gaps.
//
//   rows::BucketFold fold(plan, hold, interrupted);
//   while (*source.Next(&batch)) status = fold.Add(batch);
//   while (*fold.Next(&batch)) ...                       // a row for each bucket
//
// Takes: batches of the columns that FoldPlan names.  A batch is of one group: its keys are constant columns.
//   Its rows lie by time, ascending or descending; batches come in any order.
// Gives: batches of one group each; groups by their keys, ascending by bytes, and the rows of a group by
//   time.  Columns:
//     keys      constant, kBytes
//     time      kTime: the start of the bucket, or without buckets the time of the group's first row
//     values    for each input, for each aggregate, for each window one of TypeOfAggregate
//     between   with Fill::kLinear only, as many columns of doubles as there are values: what stands in their
//               gaps (rows/fill.h)
// Ownership: a batch that Next gives holds until the next call of Next or Add.
// Threads: not for several threads.
// Errors:
//   INVALID_ARGUMENT  the plan's limits are exceeded; asking again is no cure
//   OUT_OF_RANGE      an aggregate that is an int leaves 64 bits
//   and the errors of `hold` and of `interrupted`
// Cost: a run of rows in one bucket costs a search and, for each input, a loop over its values.
// Parts: several threads may fold a part of the rows each; AddGroup puts one's groups behind another's.  A
//   bucket whose rows are in one part has the same results, bit by bit; elsewhere ints do, and sums of doubles
//   may differ in the last bit, as their parts are summed first.
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

// Buckets of time: each time of [begin_micros, ...) lies in one bucket, and a bucket begins where the one
// before it ends.
struct Buckets {
  std::function<Bucket(int64_t time_micros)> find;  // the bucket that holds the time
  int64_t begin_micros = 0;                         // the first time that there is; a bucket begins there
  int64_t width_micros_min = 1;                     // about how long a bucket is
};

enum class FoldLimit : uint8_t { kAccumulators, kValuesHeld, kFilledBuckets, kJoins };

// What a fold may hold or do at a time.
struct FoldLimits {
  int64_t accumulators_max = 4'000'000;    // buckets times inputs
  int64_t values_held_max = 16'000'000;    // for percentiles
  int64_t filled_buckets_max = 1'000'000;  // of one group, those of its gaps included
  // Buckets times inputs that windows join.  A value that is kept for percentiles counts as `steps_of_value`
  // of them. Each takes some 10 ns.
  int64_t joins_max = 1'000'000'000;
  int64_t steps_of_value = 3;
  // The text of the error, for plans that can say what to ask instead.  `needed`: what the query needs so
  // far, which is more than the limit.  Unset: one that names the limit.
  std::function<std::string(FoldLimit limit, int64_t needed)> text;
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
  // The buckets that go out: those that have a time of [from, to).  No `from`: they begin with the group's
  // first row; no `to`: they end with its last one.  Windows look back behind `from`.
  std::optional<int64_t> from_micros;
  std::optional<int64_t> to_micros;
  Fill fill = Fill::kNone;  // what stands in buckets without rows; counts are always 0 there
  FoldLimits limits;
};

class BucketFold {
 public:
  // `hold` and `interrupted` must outlive this.
  BucketFold(FoldPlan plan, const Hold& hold, const Interrupted& interrupted);

  absl::Status Add(const Batch& batch);

  // Whether the rows so far are of another group than `batch`.  For sources whose groups lie one behind the
  // other: the group so far is whole then, and Next can give it.
  bool HoldsAnotherGroup(const Batch& batch) const;

  // For folds of the parts of what is folded, which have the same plan: how many groups there are, by a number
  // in the order in which they came.
  size_t groups() const { return in_order_.size(); }
  // As HoldsAnotherGroup and Add, for the rows of a group of `part`.
  bool HoldsAnotherGroup(const BucketFold& part, size_t group) const;
  absl::Status AddGroup(const BucketFold& part, size_t group);

  // Gives the next rows.  False: there are none left, and all is forgotten; rows of other groups may be
  //   added.
  // Rows that come before an error are given before it.
  absl::StatusOr<bool> Next(Batch* batch);
  // Forgets all rows.
  void Clear();

 private:
  using Key = std::vector<std::string>;
  // By the start of a bucket: the number of its accumulators.
  using Places = std::map<int64_t, size_t>;
  struct Group {
    Group() = default;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    Places places;
    Places::iterator last_place = places.end();  // the one that was found last; end: none
    int64_t first_micros = 0;                    // the least time of its rows
  };
  using Groups = std::map<Key, Group>;

  bool IsOfGroup(const Batch& batch, const Key& key) const;
  Group* FindGroup(const Batch& batch, int64_t first_micros);
  // Makes last_group_ the one with this key.
  Group* FindGroup(Key key, int64_t first_micros);
  // The group's first place at this start or behind it.
  static Places::iterator FindPlace(Group* group, int64_t start_micros);
  // Makes bucket_ the bucket that holds `time_micros`, and returns the number of its accumulators.
  absl::StatusOr<size_t> FindBucket(Group* group, int64_t time_micros);
  // The number of the accumulators of the bucket that starts here; new ones if there are none.
  absl::StatusOr<size_t> PlaceOf(Group* group, int64_t start_micros);
  absl::Status HoldValues(size_t values);
  // Sets starts_ to the starts of the buckets that go out, ascending.
  absl::Status FindStarts(const Group& group);
  absl::Status BeginGroup(const Group& group);
  // Counts what the group's windows will join at most.
  absl::Status CountJoinsOf(const Group& group);
  absl::Status CountJoins(int64_t joins);
  // Makes looked_back_ that of this start; the starts of a group ascend.
  absl::Status LookBack(int64_t start_micros);
  absl::Status Exceeds(FoldLimit limit, int64_t needed) const;
  // Appends the row of a bucket to results_.
  absl::Status AddRow(const Group& group, int64_t start_micros);
  absl::Status JoinWindow(const Group& group, size_t window, int64_t start_micros);
  absl::Status AppendResult(const Accumulators* some, size_t index, size_t input, const Aggregate& aggregate,
                            Column* out);
  absl::Status FillGaps();
  void GiveRows(const Key& key, Batch* batch);

  const FoldPlan plan_;
  const AggregateNeeds needs_;
  const Hold& hold_;
  const bool has_several_percentiles_;
  const int longest_window_;
  WorkCheck check_;
  HeldMemory held_;

  Groups groups_;
  Groups::iterator last_group_;             // the one that rows were added to last; end: none
  std::vector<Groups::iterator> in_order_;  // in which they came
  std::vector<Accumulators> accumulators_;  // one for each input, for the buckets of all groups
  Bucket bucket_;                           // the one that was found last
  size_t values_held_ = 0;
  int64_t joins_ = 0;  // in all groups so far

  // The group that goes out.
  std::optional<Groups::iterator> giving_;
  std::vector<int64_t> starts_;
  size_t next_start_ = 0;
  absl::Status error_;
  // Starts of buckets: the one at hand first, then those before it, as many as the longest window has.
  std::deque<int64_t> looked_back_;
  std::vector<Accumulators> joined_;  // one for each input, for each window
  std::vector<std::string_view> keys_;
  Column times_;
  std::vector<Column> results_, between_;
  HeldMemory results_held_;
};

// The start of the bucket that lies `count` before the one that starts at `start_micros`, or the first one.
int64_t BucketsBefore(const Buckets& buckets, int64_t start_micros, int count);

}  // namespace sonde::rows
