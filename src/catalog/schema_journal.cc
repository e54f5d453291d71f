#include "catalog/schema_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/varint.h"
#include "catalog/record/record_keys.h"
#include "catalog/record/table_record.h"

namespace sonde {
namespace {

constexpr char kEventFormat = 1;
constexpr std::string_view kEventPrefix = "journal/event/";  // + position, 20 digits
constexpr std::string_view kForgottenKey = "journal/forgotten";
// A record that is deleted, or set.
constexpr char kDeleted = 0, kSet = 1;

bool ParsePosition(std::string_view text, int64_t* position) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *position);
  return error == std::errc() && end == text.data() + text.size() && *position >= 0;
}

bool GetChange(std::string_view* in, RecordChange* change) {
  std::string_view key, value;
  if (!GetBytes(in, &key) || in->empty()) return false;
  const char kind = in->front();
  in->remove_prefix(1);
  change->key = std::string(key);
  if (kind == kDeleted) return true;
  if (kind != kSet || !GetBytes(in, &value)) return false;
  change->value = std::string(value);
  return true;
}

bool GetEvent(std::string_view in, SchemaEvent* event) {
  if (in.empty() || in.front() != kEventFormat) return false;
  in.remove_prefix(1);
  uint64_t table = 0, deleted_micros = 0, count = 0;
  if (!GetVarint(&in, &table) || !GetVarint(&in, &deleted_micros) || !GetVarint(&in, &count)) return false;
  if (table != 0) event->dropped = {static_cast<TableId>(table), static_cast<int64_t>(deleted_micros)};
  while (!in.empty()) {
    if (!GetChange(&in, &event->changes.emplace_back())) return false;
  }
  return event->changes.size() == count;
}

}  // namespace

std::string SchemaEventKey(int64_t position) { return fmt::format("{}{:020}", kEventPrefix, position); }

std::string EncodeSchemaEvent(const SchemaEvent& event) {
  std::string bytes(1, kEventFormat);
  const DroppedLog dropped = event.dropped.value_or(DroppedLog{});
  PutVarint(&bytes, dropped.table);
  PutVarint(&bytes, static_cast<uint64_t>(dropped.deleted_micros));
  PutVarint(&bytes, event.changes.size());
  for (const RecordChange& change : event.changes) {
    PutBytes(&bytes, change.key);
    bytes.push_back(change.value.has_value() ? kSet : kDeleted);
    if (change.value.has_value()) PutBytes(&bytes, *change.value);
  }
  return bytes;
}

absl::StatusOr<SchemaEvent> DecodeSchemaEvent(int64_t position, std::string_view bytes) {
  SchemaEvent event{.position = position};
  if (!GetEvent(bytes, &event)) {
    return absl::DataLossError(fmt::format("The schema event at {} is damaged", position));
  }
  return event;
}

absl::StatusOr<std::unique_ptr<SchemaJournal>> SchemaJournal::Open(Engine* engine, const Clock* clock,
                                                                   Options options) {
  if (engine->traits().is_shared || engine->log() == nullptr) {
    return absl::FailedPreconditionError("A journal needs a store of its own, which has change logs");
  }
  std::unique_ptr<SchemaJournal> journal(new SchemaJournal(engine, clock, std::move(options)));
  const absl::StatusOr<std::vector<Record>> records = engine->ReadRecords(kJournalRecords);
  if (!records.ok()) return records.status();
  const absl::MutexLock lock(&journal->mutex_);
  for (const Record& record : *records) {
    const bool is_event = record.key.starts_with(kEventPrefix);
    if (!is_event && record.key != kForgottenKey) continue;
    int64_t position = 0;
    if (!ParsePosition(is_event ? std::string_view(record.key).substr(kEventPrefix.size()) : record.value,
                       &position)) {
      return absl::DataLossError(fmt::format("The record '{}' is damaged", Printable(record.key)));
    }
    if (is_event) {
      journal->events_.push_back(position);
    } else {
      journal->forgotten_through_ = position;
    }
    journal->last_ = std::max(journal->last_, position);
  }
  return journal;
}

absl::Status SchemaJournal::Write(std::vector<RecordChange> changes, std::optional<DroppedLog> dropped) {
  const int64_t position = Begin(changes);
  SchemaEvent event{.position = position, .changes = std::move(changes), .dropped = dropped};
  std::string bytes = EncodeSchemaEvent(event);
  std::vector<RecordChange> records = std::move(event.changes);
  records.push_back({SchemaEventKey(position), std::move(bytes)});
  size_t forgotten = 0;
  AddForgotten(clock_->NowMicros(), &records, &forgotten);
  const absl::Status status = engine_->WriteRecords(records);
  const absl::MutexLock lock(&mutex_);
  // An error may leave the event: it is read, or not, by its key.
  events_.push_back(position);
  if (status.ok() && forgotten > 0) {
    forgotten_through_ = events_[forgotten - 1];
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  }
  under_way_.reset();
  return status;
}

int64_t SchemaJournal::Begin(const std::vector<RecordChange>& changes) {
  {
    const absl::MutexLock lock(&mutex_);
    last_ = std::max(last_ + 1, clock_->NowMicros());
    under_way_ = last_;
  }
  for (const RecordChange& change : changes) {
    if (!change.key.starts_with(kTablePrefix) || !change.value.has_value()) continue;
    const absl::StatusOr<TableRecord> record = DecodeTableRecord(*change.value);
    if (!record.ok()) continue;  // the catalog wrote it
    const TableId table = record->schema.id;
    int64_t last = 0;
    {
      const absl::MutexLock lock(&mutex_);
      last = last_;
    }
    absl::StatusOr<RowLog::End> end = engine_->log()->FindEnd(table, RowRange::All(), last);
    if (!end.ok()) continue;  // it is new: Pass will be called
    const absl::MutexLock lock(&mutex_);
    last_ = std::max(last_, end->last_record + 1);
  }
  const absl::MutexLock lock(&mutex_);
  return last_;
}

absl::Status SchemaJournal::Pass(TableId table) {
  const absl::MutexLock lock(&mutex_);
  return engine_->log()->FindEnd(table, RowRange::All(), last_).status();
}

void SchemaJournal::AddForgotten(int64_t now_micros, std::vector<RecordChange>* changes, size_t* count) {
  const absl::MutexLock lock(&mutex_);
  *count = 0;
  while (*count < events_.size() && (events_[*count] < now_micros - options_.keep_micros ||
                                     events_.size() - *count >= kSchemaEventsMax)) {
    changes->push_back({SchemaEventKey(events_[*count]), std::nullopt});
    ++*count;
  }
  if (*count > 0) changes->push_back({std::string(kForgottenKey), std::to_string(events_[*count - 1])});
}

int64_t SchemaJournal::FindFrontier(int64_t frontier_min) {
  const absl::MutexLock lock(&mutex_);
  if (under_way_.has_value()) return *under_way_ - 1;
  last_ = std::max(last_, frontier_min);
  return last_;
}

int64_t SchemaJournal::forgotten_through() const {
  const absl::MutexLock lock(&mutex_);
  return forgotten_through_;
}

absl::StatusOr<std::vector<SchemaEvent>> SchemaJournal::Read(int64_t after, int64_t through) const {
  std::vector<int64_t> positions;
  {
    const absl::MutexLock lock(&mutex_);
    for (auto at = std::upper_bound(events_.begin(), events_.end(), after);
         at != events_.end() && *at <= through; ++at) {
      positions.push_back(*at);
    }
  }
  std::vector<SchemaEvent> events;
  for (const int64_t position : positions) {
    const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(SchemaEventKey(position));
    if (!records.ok()) return records.status();
    if (records->empty()) continue;  // its change was refused
    absl::StatusOr<SchemaEvent> event = DecodeSchemaEvent(position, records->front().value);
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
  }
  return events;
}

}  // namespace sonde
