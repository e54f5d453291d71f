#include "series/query/bucket_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::series {
namespace {

// As WorkCheck counts them: of finding the next bucket of a time zone.
constexpr size_t kStepsOfBucket = 50;
// As kJoinsMax counts them, likewise.
constexpr int64_t kJoinsOfBucket = 10;

// All of them; a loop without branches.
bool AreNumbers(absl::Span<const double> values) {
  bool are = true;
  for (const double value : values) are &= IsNumber(value);
  return are;
}

}  // namespace

int64_t BucketsBefore(const TimeBuckets& every, int64_t start_micros, int count) {
  for (; count > 0 && start_micros > kTimeBeginMicros; --count) start_micros = every.Start(start_micros - 1);
  return start_micros;
}

BucketFold::BucketFold(const Query& query, const SeriesSchema& schema, const std::vector<size_t>& fields)
    : query_(query),
      fields_(fields.size()),
      needs_(AggregateNeeds::Of(query.aggregates)),
      windows_(query.windows),
      held_(query.hold),
      has_several_percentiles_(
          std::count_if(query.aggregates.begin(), query.aggregates.end(),
                        [](const Aggregate& some) { return some.kind == Aggregate::Kind::kPercentile; }) > 1),
      looks_back_(
          std::any_of(query.windows.begin(), query.windows.end(), [](int window) { return window > 1; })),
      check_(query.interrupted) {
  if (windows_.empty()) windows_ = {1};
  for (const size_t index : fields) {
    const Field& field = schema.fields[index];
    names_.push_back(NameOfValues(field, query.change));
    are_ints_.push_back(field.type == FieldType::kInt && query.change != Change::kRate);
  }
}

absl::StatusOr<size_t> BucketFold::FindBucket(Group* group, int64_t time_micros, int64_t* end_micros) {
  if (time_micros < piece_.start_micros || time_micros >= piece_.end_micros) {
    piece_ =
        query_.every ? query_.every->Find(time_micros) : TimeBuckets::Piece{kTimeBeginMicros, kTimeEndMicros};
  }
  const int64_t start_micros = piece_.start_micros;
  *end_micros = piece_.end_micros;
  const auto hint = group->places.empty() || std::prev(group->places.end())->first >= start_micros
                        ? group->places.lower_bound(start_micros)
                        : group->places.end();
  if (hint != group->places.end() && hint->first == start_micros) return hint->second;
  accumulators_ += fields_;
  if (accumulators_ > kAccumulatorsMax) {
    return absl::InvalidArgumentError(
        fmt::format("the answer needs more than {} buckets of fields at a time; ask for wider buckets, fewer "
                    "fields, fewer groups or a shorter time",
                    kAccumulatorsMax));
  }
  // The vector may be twice as long as it has to be.
  constexpr size_t kBucketBytes = 64;
  const absl::Status held = held_.Add(static_cast<int64_t>(2 * fields_ * sizeof(Accumulator) + kBucketBytes));
  if (!held.ok()) return held;
  const size_t place = group->accumulators.size();
  group->accumulators.resize(place + fields_);
  group->places.emplace_hint(hint, start_micros, place);
  return place;
}

absl::Status BucketFold::Add(const std::vector<std::string>& tags, const Numbers& numbers) {
  const std::vector<int64_t>& times = numbers.times_micros;
  if (times.empty()) return absl::OkStatus();
  const auto [entry, is_new] = groups_.try_emplace(tags);
  Group& group = entry->second;
  const size_t values_before = values_held_;
  group.first_micros = is_new ? times.front() : std::min(group.first_micros, times.front());
  for (size_t begin = 0; begin < times.size();) {
    int64_t end_micros = 0;
    const absl::StatusOr<size_t> place = FindBucket(&group, times[begin], &end_micros);
    if (!place.ok()) return place.status();
    const size_t end = std::lower_bound(times.begin() + begin, times.end(), end_micros) - times.begin();
    for (size_t field = 0; field < fields_; ++field) {
      Accumulator& accumulator = group.accumulators[*place + field];
      const int64_t before = accumulator.count();
      AddColumn(numbers, field, begin, end, &accumulator);
      if (needs_.has_values) values_held_ += accumulator.count() - before;
    }
    begin = end;
  }
  if (values_held_ <= kValuesHeldMax) {
    return held_.Add(static_cast<int64_t>((values_held_ - values_before) * 2 * sizeof(double)));
  }
  return absl::InvalidArgumentError(fmt::format(
      "percentiles need more than {} values at a time; ask for fewer groups, fewer fields or a shorter time",
      kValuesHeldMax));
}

// What is there of them.
void BucketFold::AddColumn(const Numbers& numbers, size_t column, size_t begin, size_t end,
                           Accumulator* accumulator) {
  const Numbers::Column& all = numbers.columns[column];
  auto times = absl::MakeConstSpan(numbers.times_micros).subspan(begin, end - begin);
  auto values = absl::MakeConstSpan(all.values).subspan(begin, end - begin);
  auto rests = absl::MakeConstSpan(all.rests);
  if (!rests.empty()) rests = rests.subspan(begin, end - begin);
  if (!AreNumbers(values)) {
    times_.clear();
    values_.clear();
    rests_.clear();
    for (size_t i = 0; i < values.size(); ++i) {
      if (!IsNumber(values[i])) continue;
      times_.push_back(times[i]);
      values_.push_back(values[i]);
      if (!rests.empty()) rests_.push_back(rests[i]);
    }
    times = times_;
    values = values_;
    rests = rests_;
  }
  if (all.is_text) {
    accumulator->AddCount(static_cast<int64_t>(values.size()));
  } else {
    accumulator->Add(needs_, times, values, rests);
  }
}

absl::StatusOr<std::vector<int64_t>> BucketFold::StartsOf(const Group& group) {
  std::vector<int64_t> starts;
  if (!query_.every) return std::vector<int64_t>{kTimeBeginMicros};
  const TimeBuckets& every = *query_.every;
  const Selection& selection = query_.selection;
  const int64_t first_asked = every.Start(std::max(kTimeBeginMicros, selection.from_micros));
  if (query_.fill == Fill::kNone) {
    for (auto place = group.places.lower_bound(first_asked); place != group.places.end(); ++place) {
      starts.push_back(place->first);
    }
    return starts;
  }
  const auto first_of_group = group.places.lower_bound(first_asked);
  int64_t start = first_asked;
  if (selection.from_micros <= kTimeBeginMicros) {
    if (first_of_group == group.places.end()) return starts;
    start = first_of_group->first;
  }
  int64_t end = selection.to_micros;
  if (end >= kTimeEndMicros) end = std::prev(group.places.end())->first + 1;
  if (start < end && (end - start) / every.MicrosMin() > static_cast<int64_t>(kFilledBucketsMax)) {
    return absl::InvalidArgumentError(
        fmt::format("filling gaps of more than {} buckets a group; ask for wider buckets or a shorter time",
                    kFilledBucketsMax));
  }
  for (; start < end; start = every.End(start)) {
    if (absl::Status status = check_.Step(kStepsOfBucket); !status.ok()) return status;
    starts.push_back(start);
  }
  return starts;
}

absl::StatusOr<ResultValue> BucketFold::ValueOf(const Accumulator& accumulator, size_t field,
                                                const Aggregate& aggregate) const {
  if (aggregate == Aggregate::kCount) return ResultValue(accumulator.count());
  if (are_ints_[field]) {
    if (const std::optional<absl::int128> number = accumulator.IntValue(aggregate)) {
      if (IsInt(*number)) return ResultValue(static_cast<int64_t>(*number));
      return LeavesInt(*number, fmt::format("{}({})", AggregateName(aggregate), names_[field]));
    }
  }
  const std::optional<double> value = accumulator.Value(aggregate);
  return value ? ResultValue(*value) : ResultValue();
}

absl::Status BucketFold::LookBack(int64_t start_micros) {
  const auto longest = static_cast<size_t>(*std::max_element(windows_.begin(), windows_.end()));
  std::vector<int64_t> walked;
  int64_t at = start_micros;
  while (walked.size() < longest && (buckets_.empty() || at > buckets_.front())) {
    if (absl::Status status = check_.Step(kStepsOfBucket); !status.ok()) return status;
    walked.push_back(at);
    if (at <= kTimeBeginMicros) break;
    at = query_.every->Start(at - 1);
  }
  buckets_.insert(buckets_.begin(), walked.begin(), walked.end());
  if (buckets_.size() > longest) buckets_.resize(longest);
  return CountJoins(static_cast<int64_t>(walked.size()) * kJoinsOfBucket);
}

absl::Status BucketFold::CountJoins(int64_t joins) {
  joins_ += joins;
  if (joins_ <= kJoinsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the windows join {} buckets and values or more; allowed: {}; ask for fewer or shorter --window, wider "
      "buckets, fewer groups or a shorter time",
      joins_, kJoinsMax));
}

absl::StatusOr<std::vector<ResultValue>> BucketFold::ValuesOf(Group* group, int64_t start_micros) {
  std::vector<ResultValue> values;
  values.reserve(fields_ * query_.aggregates.size() * windows_.size());
  // Of each window, one accumulator a field.
  std::vector<std::vector<Accumulator>> joined(windows_.size());
  std::vector<Accumulator*> fields_of_window(windows_.size(), nullptr);
  static const Accumulator kEmpty;
  if (looks_back_) {
    if (absl::Status status = LookBack(start_micros); !status.ok()) return status;
  }
  for (size_t w = 0; w < windows_.size(); ++w) {
    if (windows_[w] == 1) {
      const auto place = group->places.find(start_micros);
      if (place != group->places.end()) fields_of_window[w] = &group->accumulators[place->second];
      continue;
    }
    const int64_t first = buckets_[std::min<size_t>(windows_[w], buckets_.size()) - 1];
    joined[w].resize(fields_);
    for (auto place = group->places.lower_bound(first);
         place != group->places.end() && place->first <= start_micros; ++place) {
      for (size_t field = 0; field < fields_; ++field) {
        const Accumulator& some = group->accumulators[place->second + field];
        if (absl::Status status = check_.Step(1 + some.values_held()); !status.ok()) return status;
        joined[w][field].Merge(needs_, some);
      }
    }
    fields_of_window[w] = joined[w].data();
  }
  if (has_several_percentiles_) {
    for (Accumulator* const fields : fields_of_window) {
      for (size_t field = 0; fields != nullptr && field < fields_; ++field) fields[field].SortValues();
    }
  }
  for (size_t field = 0; field < fields_; ++field) {
    for (const Aggregate& aggregate : query_.aggregates) {
      for (const Accumulator* const fields : fields_of_window) {
        const bool is_percentile = aggregate.kind == Aggregate::Kind::kPercentile;
        const size_t values_looked_at =
            is_percentile && !has_several_percentiles_ && fields != nullptr ? fields[field].values_held() : 0;
        if (absl::Status status = check_.Step(1 + values_looked_at); !status.ok()) return status;
        absl::StatusOr<ResultValue> value =
            ValueOf(fields == nullptr ? kEmpty : fields[field], field, aggregate);
        if (!value.ok()) return value.status();
        values.push_back(*std::move(value));
      }
    }
  }
  return values;
}

absl::Status BucketFold::FillPrevious(std::vector<ResultRow>* rows) {
  for (size_t row = 1; row < rows->size(); ++row) {
    for (size_t i = 0; i < (*rows)[row].values.size(); ++i) {
      if (absl::Status status = check_.Step(1); !status.ok()) return status;
      ResultValue& value = (*rows)[row].values[i];
      if (std::holds_alternative<std::monostate>(value)) value = (*rows)[row - 1].values[i];
    }
  }
  return absl::OkStatus();
}

absl::Status BucketFold::FillLinear(std::vector<ResultRow>* rows) {
  for (size_t i = 0; !rows->empty() && i < rows->front().values.size(); ++i) {
    std::optional<size_t> before;
    for (size_t row = 0; row < rows->size(); ++row) {
      if (absl::Status status = check_.Step(1); !status.ok()) return status;
      const std::optional<double> value = NumberOf((*rows)[row].values[i]);
      if (!value) continue;
      for (size_t gap = before.value_or(row) + 1; gap < row; ++gap) {
        const ResultRow& left = (*rows)[*before];
        const double low = *NumberOf(left.values[i]);
        const double share = static_cast<double>((*rows)[gap].time_micros - left.time_micros) /
                             static_cast<double>((*rows)[row].time_micros - left.time_micros);
        (*rows)[gap].values[i] = low + (*value - low) * share;
      }
      before = row;
    }
  }
  return absl::OkStatus();
}

absl::Status BucketFold::CountJoinsOf(const Group& group, size_t starts) {
  auto of_one = static_cast<int64_t>(group.accumulators.size());
  for (const Accumulator& some : group.accumulators)
    of_one += static_cast<int64_t>(some.values_held()) * kStepsOfValue;
  int64_t times = 0;
  for (const int window : windows_) {
    // Each bucket is in as many windows as one has buckets, or as there are.
    if (window > 1) times += std::min<int64_t>(window, static_cast<int64_t>(starts));
  }
  return CountJoins(times * of_one);
}

absl::StatusOr<bool> BucketFold::EmitGroup(const std::vector<std::string>& tags, Group* group,
                                           const std::function<bool(const ResultRow&)>& emit) {
  const absl::StatusOr<std::vector<int64_t>> starts = StartsOf(*group);
  if (!starts.ok()) return starts.status();
  if (absl::Status status = CountJoinsOf(*group, starts->size()); !status.ok()) return status;
  buckets_.clear();
  std::vector<ResultRow> rows;
  HeldMemory rows_held(query_.hold);
  for (const int64_t start : *starts) {
    absl::StatusOr<std::vector<ResultValue>> values = ValuesOf(group, start);
    if (!values.ok()) return values.status();
    ResultRow row{tags, query_.every ? start : group->first_micros, *std::move(values)};
    if (query_.fill == Fill::kPrevious || query_.fill == Fill::kLinear) {
      const size_t row_bytes = sizeof(ResultRow) + row.values.size() * sizeof(ResultValue);
      if (absl::Status status = rows_held.Add(static_cast<int64_t>(2 * row_bytes)); !status.ok())
        return status;
      rows.push_back(std::move(row));
    } else if (!emit(row)) {
      return false;
    }
  }
  absl::Status filled;
  if (query_.fill == Fill::kPrevious) filled = FillPrevious(&rows);
  if (query_.fill == Fill::kLinear) filled = FillLinear(&rows);
  if (!filled.ok()) return filled;
  return std::all_of(rows.begin(), rows.end(), emit);
}

absl::StatusOr<bool> BucketFold::Emit(const std::function<bool(const ResultRow&)>& emit) {
  for (auto& [tags, group] : groups_) {
    const absl::StatusOr<bool> goes_on = EmitGroup(tags, &group, emit);
    if (!goes_on.ok() || !*goes_on) return goes_on;
  }
  groups_.clear();
  accumulators_ = values_held_ = 0;
  held_.Clear();
  return true;
}

}  // namespace sonde::series
