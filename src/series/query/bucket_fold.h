// Numbers into buckets of groups, and buckets into rows of the answer: aggregates, windows, filled gaps.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "series/query/aggregate.h"
#include "series/query/held_memory.h"
#include "series/query/numbers.h"
#include "series/query/query.h"
#include "series/query/work_check.h"

namespace sonde::series {

class BucketFold {
 public:
  // `query` must outlive this; `fields`: of `schema`, those of the numbers.
  BucketFold(const Query& query, const SeriesSchema& schema, const std::vector<size_t>& fields);

  // INVALID_ARGUMENT: kAccumulatorsMax or kValuesHeldMax would be passed; what Query::hold says.
  absl::Status Add(const std::vector<std::string>& group, const Numbers& numbers);

  // Gives out all groups, by their tags, and forgets them.  `emit` answers whether to go on; so does this.
  // INVALID_ARGUMENT: more than kFilledBucketsMax buckets in a group, or more than kJoinsMax; OUT_OF_RANGE:
  // an aggregate of ints that is an int leaves 64 bits.
  absl::StatusOr<bool> Emit(const std::function<bool(const ResultRow&)>& emit);

  bool IsEmpty() const { return groups_.empty(); }
  const std::vector<std::string>& first_group() const { return groups_.begin()->first; }

 private:
  struct Group {
    std::map<int64_t, size_t> places;       // a bucket's start, and where its accumulators begin
    std::vector<Accumulator> accumulators;  // one a field
    int64_t first_micros = 0;               // of its points
  };

  // Where the accumulators of the bucket begin that holds `time_micros`.
  absl::StatusOr<size_t> FindBucket(Group* group, int64_t time_micros, int64_t* end_micros);
  // Points [begin, end) of a column.
  void AddColumn(const Numbers& numbers, size_t column, size_t begin, size_t end, Accumulator* accumulator);
  absl::StatusOr<bool> EmitGroup(const std::vector<std::string>& tags, Group* group,
                                 const std::function<bool(const ResultRow&)>& emit);
  // The starts of the buckets to give out, ascending.
  absl::StatusOr<std::vector<int64_t>> StartsOf(const Group& group);
  // What the group's windows will join at most.
  absl::Status CountJoinsOf(const Group& group, size_t starts);
  absl::Status CountJoins(int64_t joins);
  // Makes buckets_ of this start; those of a group ascend.
  absl::Status LookBack(int64_t start_micros);
  absl::StatusOr<std::vector<ResultValue>> ValuesOf(Group* group, int64_t start_micros);
  absl::StatusOr<ResultValue> ValueOf(const Accumulator& accumulator, size_t field,
                                      const Aggregate& aggregate) const;
  absl::Status FillPrevious(std::vector<ResultRow>* rows);
  absl::Status FillLinear(std::vector<ResultRow>* rows);

  const Query& query_;
  const size_t fields_;             // how many
  std::vector<std::string> names_;  // of what is aggregated of each: n, delta(n)
  std::vector<bool> are_ints_;
  const AggregateNeeds needs_;
  std::vector<int> windows_;
  std::map<std::vector<std::string>, Group> groups_;
  TimeBuckets::Piece piece_;  // that was found last
  size_t accumulators_ = 0;
  size_t values_held_ = 0;
  HeldMemory held_;
  int64_t joins_ = 0;  // of all groups so far
  const bool has_several_percentiles_;
  const bool looks_back_;
  WorkCheck check_;
  // Their starts: the one at hand first, then those before it, as many as the longest window has.
  std::deque<int64_t> buckets_;
  // Those of a column that has gaps.
  std::vector<int64_t> times_;
  std::vector<double> values_;
  std::vector<int16_t> rests_;
};

// The start of the bucket that lies `count` before the one that starts at `start_micros`; kTimeBeginMicros at
// the earliest.
int64_t BucketsBefore(const TimeBuckets& every, int64_t start_micros, int count);

}  // namespace sonde::series
