#include "series/query/series_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/limits.h"
#include "rows/held_memory.h"
#include "rows/select.h"
#include "series/key/field_codec.h"
#include "series/query/declared_rows.h"
#include "series/query/merged_rows.h"
#include "series/query/open_rows.h"

namespace sonde::series {
namespace {

// As WorkCheck counts them.
constexpr size_t kStepsOfRow = 50;
constexpr size_t kStepsOfCell = 10;
// About how many bytes of texts a batch of points has.
constexpr size_t kTextBytesHeldMax = 256 << 10;

// Appends the number that `value` is, if there is one.  False: it is none.
bool AppendNumber(const Field& field, std::string_view value, rows::Column* column) {
  if (value.data() == nullptr) {
    column->AppendMissing();
    return true;
  }
  int64_t integer = 0;
  double number = 0;
  if (field.type == FieldType::kInt && DecodeInt(field, value, &integer)) {
    column->AppendInt(integer);
  } else if (field.type == FieldType::kDouble && DecodeDouble(field, value, &number)) {
    column->AppendDouble(number);
  } else {
    return false;
  }
  return true;
}

const std::vector<size_t>& WithWitnesses(std::vector<size_t>* fields, const Query& query) {
  fields->insert(fields->end(), query.witnesses.begin(), query.witnesses.end());
  return *fields;
}

}  // namespace

int64_t KeptFromMicros(int64_t now_micros, int64_t max_age_micros) {
  return FloorMicros(now_micros - max_age_micros + kMicrosPerMilli - 1, kMicrosPerMilli);
}

SeriesScan::SeriesScan(const SeriesSchema& schema, const KnownSeries* open, const QueryPlan& plan,
                       Selection selection, TableAccess* tables, const rows::Interrupted& interrupted)
    : plan_(plan),
      codec_(schema),
      open_(open),
      selection_(std::move(selection)),
      conditions_(plan.conditions),
      tables_(tables),
      fields_(FieldsOf(schema, plan.query)),
      read_fields_(fields_),
      order_(codec_, false),
      points_(codec_.schema(), WithWitnesses(&read_fields_, plan.query)),
      batch_rows_max_(plan.query.rows_max && !plan.query.top
                          ? std::clamp<int64_t>(*plan.query.rows_max, 1, rows::kBatchRowsMax)
                          : rows::kBatchRowsMax),
      interrupted_(interrupted),
      hold_(plan.query.hold),
      rows_check_(interrupted_) {
  selection_.fields = read_fields_;
  stats_.table = schema.table;
  const std::optional<int64_t>& now_micros = plan.query.now_micros;
  if (schema.kept_longer_micros > 0 && now_micros) LeaveOutForgotten(*now_micros);
}

void SeriesScan::LeaveOutForgotten(int64_t now_micros) {
  if (read_fields_.empty()) return;
  int64_t from_micros = kTimeEndMicros;
  all_kept_from_micros_ = INT64_MAX;
  for (const size_t field : read_fields_) {
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
                                                             const KnownSeries* open, const QueryPlan& plan,
                                                             Selection selection, TableAccess* tables) {
  plan.conditions.Narrow(open == nullptr ? schema : LabelsAsTags(*open), &selection);
  std::unique_ptr<SeriesScan> scan(
      new SeriesScan(schema, open, plan, std::move(selection), tables, plan.query.interrupted));
  if (open != nullptr) {
    if (absl::Status status = scan->PlanOpen(); !status.ok()) return status;
    return scan;
  }
  if (plan.query.takes_any_value && !scan->KeepValuesOfKeys()) return scan;
  absl::StatusOr<ScanPlan> ranges = PlanScan(scan->codec_, scan->selection_);
  if (plan.query.takes_any_value && absl::IsInvalidArgument(ranges.status())) {
    // More ranges than there may be: all series are read.
    scan->selection_.tags.clear();
    ranges = PlanScan(scan->codec_, scan->selection_);
  }
  if (!ranges.ok()) return ranges.status();
  absl::StatusOr<std::optional<IndexedRows>> indexed =
      PlanIndexedRows(scan->codec_, plan.query, scan->selection_, tables);
  if (!indexed.ok()) return indexed.status();
  if (indexed->has_value()) {
    scan->stats_.indexed_entities = (*indexed)->entities;
    scan->are_rows_chosen_ = true;
    ranges = std::move((*indexed)->plan);
  }
  scan->stats_.ranges = std::move(ranges->ranges);
  scan->stats_.is_full_scan = ranges->is_full_scan;
  scan->TakeStreams(*std::move(ranges));
  return scan;
}

bool SeriesScan::KeepValuesOfKeys() {
  for (size_t tag = 0; tag < selection_.tags.size(); ++tag) {
    TagFilter& filter = selection_.tags[tag];
    if (filter.IsAny()) continue;
    std::erase_if(filter.values, [&](const std::string& value) {
      std::string key;
      return !codec_.AppendTag(tag, value, &key).ok();
    });
    if (filter.IsAny()) return false;
  }
  return true;
}

void SeriesScan::TakeStreams(ScanPlan plan) {
  if (plan.streams.empty()) return;
  const bool is_merged = plan.streams.size() <= kScansMax;
  streams_ = is_merged ? std::move(plan.streams) : std::vector<std::vector<RowRange>>{stats_.ranges};
  order_ = RowOrder(codec_, is_merged && !plan.has_salts_in_turns);
}

absl::Status SeriesScan::PlanOpen() {
  absl::StatusOr<OpenRows> rows = PlanOpenRows(*open_, codec_, plan_.query, selection_, tables_);
  if (!rows.ok()) return rows.status();
  stats_.ranges = std::move(rows->ranges);
  stats_.indexed_entities = rows->indexed_entities;
  are_rows_chosen_ = rows->indexed_entities.has_value();
  if (!stats_.ranges.empty()) streams_ = {stats_.ranges};
  // All rows of one series are far from all rows of the table; which labels come first is nobody's choice.
  stats_.is_full_scan = false;
  return absl::OkStatus();
}

absl::StatusOr<bool> SeriesScan::IsAskedFor(KeyOfRow* row) const {
  if (open_ == nullptr) return Matches(codec_, selection_, row->key) && conditions_.Match(row->key.tags);
  const Selection times{.tags = {}, .from_micros = selection_.from_micros, .to_micros = selection_.to_micros};
  if (!Matches(codec_, times, row->key)) return false;
  // The rows of a series lie together.
  const std::string& text = row->key.tags[0];
  if (text == row->labels_text) return row->are_labels_asked_for;
  row->labels_text.clear();
  if (absl::Status status = ParseLabelsText(*open_, text, &row->labels); !status.ok()) return status;
  row->labels_text = text;
  row->are_labels_asked_for = AreAskedFor(row->labels);
  return row->are_labels_asked_for;
}

bool SeriesScan::AreAskedFor(const std::vector<std::string>& labels) const {
  for (size_t i = 0; i < labels.size(); ++i) {
    const TagFilter& filter = selection_.tags[i];
    if (filter.IsAny() || (filter.prefix && labels[i].starts_with(*filter.prefix))) continue;
    if (std::find(filter.values.begin(), filter.values.end(), labels[i]) == filter.values.end()) return false;
  }
  return conditions_.Match(labels);
}

bool SeriesScan::PassesOverRows() const {
  if (are_rows_chosen_) return false;
  return selection_.from_micros > kTimeBeginMicros || selection_.to_micros < kTimeEndMicros ||
         !plan_.query.conditions.empty() ||
         std::any_of(
             selection_.tags.begin(), selection_.tags.end(),
             [](const TagFilter& filter) { return !filter.IsAny(); });
}

RowRead SeriesScan::MakeRead(std::vector<RowRange> ranges) const {
  RowRead read =
      MakeRowRead(schema(), read_fields_, selection_.from_micros, selection_.to_micros, std::move(ranges));
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
  last_row_key_ = found->row_key;
  *problem = codec_.Decode(found->row_key, &row_.key);
  if (!problem->ok()) return false;
  const absl::StatusOr<bool> is_asked_for = IsAskedFor(&row_);
  *problem = is_asked_for.status();
  if (!problem->ok() || !*is_asked_for) return problem->ok();
  *problem = points_.Read(*found, row_.key, selection_.from_micros, selection_.to_micros);
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

void SeriesScan::BeginBatch(const std::vector<std::string>& tags) {
  tag_views_.assign(tags.begin(), tags.end());
  batch_.columns.resize(tag_views_.size());
}

absl::StatusOr<bool> SeriesScan::GiveBatch(const TakeBatch& take) {
  for (size_t i = 0; i < tag_views_.size(); ++i) {
    batch_.columns[i] = ColumnView::Constant(&tag_views_[i], batch_.rows);
  }
  return take(batch_);
}

std::vector<ColumnType> SeriesScan::ColumnTypes() const {
  std::vector<ColumnType> types = {ColumnType::kTime};
  for (const size_t field : fields_) types.push_back(ColumnTypeOf(schema().fields[field]));
  return types;
}

absl::Status SeriesScan::ReadPoints(const TakeBatch& take) {
  HeldPoints held{rows::HeldBatch(std::vector<ColumnType>(tags_count(), ColumnType::kBytes)),
                  rows::HeldBatch(ColumnTypes())};
  bool is_enough = false;
  const auto give = [&]() -> absl::StatusOr<bool> {
    const absl::StatusOr<bool> goes_on = GivePoints(&held, take);
    is_enough = goes_on.ok() && !*goes_on;
    return goes_on;
  };
  const absl::Status status = ReadAll(false, [&]() -> absl::StatusOr<bool> {
    absl::Status added;
    for (size_t p = 0; p < points_.Count() && added.ok(); ++p) {
      added = AddPoint(points_.Get(p), &held);
      if (held.points.rows() < batch_rows_max_ && held.text_bytes < kTextBytesHeldMax) continue;
      AddTags(&held);
      const absl::StatusOr<bool> goes_on = give();
      if (!goes_on.ok() || !*goes_on) return goes_on;
    }
    AddTags(&held);
    return added.ok() ? absl::StatusOr<bool>(true) : added;
  });
  if (is_enough) return status;
  // What comes before an error is given.
  const absl::Status given = give().status();
  return status.ok() ? given : status;
}

absl::Status SeriesScan::AddPoint(const RowPoint& point, HeldPoints* held) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = schema().fields[fields_[i]];
    const std::string_view value = point.values[i];
    rows::Column& column = held->points.columns[1 + i];
    if (field.type == FieldType::kString && value.data() != nullptr) {
      column.AppendBytes(value);
      held->text_bytes += value.size();
    } else if (!AppendNumber(field, value, &column)) {
      const absl::StatusOr<FieldValue> wide = DecodeValue(field, value);
      if (!wide.ok()) return wide.status();
      column.AppendWideInt(std::get<absl::int128>(*wide));
    }
  }
  // Last: a point that an error ends is none.
  held->points.columns[0].AppendInt(point.time_micros);
  return absl::OkStatus();
}

void SeriesScan::AddTags(HeldPoints* held) const {
  if (held->tags.columns.empty()) return;
  const size_t count = held->points.rows() - held->tags.rows();
  if (count == 0) return;
  for (size_t i = 0; i < held->tags.columns.size(); ++i) {
    held->tags.columns[i].AppendBytes(tags()[i], count);
    held->text_bytes += tags()[i].size();
  }
}

absl::StatusOr<bool> SeriesScan::GivePoints(HeldPoints* held, const TakeBatch& take) {
  if (held->points.rows() == 0) return true;
  batch_.columns.clear();
  held->tags.View(&batch_);
  batch_.rows = held->points.rows();
  for (const rows::Column& column : held->points.columns) {
    batch_.columns.push_back(column.View().Part(0, batch_.rows));
  }
  absl::StatusOr<bool> goes_on = take(batch_);
  held->tags.Clear();
  held->points.Clear();
  held->text_bytes = 0;
  return goes_on;
}

absl::StatusOr<bool> SeriesScan::GivePointsAsNumbers(rows::HeldBatch* points, const TakeBatch& take) {
  const size_t count = points_.Count();
  if (count == 0) return true;
  rows::Column& times = points->columns[0];
  times.ResizeDense(count);
  for (size_t p = 0; p < count; ++p) times.ints()[p] = points_.Get(p).time_micros;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = schema().fields[fields_[i]];
    rows::Column& column = points->columns[1 + i];
    column.Clear();
    for (size_t p = 0; p < count; ++p) {
      const std::string_view value = points_.Get(p).values[i];
      if (field.type == FieldType::kString && value.data() != nullptr) {
        column.AppendBytes("");
      } else if (!AppendNumber(field, value, &column)) {
        return NoNumber(field, value);
      }
    }
  }
  BeginBatch(tags());
  points->View(&batch_);
  return GiveBatch(take);
}

bool SeriesScan::TakeNumbers(const NumberRow& found, bool by_time, NumberPoints* points,
                             const TakeBatch& take, absl::Status* problem) {
  size_t cells = 0;
  for (const NumberRow::Part& part : found.parts) cells += part.timestamps_micros.size();
  *problem = rows_check_.Step(kStepsOfRow + cells);
  if (!problem->ok()) return false;
  if (found.row_key != last_row_key_ || stats_.rows_read == 0) {
    last_row_key_ = found.row_key;
    ++stats_.rows_read;
    *problem = codec_.Decode(found.row_key, &row_.key);
    if (!problem->ok()) return false;
    const absl::StatusOr<bool> is_asked_for = IsAskedFor(&row_);
    *problem = is_asked_for.status();
    if (!problem->ok()) return false;
    is_asked_for_ = *is_asked_for;
  }
  stats_.cells_read += static_cast<int64_t>(cells);
  for (const NumberRow::Part& part : found.parts) {
    if (part.values.type() != ColumnType::kBytes) {
      stats_.value_bytes_read += static_cast<int64_t>(part.values.size() * sizeof(int64_t));
      continue;
    }
    for (size_t i = 0; i < part.values.size(); ++i)
      stats_.value_bytes_read += static_cast<int64_t>(part.values.bytes()[i].size());
  }
  if (!is_asked_for_) return true;
  BeginBatch(tags());
  *problem = points->Read(found, row_.key, selection_.from_micros, selection_.to_micros, by_time, &batch_);
  if (!problem->ok()) return false;
  if (batch_.rows == 0) return true;
  const absl::StatusOr<bool> goes_on = GiveBatch(take);
  *problem = goes_on.status();
  return goes_on.ok() && *goes_on;
}

absl::Status SeriesScan::ReadNumbers(NumberOrder order, const TakeBatch& take) {
  if (order == NumberOrder::kAny) return ReadNumbersAsTheyLie(false, false, take);
  switch (order_.times_of_field()) {
    case RowOrder::Times::kAscending:
      return ReadNumbersAsTheyLie(false, true, take);
    case RowOrder::Times::kDescending:
      return ReadNumbersAsTheyLie(true, true, take);
    case RowOrder::Times::kMixed:
      break;
  }
  return ReadNumbersSorted(take);
}

absl::Status SeriesScan::ReadNumbersSorted(const TakeBatch& take) {
  std::map<std::vector<std::string>, rows::HeldBatch> held;
  size_t values_held = 0;
  rows::HeldMemory memory(hold_);
  bool is_enough = false;
  rows::HeldBatch sorted(ColumnTypes());
  const auto give = [&]() -> absl::StatusOr<bool> {
    for (auto& [series_tags, series] : held) {
      rows::Batch all;
      series.View(&all);
      const absl::StatusOr<std::vector<size_t>> order =
          rows::OrderByTime({all.columns[0].ints(), all.rows}, &rows_check_);
      if (!order.ok()) return order.status();
      rows::TakeRows(all, *order, 0, &sorted);
      series = rows::HeldBatch();
      row_.key.tags = series_tags;
      BeginBatch(tags());
      sorted.View(&batch_);
      const absl::StatusOr<bool> goes_on = GiveBatch(take);
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
  const auto hold = [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
    if (!held.empty() && !is_same_in_front(held.begin()->first, row_.key.tags)) {
      // What is held is given as a batch, too.
      const DecodedKey of_batch = row_.key;
      const rows::Batch kept = batch;
      const absl::StatusOr<bool> goes_on = give();
      is_enough = goes_on.ok() && !*goes_on;
      if (!goes_on.ok() || is_enough) return goes_on;
      row_.key = of_batch;
      batch_ = kept;
    }
    const auto [series, is_new] = held.try_emplace(row_.key.tags, ColumnTypes());
    series->second.Append(batch, tags().size());
    const size_t columns = series->second.columns.size();
    values_held += batch.rows * (columns - 1);
    if (values_held <= kValuesHeldMax) {
      // Values and times; vectors may be twice as long as they have to be.
      const absl::Status more = memory.Add(static_cast<int64_t>(batch.rows * columns * 2 * sizeof(double)));
      return more.ok() ? absl::StatusOr<bool>(true) : more;
    }
    return absl::InvalidArgumentError(fmt::format(
        "changes of series whose rows are not in the order of time need more than {} values at a time; ask "
        "for fewer series (by the tags in front of the salt), fewer fields or a shorter time",
        kValuesHeldMax));
  };
  const absl::Status status = ReadNumbersAsTheyLie(false, true, hold);
  if (!status.ok() || is_enough) return status;
  return give().status();
}

absl::Status SeriesScan::ReadNumbersAsTheyLie(bool is_reversed, bool by_time, const TakeBatch& take) {
  if (streams_.empty()) return absl::OkStatus();
  NumberAccess* const number_tables = tables_->numbers();
  if (number_tables == nullptr || !NumberPoints::CanRead(schema(), fields_, plan_.query.witnesses)) {
    rows::HeldBatch points(ColumnTypes());
    return ReadAll(is_reversed, [&] { return GivePointsAsNumbers(&points, take); });
  }
  NumberPoints points(schema(), fields_, /*gives_whole=*/!by_time, plan_.query.witnesses);
  std::vector<NumberRead> reads;
  const auto add = [&](const std::vector<RowRange>& ranges) {
    reads.push_back(points.MakeRead(selection_.from_micros, selection_.to_micros, ranges));
    reads.back().start_micros = std::max(reads.back().start_micros, all_kept_from_micros_);
    reads.back().reversed = is_reversed;
    reads.back().whole_rows = by_time;
    reads.back().interrupted = interrupted_;
  };
  std::for_each(streams_.begin(), streams_.end(), add);
  if (reads.size() == 1 && PassesOverRows()) {
    reads[0].wants_row = [this](std::string_view key) {
      if (!codec_.Decode(key, &coming_.key).ok()) return true;  // the error is told when the row has come
      const absl::StatusOr<bool> is_asked_for = IsAskedFor(&coming_);
      if (!is_asked_for.ok() || *is_asked_for) return true;
      ++stats_.rows_read;
      return false;
    };
  }
  stats_.requests += static_cast<int64_t>(reads.size());
  absl::Status problem;
  const auto row = [&](const NumberRow& found) {
    return TakeNumbers(found, by_time, &points, take, &problem);
  };
  const absl::Status status = reads.size() == 1
                                  ? number_tables->Read(stats_.table, reads[0], row)
                                  : ReadMergedNumbers(
                                        number_tables, stats_.table, reads,
                                        [&](std::string_view key) { return codec_.MergeKey(key); }, row);
  return StatusOf(status, problem);
}

bool SeriesScan::CanDivide() const {
  return streams_.size() == 1 && tables_->numbers() != nullptr &&
         NumberPoints::CanRead(schema(), fields_, plan_.query.witnesses);
}

std::unique_ptr<SeriesScan> SeriesScan::Fork(const rows::Interrupted& interrupted) const {
  std::unique_ptr<SeriesScan> fork(new SeriesScan(schema(), open_, plan_, selection_, tables_, interrupted));
  fork->may_be_missing_ = may_be_missing_;
  fork->are_rows_chosen_ = are_rows_chosen_;
  return fork;
}

absl::StatusOr<DividedRanges> SeriesScan::Divide(const std::vector<RowRange>& ranges) const {
  return tables_->numbers()->Divide(stats_.table, schema().fields[fields_[0]].family, ranges);
}

absl::Status SeriesScan::ReadRanges(const std::vector<RowRange>& ranges, NumberOrder order,
                                    const TakeBatch& take) {
  DCHECK(order == NumberOrder::kAny || order_.times_of_field() == RowOrder::Times::kAscending);
  streams_ = {ranges};
  return ReadNumbersAsTheyLie(false, order == NumberOrder::kByTime, take);
}

absl::Status SeriesScan::ReadWholeRows(const std::vector<RowRange>& ranges, const TakeBatch& take) {
  if (tables_->numbers() != nullptr && NumberPoints::CanRead(schema(), fields_, plan_.query.witnesses)) {
    streams_ = {ranges};
    return ReadNumbersAsTheyLie(false, /*by_time=*/true, take);
  }
  HeldPoints held{rows::HeldBatch(std::vector<ColumnType>(tags_count(), ColumnType::kBytes)),
                  rows::HeldBatch(ColumnTypes())};
  return Read(MakeRead(ranges), [&]() -> absl::StatusOr<bool> {
    for (size_t p = 0; p < points_.Count(); ++p) {
      if (absl::Status added = AddPoint(points_.Get(p), &held); !added.ok()) return added;
    }
    AddTags(&held);
    return GivePoints(&held, take);
  });
}

void SeriesScan::TakeStats(SeriesScan* fork) {
  QueryStats& stats = fork->stats_;
  stats_.rows_read += std::exchange(stats.rows_read, 0);
  stats_.cells_read += std::exchange(stats.cells_read, 0);
  stats_.value_bytes_read += std::exchange(stats.value_bytes_read, 0);
}

void SeriesScan::NoteDivided() {
  ++stats_.requests;
  const bool is_all =
      stats_.ranges.size() == 1 && stats_.ranges[0].start.empty() && stats_.ranges[0].end.empty();
  if (is_all) tables_->numbers()->NoteFullScan(stats_.table, stats_.rows_read);
}

absl::StatusOr<std::vector<ResultValue>> SeriesScan::ValuesOf(const RowPoint& point) const {
  std::vector<ResultValue> values(fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (point.values[i].data() == nullptr) continue;
    absl::StatusOr<FieldValue> value = DecodeValue(schema().fields[fields_[i]], point.values[i]);
    if (!value.ok()) return value.status();
    std::visit([&](auto&& held) { values[i] = std::forward<decltype(held)>(held); }, *std::move(value));
  }
  return values;
}

}  // namespace sonde::series
