#include "series/query/series_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/query/held_memory.h"
#include "series/query/merged_rows.h"

namespace sonde::series {
namespace {

// Beginnings of keys that the labels of an open series are written out as.
constexpr size_t kOpenPrefixesMax = 1'000;
// As WorkCheck counts them.
constexpr size_t kStepsOfRow = 50;
constexpr size_t kStepsOfCell = 10;

}  // namespace

int64_t KeptFromMicros(int64_t now_micros, int64_t max_age_micros) {
  return FloorMicros(now_micros - max_age_micros + kMicrosPerMilli - 1, kMicrosPerMilli);
}

std::vector<size_t> FieldsOf(const SeriesSchema& schema, const Query& query) {
  if (!query.fields.empty()) return query.fields;
  std::vector<size_t> fields;
  const bool is_count_only = std::all_of(query.aggregates.begin(), query.aggregates.end(),
                                         [](const Aggregate& a) { return a == Aggregate::kCount; });
  const bool takes_texts = is_count_only && !query.change;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (takes_texts || schema.fields[i].type != FieldType::kString) fields.push_back(i);
  }
  return fields;
}

SeriesScan::SeriesScan(const SeriesSchema& schema, const KnownSeries* open, const Query& query,
                       Selection selection, TagConditions conditions, TableAccess* tables)
    : codec_(schema),
      open_(open),
      selection_(std::move(selection)),
      conditions_(std::move(conditions)),
      tables_(tables),
      fields_(FieldsOf(schema, query)),
      order_(codec_, false),
      points_(codec_.schema(), fields_),
      interrupted_(query.interrupted),
      hold_(query.hold),
      rows_check_(interrupted_) {
  selection_.fields = fields_;
  stats_.table = schema.table;
  if (schema.kept_longer_micros > 0 && query.now_micros) LeaveOutForgotten(*query.now_micros);
}

void SeriesScan::LeaveOutForgotten(int64_t now_micros) {
  if (fields_.empty()) return;
  int64_t from_micros = kTimeEndMicros;
  all_kept_from_micros_ = INT64_MAX;
  for (const size_t field : fields_) {
    const std::string& family = schema().FamilyOf(field);
    const std::optional<int64_t> max_age_micros = schema().RetentionOf(family).max_age_micros;
    const int64_t kept_from_micros = max_age_micros ? now_micros - *max_age_micros : kTimeBeginMicros;
    from_micros = std::min(from_micros, kept_from_micros);
    const int64_t timestamp_micros =
        max_age_micros ? schema().TimestampOf(KeptFromMicros(now_micros, *max_age_micros)) : 0;
    kept_from_micros_[family] = timestamp_micros;
    all_kept_from_micros_ = std::min(all_kept_from_micros_, timestamp_micros);
  }
  // With corrections, age is counted from when a value was written.
  if (schema().keeps_corrections) return;
  selection_.from_micros = std::max(selection_.from_micros, from_micros);
}

absl::StatusOr<std::unique_ptr<SeriesScan>> SeriesScan::Plan(const SeriesSchema& schema,
                                                             const KnownSeries* open, const Query& query,
                                                             Selection selection, TableAccess* tables) {
  const SeriesSchema view = open == nullptr ? schema : LabelsAsTags(*open);
  absl::StatusOr<TagConditions> conditions = TagConditions::Compile(view, query.conditions);
  if (!conditions.ok()) return conditions.status();
  conditions->Narrow(view, &selection);
  std::unique_ptr<SeriesScan> scan(
      new SeriesScan(schema, open, query, std::move(selection), *std::move(conditions), tables));
  if (open != nullptr) {
    if (absl::Status status = scan->PlanOpen(); !status.ok()) return status;
    return scan;
  }
  absl::StatusOr<ScanPlan> plan = PlanScan(scan->codec_, scan->selection_);
  if (!plan.ok()) return plan.status();
  scan->stats_.ranges = std::move(plan->ranges);
  scan->stats_.is_full_scan = plan->is_full_scan;
  scan->TakeStreams(*std::move(plan));
  return scan;
}

void SeriesScan::TakeStreams(ScanPlan plan) {
  if (plan.streams.empty()) return;
  const bool is_merged = plan.streams.size() <= kScansMax;
  streams_ = is_merged ? std::move(plan.streams) : std::vector<std::vector<RowRange>>{stats_.ranges};
  order_ = RowOrder(codec_, is_merged && !plan.has_salts_in_turns);
}

// Labels stand in the key in their order: as long as the first ones have given values, these are where it
// begins.
absl::Status SeriesScan::PlanOpen() {
  std::vector<std::string> texts = {""};
  bool is_whole = true;
  for (size_t i = 0; i < open_->labels.size() && is_whole; ++i) {
    const TagFilter& filter = selection_.tags[i];
    const bool has_empty = std::find(filter.values.begin(), filter.values.end(), "") != filter.values.end();
    const size_t values = filter.values.size() + (filter.prefix ? 1 : 0);
    is_whole = values > 0 && !filter.prefix && !has_empty;
    if (values == 0 || has_empty || texts.size() * values > kOpenPrefixesMax) {
      is_whole = false;
      break;
    }
    std::vector<std::string> longer;
    for (const std::string& text : texts) {
      std::string begin = text.empty() ? text : text + ",";
      AppendEscaped(open_->labels[i], &begin);
      begin += '=';
      for (const std::string& value : filter.values) AppendEscaped(value, &longer.emplace_back(begin));
      if (filter.prefix) AppendEscaped(*filter.prefix, &longer.emplace_back(begin));
    }
    texts = std::move(longer);
  }
  for (const std::string& text : texts) {
    Selection selection{
        .tags = {{}}, .from_micros = selection_.from_micros, .to_micros = selection_.to_micros};
    if (is_whole) selection.tags[0].values = {text.empty() ? kNoLabelsText : text};
    if (!is_whole && !text.empty()) selection.tags[0].prefix = text;
    absl::StatusOr<ScanPlan> plan = PlanScan(codec_, selection);
    if (!plan.ok()) return plan.status();
    stats_.ranges.insert(stats_.ranges.end(), plan->ranges.begin(), plan->ranges.end());
  }
  stats_.ranges = NormalizeRanges(std::move(stats_.ranges));
  streams_ = {stats_.ranges};
  // All rows of one series are far from all rows of the table; which labels come first is nobody's choice.
  stats_.is_full_scan = false;
  return absl::OkStatus();
}

absl::StatusOr<bool> SeriesScan::IsAskedFor() {
  if (open_ == nullptr) return Matches(codec_, selection_, key_) && conditions_.Match(key_.tags);
  const Selection times{.tags = {}, .from_micros = selection_.from_micros, .to_micros = selection_.to_micros};
  if (!Matches(codec_, times, key_)) return false;
  if (absl::Status status = ParseLabelsText(*open_, key_.tags[0], &labels_); !status.ok()) return status;
  for (size_t i = 0; i < labels_.size(); ++i) {
    const TagFilter& filter = selection_.tags[i];
    if (filter.IsAny() || (filter.prefix && labels_[i].starts_with(*filter.prefix))) continue;
    if (std::find(filter.values.begin(), filter.values.end(), labels_[i]) == filter.values.end())
      return false;
  }
  return conditions_.Match(labels_);
}

RowRead SeriesScan::MakeRead(std::vector<RowRange> ranges) const {
  RowRead read =
      MakeRowRead(schema(), fields_, selection_.from_micros, selection_.to_micros, std::move(ranges));
  read.start_micros = std::max(read.start_micros, all_kept_from_micros_);
  read.interrupted = interrupted_;
  return read;
}

bool SeriesScan::TakeRow(ReadRow* found, const std::function<absl::StatusOr<bool>()>& row,
                         absl::Status* problem) {
  *problem = rows_check_.Step(kStepsOfRow + found->cells.size() * kStepsOfCell);
  if (!problem->ok()) return false;
  ++stats_.rows_read;
  stats_.cells_read += static_cast<int64_t>(found->cells.size());
  for (const ReadCell& cell : found->cells)
    stats_.value_bytes_read += static_cast<int64_t>(cell.value.size());
  if (kept_from_micros_.size() > 1) {
    std::erase_if(found->cells, [&](const ReadCell& cell) {
      const auto kept_from = kept_from_micros_.find(cell.family);
      return kept_from != kept_from_micros_.end() && cell.timestamp_micros < kept_from->second;
    });
    if (found->cells.empty()) return true;
  }
  *problem = codec_.Decode(found->row_key, &key_);
  if (!problem->ok()) return false;
  const absl::StatusOr<bool> is_asked_for = IsAskedFor();
  *problem = is_asked_for.status();
  if (!problem->ok() || !*is_asked_for) return problem->ok();
  *problem = points_.Read(*found, key_, selection_.from_micros, selection_.to_micros);
  if (!problem->ok()) return false;
  const absl::StatusOr<bool> goes_on = row();
  *problem = goes_on.status();
  return goes_on.ok() && *goes_on;
}

absl::Status SeriesScan::StatusOf(const absl::Status& status, const absl::Status& problem) const {
  if (!problem.ok()) return problem;
  return may_be_missing_ && absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status SeriesScan::Read(const RowRead& read, const std::function<absl::StatusOr<bool>()>& row) {
  if (read.ranges.empty()) return absl::OkStatus();  // its times may be reversed
  ++stats_.requests;
  absl::Status problem;
  const absl::Status status =
      tables_->ReadRows(stats_.table, read, [&](ReadRow&& found) { return TakeRow(&found, row, &problem); });
  return StatusOf(status, problem);
}

absl::Status SeriesScan::ReadAll(bool is_reversed, const std::function<absl::StatusOr<bool>()>& row) {
  std::vector<RowRead> reads;
  for (const std::vector<RowRange>& stream : streams_) {
    reads.push_back(MakeRead(stream));
    reads.back().reversed = is_reversed;
  }
  if (reads.empty()) return absl::OkStatus();
  if (reads.size() == 1) return Read(reads[0], row);
  stats_.requests += static_cast<int64_t>(reads.size());
  absl::Status problem;
  const absl::Status status = ReadMergedRows(
      tables_, stats_.table, reads, [&](std::string_view key) { return codec_.MergeKey(key); },
      [&](ReadRow&& found) { return TakeRow(&found, row, &problem); });
  return StatusOf(status, problem);
}

bool SeriesScan::TakeNumbers(const NumberRow& found, NumberPoints* points, Numbers* numbers,
                             const std::function<absl::StatusOr<bool>()>& row, absl::Status* problem) {
  size_t cells = 0;
  for (const NumberRow::Part& part : found.parts) cells += part.timestamps_micros.size();
  *problem = rows_check_.Step(kStepsOfRow + cells);
  if (!problem->ok()) return false;
  if (found.row_key != last_row_key_ || stats_.rows_read == 0) {
    last_row_key_ = found.row_key;
    ++stats_.rows_read;
    *problem = codec_.Decode(found.row_key, &key_);
    if (!problem->ok()) return false;
    const absl::StatusOr<bool> is_asked_for = IsAskedFor();
    *problem = is_asked_for.status();
    if (!problem->ok()) return false;
    is_asked_for_ = *is_asked_for;
  }
  stats_.cells_read += static_cast<int64_t>(cells);
  for (const NumberRow::Part& part : found.parts) {
    stats_.value_bytes_read += static_cast<int64_t>(part.numbers.size() * sizeof(double));
    for (const std::string_view text : part.texts)
      stats_.value_bytes_read += static_cast<int64_t>(text.size());
  }
  if (!is_asked_for_) return true;
  *problem = points->Read(found, key_, selection_.from_micros, selection_.to_micros, numbers);
  if (!problem->ok()) return false;
  if (numbers->times_micros.empty()) return true;
  const absl::StatusOr<bool> goes_on = row();
  *problem = goes_on.status();
  return goes_on.ok() && *goes_on;
}

absl::Status SeriesScan::ReadAllNumbers(NumberOrder numbers_order, Numbers* numbers,
                                        const std::function<absl::StatusOr<bool>()>& row) {
  if (numbers_order == NumberOrder::kAny) return ReadNumbersAsTheyLie(false, false, numbers, row);
  switch (order_.times_of_field()) {
    case RowOrder::Times::kAscending:
      return ReadNumbersAsTheyLie(false, true, numbers, row);
    case RowOrder::Times::kDescending:
      return ReadNumbersAsTheyLie(true, true, numbers, row);
    case RowOrder::Times::kMixed:
      break;
  }
  return ReadNumbersSorted(numbers, row);
}

absl::Status SeriesScan::ReadNumbersSorted(Numbers* numbers,
                                           const std::function<absl::StatusOr<bool>()>& row) {
  std::map<std::vector<std::string>, Numbers> held;
  size_t values_held = 0;
  HeldMemory memory(hold_);
  bool is_enough = false;
  const auto give = [&]() -> absl::StatusOr<bool> {
    for (auto& [tags, series] : held) {
      if (absl::Status status = series.SortByTime(&rows_check_); !status.ok()) return status;
      *numbers = std::move(series);
      key_.tags = tags;
      const absl::StatusOr<bool> goes_on = row();
      if (!goes_on.ok() || !*goes_on) return goes_on;
    }
    held.clear();
    values_held = 0;
    memory.Clear();
    return true;
  };
  const auto is_same_in_front = [&](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const std::vector<size_t>& tags = order_.tags_in_front();
    return std::all_of(tags.begin(), tags.end(), [&](size_t tag) { return a[tag] == b[tag]; });
  };
  Numbers batch;
  const auto hold = [&]() -> absl::StatusOr<bool> {
    if (!held.empty() && !is_same_in_front(held.begin()->first, key_.tags)) {
      const DecodedKey of_batch = key_;
      const absl::StatusOr<bool> goes_on = give();
      is_enough = goes_on.ok() && !*goes_on;
      if (!goes_on.ok() || is_enough) return goes_on;
      key_ = of_batch;
    }
    held[key_.tags].Append(batch);
    values_held += batch.times_micros.size() * batch.columns.size();
    if (values_held <= kValuesHeldMax) {
      // Values and times; vectors may be twice as long as they have to be.
      const size_t numbers_held = batch.times_micros.size() * (batch.columns.size() + 1);
      const absl::Status more = memory.Add(static_cast<int64_t>(numbers_held * 2 * sizeof(double)));
      return more.ok() ? absl::StatusOr<bool>(true) : more;
    }
    return absl::InvalidArgumentError(fmt::format(
        "changes of series whose rows are not in the order of time need more than {} values at a time; ask "
        "for fewer series (by the tags in front of the salt), fewer fields or a shorter time",
        kValuesHeldMax));
  };
  const absl::Status status = ReadNumbersAsTheyLie(false, true, &batch, hold);
  if (!status.ok() || is_enough) return status;
  return give().status();
}

absl::Status SeriesScan::ReadNumbersAsTheyLie(bool is_reversed, bool whole_rows, Numbers* numbers,
                                              const std::function<absl::StatusOr<bool>()>& row) {
  if (streams_.empty()) return absl::OkStatus();
  NumberAccess* const number_tables = tables_->numbers();
  if (number_tables == nullptr || !NumberPoints::CanRead(schema(), fields_)) {
    return ReadAll(is_reversed, [&]() -> absl::StatusOr<bool> {
      if (points_.Count() == 0) return true;
      if (absl::Status status = ReadNumbers(numbers); !status.ok()) return status;
      return row();
    });
  }
  NumberPoints points(schema(), fields_);
  std::vector<NumberRead> reads;
  const auto add = [&](const std::vector<RowRange>& ranges) {
    reads.push_back(points.MakeRead(selection_.from_micros, selection_.to_micros, ranges));
    reads.back().start_micros = std::max(reads.back().start_micros, all_kept_from_micros_);
    reads.back().reversed = is_reversed;
    reads.back().whole_rows = whole_rows;
    reads.back().interrupted = interrupted_;
  };
  std::for_each(streams_.begin(), streams_.end(), add);
  stats_.requests += static_cast<int64_t>(reads.size());
  absl::Status problem;
  const auto take = [&](const NumberRow& found) {
    return TakeNumbers(found, &points, numbers, row, &problem);
  };
  const absl::Status status = reads.size() == 1
                                  ? number_tables->Read(stats_.table, reads[0], take)
                                  : ReadMergedNumbers(
                                        number_tables, stats_.table, reads,
                                        [&](std::string_view key) { return codec_.MergeKey(key); }, take);
  return StatusOf(status, problem);
}

absl::StatusOr<ResultRow> SeriesScan::MakeResult(const RowPoint& point) const {
  ResultRow result{tags(), point.time_micros, std::vector<ResultValue>(fields_.size())};
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (point.values[i].data() == nullptr) continue;
    absl::StatusOr<FieldValue> value = DecodeValue(schema().fields[fields_[i]], point.values[i]);
    if (!value.ok()) return value.status();
    std::visit([&](auto&& held) { result.values[i] = std::forward<decltype(held)>(held); },
               *std::move(value));
  }
  return result;
}

absl::Status SeriesScan::ReadNumbers(Numbers* numbers) const {
  numbers->columns.resize(fields_.size());
  numbers->Clear();
  for (size_t p = 0; p < points_.Count(); ++p) numbers->times_micros.push_back(points_.Get(p).time_micros);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = schema().fields[fields_[i]];
    Numbers::Column& column = numbers->columns[i];
    column.is_text = field.type == FieldType::kString;
    column.is_int = field.type == FieldType::kInt;
    for (size_t p = 0; p < points_.Count(); ++p) {
      const std::string_view value = points_.Get(p).values[i];
      if (value.data() == nullptr) {
        column.values.push_back(kNoNumber);
        if (!column.rests.empty()) column.rests.push_back(0);
        continue;
      }
      const std::optional<ExactNumber> number = column.is_text ? ExactNumber() : DecodeNumber(field, value);
      if (!number) return NoNumber(field, value);
      column.values.push_back(number->value);
      if (number->rest != 0 || !column.rests.empty()) {
        column.rests.resize(p + 1);
        column.rests[p] = number->rest;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
