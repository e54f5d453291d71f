#include "rows/bucket_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/wide_int.h"

namespace sonde::rows {
namespace {

// As WorkCheck counts them: of finding the next bucket of a time zone.
constexpr size_t kStepsOfBucket = 50;
// As FoldLimits::joins_max counts them, likewise.
constexpr int64_t kJoinsOfBucket = 10;
// About, of a bucket in a map.
constexpr size_t kBucketBytes = 64;
// The bucket of all times, if there are no buckets.
constexpr Bucket kAllTimes = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

bool IsPercentile(const Aggregate& aggregate) { return aggregate.kind == Aggregate::Kind::kPercentile; }

std::string TextOfLimit(const FoldLimits& limits, FoldLimit limit, int64_t needed) {
  switch (limit) {
    case FoldLimit::kAccumulators:
      return fmt::format("the answer needs more than {} buckets of columns at a time",
                         limits.accumulators_max);
    case FoldLimit::kValuesHeld:
      return fmt::format("percentiles need more than {} values at a time", limits.values_held_max);
    case FoldLimit::kFilledBuckets:
      return fmt::format("filling gaps of more than {} buckets a group", limits.filled_buckets_max);
    case FoldLimit::kJoins:
      break;
  }
  return fmt::format("the windows join {} buckets and values or more; allowed: {}", needed, limits.joins_max);
}

}  // namespace

int64_t BucketsBefore(const Buckets& buckets, int64_t start_micros, int count) {
  for (; count > 0 && start_micros > buckets.begin_micros; --count) {
    start_micros = buckets.find(start_micros - 1).start_micros;
  }
  return start_micros;
}

BucketFold::BucketFold(FoldPlan plan, const Hold& hold, const Interrupted& interrupted)
    : plan_(std::move(plan)),
      needs_(AggregateNeeds::Of(plan_.aggregates)),
      hold_(hold),
      has_several_percentiles_(std::ranges::count_if(plan_.aggregates, IsPercentile) > 1),
      longest_window_(*std::ranges::max_element(plan_.windows)),
      check_(interrupted),
      held_(hold_),
      last_group_(groups_.end()),
      times_(ColumnType::kTime),
      results_held_(hold_) {
  for (const FoldPlan::Input& input : plan_.inputs) {
    accumulators_.emplace_back(input.type, needs_);
    joined_.emplace_back(input.type, needs_).Resize(plan_.windows.size());
    for (const Aggregate& aggregate : plan_.aggregates) {
      for (size_t window = 0; window < plan_.windows.size(); ++window) {
        results_.emplace_back(TypeOfAggregate(aggregate, input.type));
      }
    }
  }
  if (plan_.fill == Fill::kLinear) between_.resize(results_.size());
}

absl::Status BucketFold::Exceeds(FoldLimit limit, int64_t needed) const {
  const FoldLimits& limits = plan_.limits;
  return absl::InvalidArgumentError(limits.text ? limits.text(limit, needed)
                                                : TextOfLimit(limits, limit, needed));
}

bool BucketFold::IsOfGroup(const Batch& batch, const Key& key) const {
  for (size_t i = 0; i < key.size(); ++i) {
    if (*batch.columns[plan_.keys[i]].bytes() != key[i]) return false;
  }
  return true;
}

bool BucketFold::HoldsAnotherGroup(const Batch& batch) const {
  return !groups_.empty() && !IsOfGroup(batch, groups_.begin()->first);
}

BucketFold::Group* BucketFold::FindGroup(const Batch& batch, int64_t first_micros) {
  if (last_group_ == groups_.end() || !IsOfGroup(batch, last_group_->first)) {
    Key key;
    for (const size_t column : plan_.keys) {
      assert(batch.columns[column].is_constant());
      key.emplace_back(*batch.columns[column].bytes());
    }
    return FindGroup(std::move(key), first_micros);
  }
  last_group_->second.first_micros = std::min(last_group_->second.first_micros, first_micros);
  return &last_group_->second;
}

BucketFold::Group* BucketFold::FindGroup(Key key, int64_t first_micros) {
  if (last_group_ == groups_.end() || last_group_->first != key) {
    bool is_new = false;
    std::tie(last_group_, is_new) = groups_.try_emplace(std::move(key));
    if (is_new) {
      last_group_->second.first_micros = first_micros;
      in_order_.push_back(last_group_);
    }
  }
  Group* const group = &last_group_->second;
  group->first_micros = std::min(group->first_micros, first_micros);
  return group;
}

// Runs of rows mostly follow each other: the place is beside the last one.
BucketFold::Places::iterator BucketFold::FindPlace(Group* group, int64_t start_micros) {
  Places& places = group->places;
  auto place = group->last_place;
  if (place == places.end()) return places.lower_bound(start_micros);
  if (place->first < start_micros) {
    ++place;
    return place == places.end() || place->first >= start_micros ? place : places.lower_bound(start_micros);
  }
  if (place->first == start_micros || place == places.begin()) return place;
  const auto before = std::prev(place);
  if (before->first < start_micros) return place;
  return before->first == start_micros ? before : places.lower_bound(start_micros);
}

absl::StatusOr<size_t> BucketFold::FindBucket(Group* group, int64_t time_micros) {
  if (time_micros < bucket_.start_micros || time_micros >= bucket_.end_micros) {
    bucket_ = plan_.buckets ? plan_.buckets->find(time_micros) : kAllTimes;
  }
  return PlaceOf(group, bucket_.start_micros);
}

absl::StatusOr<size_t> BucketFold::PlaceOf(Group* group, int64_t start_micros) {
  const auto found = FindPlace(group, start_micros);
  if (found != group->places.end() && found->first == start_micros) {
    group->last_place = found;
    return found->second;
  }
  const size_t place = accumulators_.empty() ? 0 : accumulators_.front().size();
  const auto needed = static_cast<int64_t>((place + 1) * accumulators_.size());
  if (needed > plan_.limits.accumulators_max) return Exceeds(FoldLimit::kAccumulators, needed);
  size_t bytes = kBucketBytes;
  // A vector may be twice as long as it has to be.
  for (const Accumulators& some : accumulators_) bytes += 2 * some.BytesOfOne();
  if (absl::Status status = held_.Add(static_cast<int64_t>(bytes)); !status.ok()) return status;
  for (Accumulators& some : accumulators_) some.Resize(place + 1);
  group->last_place = group->places.emplace_hint(found, start_micros, place);
  return place;
}

absl::Status BucketFold::Add(const Batch& batch) {
  if (batch.rows == 0) return absl::OkStatus();
  const absl::Span<const int64_t> times(batch.columns[plan_.times].ints(), batch.rows);
  const bool ascends = times.front() <= times.back();
  Group* const group = FindGroup(batch, ascends ? times.front() : times.back());
  const size_t values_before = values_held_;
  for (size_t begin = 0; begin < times.size();) {
    const absl::StatusOr<size_t> place = FindBucket(group, times[begin]);
    if (!place.ok()) return place.status();
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = ascends ? std::lower_bound(first, times.end(), bucket_.end_micros)
                              : std::upper_bound(first, times.end(), bucket_.start_micros,
                                                 [](int64_t start, int64_t time) { return time < start; });
    const size_t count = last - first;
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      Accumulators& some = accumulators_[i];
      const size_t held_before = some.ValuesHeld(*place);
      some.Add(*place, times.subspan(begin, count), batch.columns[plan_.inputs[i].column].Part(begin, count));
      values_held_ += some.ValuesHeld(*place) - held_before;
    }
    begin += count;
  }
  return HoldValues(values_held_ - values_before);
}

// `values`: those of values_held_ that are new.
absl::Status BucketFold::HoldValues(size_t values) {
  const auto needed = static_cast<int64_t>(values_held_);
  if (needed > plan_.limits.values_held_max) return Exceeds(FoldLimit::kValuesHeld, needed);
  return held_.Add(static_cast<int64_t>(values * 2 * sizeof(double)));
}

bool BucketFold::HoldsAnotherGroup(const BucketFold& part, size_t group) const {
  return !groups_.empty() && groups_.begin()->first != part.in_order_[group]->first;
}

absl::Status BucketFold::AddGroup(const BucketFold& part, size_t number) {
  const auto& [key, of_part] = *part.in_order_[number];
  Group* const group = FindGroup(key, of_part.first_micros);
  size_t values = 0;
  for (const auto& [start_micros, place_of_part] : of_part.places) {
    const absl::StatusOr<size_t> place = PlaceOf(group, start_micros);
    if (!place.ok()) return place.status();
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      values += part.accumulators_[i].ValuesHeld(place_of_part);
      if (absl::Status status = check_.Step(1 + part.accumulators_[i].ValuesHeld(place_of_part));
          !status.ok())
        return status;
      accumulators_[i].Merge(*place, part.accumulators_[i], place_of_part);
    }
  }
  values_held_ += values;
  return HoldValues(values);
}

absl::Status BucketFold::FindStarts(const Group& group) {
  starts_.clear();
  next_start_ = 0;
  if (!plan_.buckets) {
    starts_.push_back(kAllTimes.start_micros);
    return absl::OkStatus();
  }
  const Buckets& buckets = *plan_.buckets;
  const int64_t first_asked =
      plan_.from_micros ? buckets.find(*plan_.from_micros).start_micros : buckets.begin_micros;
  const auto first_of_group = group.places.lower_bound(first_asked);
  if (plan_.fill == Fill::kNone) {
    for (auto place = first_of_group; place != group.places.end(); ++place) starts_.push_back(place->first);
    return absl::OkStatus();
  }
  int64_t start = first_asked;
  if (!plan_.from_micros) {
    if (first_of_group == group.places.end()) return absl::OkStatus();
    start = first_of_group->first;
  }
  const int64_t end = plan_.to_micros ? *plan_.to_micros : std::prev(group.places.end())->first + 1;
  const int64_t needed = start < end ? (end - start) / buckets.width_micros_min : 0;
  if (needed > plan_.limits.filled_buckets_max) return Exceeds(FoldLimit::kFilledBuckets, needed);
  for (; start < end; start = buckets.find(start).end_micros) {
    if (absl::Status status = check_.Step(kStepsOfBucket); !status.ok()) return status;
    starts_.push_back(start);
  }
  return absl::OkStatus();
}

absl::Status BucketFold::CountJoins(int64_t joins) {
  joins_ += joins;
  return joins_ > plan_.limits.joins_max ? Exceeds(FoldLimit::kJoins, joins_) : absl::OkStatus();
}

absl::Status BucketFold::CountJoinsOf(const Group& group) {
  if (longest_window_ == 1) return absl::OkStatus();
  auto of_one = static_cast<int64_t>(group.places.size() * accumulators_.size());
  if (needs_.has_values) {
    for (const auto& [start, place] : group.places) {
      for (const Accumulators& some : accumulators_) {
        of_one += static_cast<int64_t>(some.ValuesHeld(place)) * plan_.limits.steps_of_value;
      }
    }
  }
  int64_t times = 0;
  for (const int window : plan_.windows) {
    // Each bucket is in as many windows as one has buckets, or as there are.
    if (window > 1) times += std::min<int64_t>(window, static_cast<int64_t>(starts_.size()));
  }
  return CountJoins(times * of_one);
}

absl::Status BucketFold::LookBack(int64_t start_micros) {
  const auto longest = static_cast<size_t>(longest_window_);
  std::vector<int64_t> walked;
  int64_t at = start_micros;
  while (walked.size() < longest && (looked_back_.empty() || at > looked_back_.front())) {
    if (absl::Status status = check_.Step(kStepsOfBucket); !status.ok()) return status;
    walked.push_back(at);
    if (at <= plan_.buckets->begin_micros) break;
    at = plan_.buckets->find(at - 1).start_micros;
  }
  looked_back_.insert(looked_back_.begin(), walked.begin(), walked.end());
  if (looked_back_.size() > longest) looked_back_.resize(longest);
  return CountJoins(static_cast<int64_t>(walked.size()) * kJoinsOfBucket);
}

absl::Status BucketFold::JoinWindow(const Group& group, size_t window, int64_t start_micros) {
  const auto length = std::min<size_t>(plan_.windows[window], looked_back_.size());
  for (Accumulators& some : joined_) some.Reset(window);
  for (auto place = group.places.lower_bound(looked_back_[length - 1]);
       place != group.places.end() && place->first <= start_micros; ++place) {
    for (size_t i = 0; i < joined_.size(); ++i) {
      const Accumulators& some = accumulators_[i];
      if (absl::Status status = check_.Step(1 + some.ValuesHeld(place->second)); !status.ok()) return status;
      joined_[i].Merge(window, some, place->second);
    }
  }
  return absl::OkStatus();
}

// `some`: null where the bucket has no rows.
absl::Status BucketFold::AppendResult(const Accumulators* some, size_t index, size_t input,
                                      const Aggregate& aggregate, Column* out) {
  const bool looks_at_values = IsPercentile(aggregate) && !has_several_percentiles_ && some != nullptr;
  const size_t steps = 1 + (looks_at_values ? some->ValuesHeld(index) : 0);
  if (absl::Status status = check_.Step(steps); !status.ok()) return status;
  if (aggregate == Aggregate::kCount) {
    out->AppendInt(some == nullptr ? 0 : some->Count(index));
    return absl::OkStatus();
  }
  if (some == nullptr) {
    out->AppendMissing();
    return absl::OkStatus();
  }
  if (some->AreInts()) {
    if (const std::optional<absl::int128> number = some->Int(aggregate, index)) {
      if (!IsInt(*number)) {
        return LeavesInt(*number, fmt::format("{}({})", AggregateName(aggregate), plan_.inputs[input].name));
      }
      out->AppendInt(static_cast<int64_t>(*number));
      return absl::OkStatus();
    }
  }
  const std::optional<double> number = some->Double(aggregate, index);
  if (number) {
    out->AppendDouble(*number);
  } else {
    out->AppendMissing();
  }
  return absl::OkStatus();
}

absl::Status BucketFold::AddRow(const Group& group, int64_t start_micros) {
  if (longest_window_ > 1) {
    if (absl::Status status = LookBack(start_micros); !status.ok()) return status;
    for (size_t window = 0; window < plan_.windows.size(); ++window) {
      if (plan_.windows[window] == 1) continue;
      if (absl::Status status = JoinWindow(group, window, start_micros); !status.ok()) return status;
    }
  }
  const auto place = group.places.find(start_micros);
  Column* out = results_.data();
  for (size_t input = 0; input < plan_.inputs.size(); ++input) {
    const auto of_window = [&](size_t window) -> std::pair<Accumulators*, size_t> {
      if (plan_.windows[window] > 1) return {&joined_[input], window};
      if (place == group.places.end()) return {nullptr, 0};
      return {&accumulators_[input], place->second};
    };
    for (size_t window = 0; window < plan_.windows.size() && has_several_percentiles_; ++window) {
      const auto [some, index] = of_window(window);
      if (some != nullptr) some->SortValues(index);
    }
    for (const Aggregate& aggregate : plan_.aggregates) {
      for (size_t window = 0; window < plan_.windows.size(); ++window, ++out) {
        const auto [some, index] = of_window(window);
        if (absl::Status status = AppendResult(some, index, input, aggregate, out); !status.ok())
          return status;
      }
    }
  }
  times_.AppendInt(plan_.buckets ? start_micros : group.first_micros);
  return absl::OkStatus();
}

absl::Status BucketFold::FillGaps() {
  for (size_t i = 0; i < results_.size(); ++i) {
    absl::Status status;
    if (plan_.fill == Fill::kPrevious) status = FillPrevious(&results_[i], &check_);
    if (plan_.fill == Fill::kLinear) {
      const ColumnView values = results_[i].View();
      status = FillLinear({times_.ints(), times_.size()}, values, &between_[i], &check_);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BucketFold::BeginGroup(const Group& group) {
  looked_back_.clear();
  if (absl::Status status = FindStarts(group); !status.ok()) return status;
  return CountJoinsOf(group);
}

void BucketFold::GiveRows(const Key& key, Batch* batch) {
  keys_.assign(key.begin(), key.end());
  batch->rows = times_.size();
  batch->columns.clear();
  for (const std::string_view& value : keys_) {
    batch->columns.push_back(ColumnView::Constant(&value, batch->rows));
  }
  batch->columns.push_back(times_.View());
  // A row that an error ended has left some columns one value too long.
  for (const Column& column : results_) batch->columns.push_back(column.View().Part(0, batch->rows));
  for (const Column& column : between_) batch->columns.push_back(column.View());
}

absl::StatusOr<bool> BucketFold::Next(Batch* batch) {
  if (!giving_) {
    giving_ = groups_.begin();
    if (*giving_ != groups_.end()) error_ = BeginGroup((*giving_)->second);
  }
  times_.Clear();
  for (Column& column : results_) column.Clear();
  results_held_.Clear();
  // Values of gaps come from rows on both sides: such a group goes out at once.
  const bool holds_group = plan_.fill == Fill::kPrevious || plan_.fill == Fill::kLinear;
  const size_t row_bytes = (1 + results_.size() + between_.size()) * 2 * (sizeof(int64_t) + 1);
  for (; *giving_ != groups_.end();
       error_ = *giving_ == groups_.end() ? error_ : BeginGroup((*giving_)->second)) {
    const auto& [key, group] = **giving_;
    while (error_.ok() && next_start_ < starts_.size() && (holds_group || times_.size() < kBatchRowsMax)) {
      if (holds_group) error_ = results_held_.Add(static_cast<int64_t>(row_bytes));
      if (error_.ok()) error_ = AddRow(group, starts_[next_start_]);
      if (error_.ok()) ++next_start_;
    }
    if (error_.ok() && holds_group) error_ = FillGaps();
    if (!error_.ok() && (holds_group || times_.size() == 0)) return error_;
    if (times_.size() > 0) {
      GiveRows(key, batch);
      return true;
    }
    ++*giving_;
  }
  Clear();
  return false;
}

void BucketFold::Clear() {
  giving_.reset();
  groups_.clear();
  in_order_.clear();
  last_group_ = groups_.end();
  for (Accumulators& some : accumulators_) some.Resize(0);
  values_held_ = 0;
  held_.Clear();
}

}  // namespace sonde::rows
