#include "series/query/read_aggregates.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/row_range.h"
#include "series/query/change_step.h"
#include "series/query/divided_fold.h"

namespace sonde::series {
namespace {

// Whether the rows of a group lie one behind the other.
bool IsByGroup(const Scans& scans, const Query& query) {
  if (scans.size() > 1) return false;
  const RowOrder& order = scans[0]->order();
  if (!query.group_by) return order.SeriesLieTogether();
  // The labels of an open series are one tag of its keys.
  return !scans[0]->is_open() && order.LieTogether(*query.group_by);
}

std::string TextOfFoldLimit(rows::FoldLimit limit, int64_t needed) {
  const rows::FoldLimits limits;
  switch (limit) {
    case rows::FoldLimit::kAccumulators:
      return fmt::format(
          "the answer needs more than {} buckets of fields at a time; ask for wider buckets, fewer fields, "
          "fewer "
          "groups or a shorter time",
          limits.accumulators_max);
    case rows::FoldLimit::kValuesHeld:
      return fmt::format(
          "percentiles need more than {} values at a time; ask for fewer groups, fewer fields or a shorter "
          "time",
          limits.values_held_max);
    case rows::FoldLimit::kFilledBuckets:
      return fmt::format(
          "filling gaps of more than {} buckets a group; ask for wider buckets or a shorter time",
          limits.filled_buckets_max);
    case rows::FoldLimit::kJoins:
      break;
  }
  return fmt::format(
      "the windows join {} buckets and values or more; allowed: {}; ask for fewer or shorter --window, wider "
      "buckets, fewer groups or a shorter time",
      needed, limits.joins_max);
}

rows::FoldPlan FoldOf(const Query& query, const SeriesScan& scan) {
  rows::FoldPlan fold{
      .aggregates = query.aggregates, .fill = query.fill, .limits = {.text = TextOfFoldLimit}};
  const size_t tags = scan.tags_count();
  if (query.group_by) {
    fold.keys = *query.group_by;
  } else {
    for (size_t tag = 0; tag < tags; ++tag) fold.keys.push_back(tag);
  }
  fold.times = tags;
  for (size_t i = 0; i < scan.fields().size(); ++i) {
    const Field& field = scan.schema().fields[scan.fields()[i]];
    const ColumnType type = ColumnTypeOf(field);
    fold.inputs.push_back({.column = tags + 1 + i,
                           .type = query.change ? rows::TypeOfChange(*query.change, type) : type,
                           .name = NameOfValues(field, query.change)});
  }
  if (query.every) fold.buckets = BucketsOf(*query.every);
  if (!query.windows.empty()) fold.windows = query.windows;
  if (query.selection.from_micros > kTimeBeginMicros) fold.from_micros = query.selection.from_micros;
  if (query.selection.to_micros < kTimeEndMicros) fold.to_micros = query.selection.to_micros;
  return fold;
}

// The groups of a part.
class PartGroups final : public PartFold {
 public:
  PartGroups(const rows::FoldPlan& plan, const rows::Hold& hold, const rows::Interrupted& interrupted)
      : fold_(plan, hold, interrupted) {}
  absl::Status Add(const rows::Batch& batch) override { return fold_.Add(batch); }
  void Clear() override { fold_.Clear(); }
  const rows::BucketFold& groups() const { return fold_; }

 private:
  rows::BucketFold fold_;
};

// The way of the points from the scans into a fold, and of its rows to the caller.
class AggregateReader {
 public:
  // All must outlive this.
  AggregateReader(const Query& query, const Scans& scans, const SeriesScan::TakeBatch& take)
      : query_(query),
        take_(take),
        is_by_group_(IsByGroup(scans, query)),
        plan_(FoldOf(query, *scans[0])),
        fold_(plan_, query.hold, query.interrupted),
        changes_(query, scans) {}

  // The points of a scan.  What is whole is given.
  absl::Status Read(SeriesScan* scan) {
    const auto add = [&](const rows::Batch& points) { return Add(changes_.Apply(scan->tags(), points)); };
    // Only changes depend on the order of the points.
    if (query_.change) return scan->ReadNumbers(NumberOrder::kByTime, add);
    const bool is_divided =
        query_.idle_workers != nullptr && query_.idle_workers->helpers() > 0 && scan->CanDivide();
    if (!is_divided) return scan->ReadNumbers(NumberOrder::kAny, add);
    DividedFold parts(query_, scan, NumberOrder::kAny, [this](const rows::Interrupted& interrupted) {
      return std::make_unique<PartGroups>(plan_, query_.hold, interrupted);
    });
    const absl::StatusOr<std::vector<RowRange>> left = parts.Fold(
        [this](PartFold* part) { return AddGroups(static_cast<const PartGroups*>(part)->groups()); });
    if (!left.ok() || left->empty()) return left.status();
    return scan->ReadRanges(*left, NumberOrder::kAny, add);
  }
  bool is_enough() const { return is_enough_; }

  // Gives all that is folded.
  absl::StatusOr<bool> Give() {
    rows::Batch batch;
    while (true) {
      const absl::StatusOr<bool> has_more = fold_.Next(&batch);
      if (!has_more.ok()) return has_more;
      if (!*has_more) return true;
      const absl::StatusOr<bool> goes_on = take_(batch);
      is_enough_ = goes_on.ok() && !*goes_on;
      if (!goes_on.ok() || is_enough_) return goes_on;
    }
  }

 private:
  absl::StatusOr<bool> Add(const rows::Batch& batch) {
    if (is_by_group_ && fold_.HoldsAnotherGroup(batch)) {
      const absl::StatusOr<bool> goes_on = Give();
      if (!goes_on.ok() || !*goes_on) return goes_on;
    }
    if (absl::Status added = fold_.Add(batch); !added.ok()) return added;
    return true;
  }

  absl::StatusOr<bool> AddGroups(const rows::BucketFold& part) {
    for (size_t group = 0; group < part.groups(); ++group) {
      if (is_by_group_ && fold_.HoldsAnotherGroup(part, group)) {
        const absl::StatusOr<bool> goes_on = Give();
        if (!goes_on.ok() || !*goes_on) return goes_on;
      }
      if (absl::Status added = fold_.AddGroup(part, group); !added.ok()) return added;
    }
    return true;
  }

  const Query& query_;
  const SeriesScan::TakeBatch& take_;
  const bool is_by_group_;
  const rows::FoldPlan plan_;
  rows::BucketFold fold_;
  ChangeStep changes_;
  bool is_enough_ = false;
};

}  // namespace

rows::Buckets BucketsOf(const TimeBuckets& every) {
  return {.find =
              [&every](int64_t time_micros) {
                const TimeBuckets::Piece piece = every.Find(time_micros);
                return rows::Bucket{piece.start_micros, piece.end_micros};
              },
          .begin_micros = kTimeBeginMicros,
          .width_micros_min = every.MicrosMin()};
}

absl::Status ReadAggregates(const Query& query, const Scans& scans, const SeriesScan::TakeBatch& take) {
  AggregateReader reader(query, scans, take);
  for (const auto& scan : scans) {
    const absl::Status status = reader.Read(scan.get());
    if (!status.ok() || reader.is_enough()) return status;
  }
  return reader.Give().status();
}

}  // namespace sonde::series
