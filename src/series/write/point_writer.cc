#include "series/write/point_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "base/bytes.h"
#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/known/series_tables.h"
#include "series/known/table_rules.h"
#include "series/schema/status_text.h"
#include "series/write/stored_rows.h"

namespace sonde::series {
namespace {

const SystemClock kSystemClock;

}  // namespace

PointWriter::PointWriter(SeriesSchema schema, TableAccess* tables, Limits limits, const Clock* clock,
                         Target target, Keepers keepers)
    : codec_(std::move(schema)),
      tables_(tables),
      limits_(limits),
      clock_(clock == nullptr ? &kSystemClock : clock),
      target_(target),
      resolution_{BucketWidth::Kind::kFixed, codec_.schema().resolution_micros},
      refresher_(keepers.refresher) {
  const SeriesSchema& own = codec_.schema();
  for (const SeriesSchema& version : own.earlier) versions_.push_back(std::make_unique<RowBatch>(version));
  versions_.push_back(std::make_unique<RowBatch>(own));
  for (const OrderTable& order : own.orders) {
    orders_.push_back(std::make_unique<RowBatch>(MakeOrderSchema(own, order)));
  }
  if (!own.latest.empty()) latest_codec_ = std::make_unique<KeyCodec>(MakeLatestSchema(own, own.latest[0]));
  if (!own.rollups.empty()) rollups_ = std::make_unique<RollupKeeper>(own, tables_, clock_);
  if (rollups_ != nullptr && refresher_ != nullptr) rollups_->LeaveOthers();
  if (own.is_indexed && target_ == Target::kAll)
    entities_ = std::make_unique<EntityNotes>(own, tables_, clock_, keepers.index);
  for (const SeriesSchema& table : MakeDerivedSchemas(own)) {
    derived_times_ = Common(derived_times_, TimesOfTable(table));
  }
  values_.resize(own.fields.size());
  value_views_.resize(own.fields.size());
}

PointWriter::~PointWriter() = default;

absl::Status PointWriter::EncodeFields(const Point& point) {
  const std::vector<Field>& fields = codec_.schema().fields;
  bool has_any = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    value_views_[i] = {};
    const std::string_view text = point.fields[i];
    if (text.data() == nullptr || (text.empty() && fields[i].type != FieldType::kString)) continue;
    has_any = true;
    if (!EncodeValue(fields[i], text, &values_[i])) return RefusedValue(fields[i], text);
    value_views_[i] = values_[i];
  }
  return has_any ? absl::OkStatus() : absl::InvalidArgumentError("the point has no field");
}

absl::Status PointWriter::CheckDerivedTimes(int64_t time_micros) const {
  if (derived_times_.Holds(time_micros)) return absl::OkStatus();
  for (const SeriesSchema& table : MakeDerivedSchemas(codec_.schema())) {
    if (!TimesOfTable(table).Holds(time_micros)) return RefuseTime(table, time_micros);
  }
  return absl::OkStatus();
}

bool PointWriter::LeaveOutForgotten(const SeriesSchema& own, EncodedPoint* point) {
  if (rollups_ == nullptr || target_ == Target::kDerivedOnly || own.keeps_corrections) return true;
  const int64_t now_micros = clock_->NowMicros();
  kept_views_ = value_views_;
  bool has_any = false;
  for (size_t i = 0; i < kept_views_.size(); ++i) {
    const std::optional<int64_t> max_age_micros = own.RetentionOf(own.FamilyOf(i)).max_age_micros;
    if (max_age_micros && point->time_micros < now_micros - *max_age_micros) kept_views_[i] = {};
    has_any |= kept_views_[i].data() != nullptr;
  }
  point->values = kept_views_;
  return has_any;
}

RowBatch& PointWriter::BatchAt(int64_t time_micros) {
  const std::vector<SeriesSchema>& earlier = codec_.schema().earlier;
  size_t version = 0;
  while (version < earlier.size() && time_micros >= earlier[version].until_micros) ++version;
  return *versions_[version];
}

void PointWriter::FindCopies(int64_t time_micros) {
  copies_.clear();
  for (const std::unique_ptr<RowBatch>& order : orders_) copies_.push_back(order.get());
  const SeriesSchema& schema = codec_.schema();
  if (schema.periods.empty() || !TimeRange().Holds(time_micros)) return;
  for (const PeriodTable& period : schema.periods) {
    const bool is_too_old = period.max_age_micros &&
                            period.every.End(time_micros) <= clock_->NowMicros() - *period.max_age_micros;
    if (is_too_old) continue;
    std::unique_ptr<RowBatch>& batch = period_batches_[period.TableAt(time_micros)];
    if (batch == nullptr) batch = std::make_unique<RowBatch>(MakePeriodSchema(schema, period, time_micros));
    copies_.push_back(batch.get());
  }
}

absl::Status PointWriter::Add(const Point& point) {
  const SeriesSchema& schema = codec_.schema();
  if (absl::Status status = EncodeFields(point); !status.ok()) return status;
  EncodedPoint encoded;
  encoded.tags = point.tags;
  encoded.time_micros =
      TimeRange().Holds(point.time_micros) ? resolution_.Start(point.time_micros) : point.time_micros;
  encoded.values = value_views_;
  encoded.now_micros = schema.keeps_corrections ? clock_->NowMicros() : 0;
  RowBatch& own = BatchAt(encoded.time_micros);
  EncodedPoint kept = encoded;
  const bool is_kept = LeaveOutForgotten(own.schema(), &kept);
  if (absl::Status status = own.Prepare(is_kept ? kept : encoded); !status.ok()) return status;
  if (absl::Status status = CheckDerivedTimes(encoded.time_micros); !status.ok()) return status;
  if (rollups_ != nullptr && is_kept) {
    if (absl::Status status = rollups_->Check(point.tags, encoded.time_micros); !status.ok()) return status;
  }
  FindCopies(encoded.time_micros);
  for (RowBatch* copy : copies_) {
    if (absl::Status status = copy->Prepare(encoded); !status.ok()) return status;
  }
  const size_t rows_before = own.rows().size();
  const size_t cells_before = own.cell_count();
  const size_t bytes_before = own.value_bytes();
  if (is_kept) own.Commit(kept);
  for (RowBatch* copy : copies_) copy->Commit(encoded);
  row_count_ += is_kept ? own.rows().size() - rows_before : 1;  // or one of its copies
  cell_count_ += own.cell_count() - cells_before;
  value_bytes_ += own.value_bytes() - bytes_before;
  if (rollups_ != nullptr && is_kept) rollups_->Touch(point.tags, encoded.time_micros);
  if (entities_ != nullptr) entities_->Note(point.tags, encoded.time_micros, own.codec());
  if (latest_codec_ != nullptr) KeepNewest(point, latest_codec_->schema().TimestampOf(encoded.time_micros));
  ++totals_.points;
  totals_.oldest_micros = std::min(totals_.oldest_micros, encoded.time_micros);
  totals_.newest_micros = std::max(totals_.newest_micros, encoded.time_micros);
  return absl::OkStatus();
}

void PointWriter::KeepNewest(const Point& point, int64_t timestamp_micros) {
  if (!last_newest_ ||
      !std::equal(point.tags.begin(), point.tags.end(), last_tags_.begin(), last_tags_.end())) {
    // The tags are part of the key that codec_ has taken: they can't be refused here.
    if (!latest_codec_->Encode(point.tags, 0, &key_).ok()) return;
    last_tags_.assign(point.tags.begin(), point.tags.end());
    const auto [entry, is_new] = newest_of_key_.try_emplace(key_, newest_.size());
    if (is_new)
      newest_.push_back({key_, last_tags_, std::vector<NewestValue>(codec_.schema().fields.size())});
    last_newest_ = entry->second;
  }
  NewestRow& newest = newest_[*last_newest_];
  for (size_t i = 0; i < newest.fields.size(); ++i) {
    if (value_views_[i].data() == nullptr || timestamp_micros < newest.fields[i].timestamp_micros) continue;
    newest.fields[i] = {timestamp_micros, values_[i]};
  }
}

std::vector<RowWrite> PointWriter::TakeNewestRows() {
  const SeriesSchema& schema = latest_codec_->schema();
  std::vector<RowWrite> rows;
  for (NewestRow& newest : newest_) {
    RowWrite& row = rows.emplace_back();
    row.row_key = std::move(newest.row_key);
    int64_t newest_micros = 0;
    for (size_t i = 0; i < newest.fields.size(); ++i) {
      NewestValue& value = newest.fields[i];
      if (value.timestamp_micros < 0) continue;
      newest_micros = std::max(newest_micros, value.timestamp_micros);
      row.cells.push_back({schema.fields[i].family, schema.fields[i].qualifier, value.timestamp_micros,
                           std::move(value.value)});
    }
    for (size_t i = 0; i < schema.tags.size(); ++i) {
      if (schema.tags[i].column.empty()) continue;
      row.cells.push_back({schema.family, schema.tags[i].column, newest_micros, newest.tags[i]});
    }
    if (!schema.time_column.empty()) {
      const int64_t time_micros = newest_micros + schema.TimestampOrigin();
      row.cells.push_back({schema.family, schema.time_column, newest_micros,
                           fmt::format("{}", FloorMicros(time_micros, kMicrosPerMilli) / kMicrosPerMilli)});
    }
  }
  return rows;
}

absl::Status PointWriter::WriteRows(const std::string& table, const std::vector<RowWrite>& rows) {
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(table, rows);
  if (!statuses.ok()) return statuses.status();
  ++totals_.requests;
  totals_.rows += static_cast<int64_t>(rows.size());
  const auto is_failed = [](const absl::Status& status) { return !status.ok(); };
  const auto first = std::find_if(statuses->begin(), statuses->end(), is_failed);
  if (first == statuses->end()) return absl::OkStatus();
  const size_t index = first - statuses->begin();
  return absl::Status(
      first->code(),
      fmt::format("table '{}': {} of {} rows were not written; the first, '{}': {}", table,
                  std::count_if(first, statuses->end(), is_failed), rows.size(),
                  index < rows.size() ? Printable(rows[index].row_key) : "", TextOfStatus(*first)));
}

absl::Status PointWriter::WriteBatch(RowBatch* batch) {
  if (batch->rows().empty()) return absl::OkStatus();
  if (absl::Status status = JoinStored(batch, tables_); !status.ok()) return status;
  return WriteRows(batch->schema().table, batch->rows());
}

bool PointWriter::HasPartialBlobs() const {
  const auto has_any = [](const std::unique_ptr<RowBatch>& batch) { return batch->has_partial_blobs(); };
  return std::ranges::any_of(versions_, has_any) || std::ranges::any_of(orders_, has_any) ||
         std::ranges::any_of(period_batches_, [&](const auto& entry) { return has_any(entry.second); });
}

absl::Status PointWriter::WriteAll() {
  if (entities_ != nullptr) {
    if (absl::Status status = entities_->Register(); !status.ok()) return status;
  }
  if (rollups_ != nullptr) {
    if (absl::Status status = rollups_->BeforeWrite(); !status.ok()) return status;
  }
  // Between the look at a blob and the write of it nobody else writes it.
  const auto is_blob = [](const std::unique_ptr<RowBatch>& batch) {
    return batch->schema().layout == Layout::kBlob;
  };
  if (std::ranges::none_of(versions_, is_blob)) return WritePoints();
  if (!HasPartialBlobs()) {
    const absl::ReaderMutexLock shared(&tables_->merging());
    return WritePoints();
  }
  const absl::WriterMutexLock alone(&tables_->merging());
  return WritePoints();
}

absl::Status PointWriter::WritePoints() {
  // Whenever this ends, what the own table has is in these already.
  if (absl::Status status = WriteDerived(); !status.ok()) return status;
  if (target_ == Target::kDerivedOnly) return absl::OkStatus();
  for (const std::unique_ptr<RowBatch>& version : versions_) {
    if (absl::Status status = WriteBatch(version.get()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PointWriter::WriteDerived() {
  for (const std::unique_ptr<RowBatch>& order : orders_) {
    if (absl::Status status = WriteBatch(order.get()); !status.ok()) return status;
  }
  for (const auto& [table, batch] : period_batches_) {
    if (!period_tables_made_.contains(table)) {
      const absl::Status status = tables_->EnsureTable(table, FamiliesOf(batch->schema()));
      if (!status.ok()) return status;
      period_tables_made_.insert(table);
      if (absl::Status dropped = DropOldPeriods(codec_.schema(), tables_, clock_->NowMicros());
          !dropped.ok()) {
        return dropped;
      }
    }
    if (absl::Status status = WriteBatch(batch.get()); !status.ok()) return status;
  }
  if (newest_.empty()) return absl::OkStatus();
  const std::vector<RowWrite> newest_rows = TakeNewestRows();
  for (const LatestTable& latest : codec_.schema().latest) {
    if (absl::Status status = WriteRows(latest.table, newest_rows); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PointWriter::Flush() {
  absl::Status status;
  if (row_count_ > 0) {
    totals_.cells += static_cast<int64_t>(cell_count_);
    status = WriteAll();
    Clear();
  }
  // Whatever became of the points, what has marks is to be refreshed.
  const absl::Status refreshed = rollups_ == nullptr ? absl::OkStatus() : RefreshRollups();
  return status.ok() ? refreshed : status;
}

absl::Status PointWriter::RefreshRollups() {
  const bool is_taken = refresher_ != nullptr && refresher_->Take(codec_.schema(), rollups_.get());
  return is_taken ? absl::OkStatus() : rollups_->Refresh();
}

absl::Status PointWriter::FlushIfFull() {
  if (!IsFull()) return absl::OkStatus();
  if (rollups_ == nullptr || rollups_->IsFull()) return Flush();
  totals_.cells += static_cast<int64_t>(cell_count_);
  const absl::Status status = WriteAll();
  Clear();
  return status;
}

void PointWriter::Clear() {
  for (const std::unique_ptr<RowBatch>& version : versions_) version->Clear();
  for (const std::unique_ptr<RowBatch>& order : orders_) order->Clear();
  period_batches_.clear();
  if (rollups_ != nullptr) rollups_->Forget();
  if (entities_ != nullptr) entities_->Clear();
  row_count_ = cell_count_ = value_bytes_ = 0;
  last_newest_.reset();
  newest_.clear();
  newest_of_key_.clear();
}

}  // namespace sonde::series
