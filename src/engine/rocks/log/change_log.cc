#include "engine/rocks/log/change_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/varint.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/rocks_settings.h"
#include "rocksdb/convenience.h"

namespace sonde {
namespace {

constexpr int64_t kPositionMax = std::numeric_limits<int64_t>::max();

void AppendKey(TableId table, int64_t position, uint32_t index, std::string* key) {
  PutFixed32(key, table);
  PutFixed64(key, static_cast<uint64_t>(position));
  PutFixed32(key, index);
}

std::string Key(TableId table, int64_t position, uint32_t index) {
  std::string key;
  AppendKey(table, position, index, &key);
  return key;
}

struct LogKey {
  TableId table = 0;
  int64_t position = 0;
  uint32_t index = 0;
};

absl::StatusOr<LogKey> ParseLogKey(const rocksdb::Slice& key) {
  std::string_view rest(key.data(), key.size());
  LogKey parsed;
  uint64_t position = 0;
  if (!GetFixed32(&rest, &parsed.table) || !GetFixed64(&rest, &position) ||
      !GetFixed32(&rest, &parsed.index) || !rest.empty()) {
    return absl::DataLossError("A key of the change log is damaged");
  }
  parsed.position = static_cast<int64_t>(position);
  return parsed;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChangeLog>> ChangeLog::Open(rocksdb::DB* db,
                                                           rocksdb::ColumnFamilyHandle* column_family,
                                                           bool syncs) {
  std::unique_ptr<ChangeLog> log(new ChangeLog(db, column_family, syncs));
  if (absl::Status status = log->told_.Load(); !status.ok()) return status;
  return log;
}

ChangeLog::Commit::~Commit() {
  if (first_position_ == 0) return;
  const absl::MutexLock lock(&log_->mutex_);
  const auto positions = log_->tables_.find(table_);
  if (positions != log_->tables_.end()) positions->second.under_way.erase(first_position_);
}

absl::Status ChangeLog::Commit::Add(TableId table, absl::Span<const RowChange> changes,
                                    rocksdb::WriteBatch* batch) {
  std::vector<int64_t> given;
  given.reserve(changes.size());
  {
    const absl::MutexLock lock(&log_->mutex_);
    absl::StatusOr<Positions*> positions = log_->Find(table);
    if (!positions.ok()) return positions.status();
    for (const RowChange& change : changes) {
      if (change.delta.log.pieces.empty()) continue;
      (*positions)->last = std::max((*positions)->last + 1, change.delta.log.position_min);
      given.push_back((*positions)->last);
    }
    if (given.empty()) return absl::OkStatus();
    table_ = table;
    first_position_ = given.front();
    (*positions)->last_record = given.back();
    (*positions)->under_way.insert(first_position_);
  }
  auto position = given.begin();
  std::string key;
  for (const RowChange& change : changes) {
    const absl::Span<const std::string> pieces = change.delta.log.pieces;
    if (pieces.empty()) continue;
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      key.clear();
      AppendKey(table, *position, i, &key);
      if (rocksdb::Status status = batch->Put(log_->column_family_, key, pieces[i]); !status.ok()) {
        return FromRocks(status, "Logging a change");
      }
    }
    ++position;
  }
  return absl::OkStatus();
}

absl::StatusOr<ChangeLog::Positions*> ChangeLog::Find(TableId table) {
  const auto [at, is_new] = tables_.try_emplace(table);
  if (!is_new) return &at->second;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), column_family_));
  it->SeekForPrev(Key(table, kPositionMax, std::numeric_limits<uint32_t>::max()));
  absl::Status status = FromRocks(it->status(), "Looking for the end of a change log");
  if (status.ok() && it->Valid()) {
    const absl::StatusOr<LogKey> last = ParseLogKey(it->key());
    status = last.status();
    if (last.ok() && last->table == table) at->second.last = at->second.last_record = last->position;
  }
  at->second.last = std::max(at->second.last, told_.before());
  if (status.ok()) return &at->second;
  tables_.erase(table);
  return status;
}

absl::StatusOr<RowLog::End> ChangeLog::FindEnd(TableId table, int64_t frontier_min) {
  RowLog::End end;
  {
    const absl::MutexLock lock(&mutex_);
    absl::StatusOr<Positions*> found = Find(table);
    if (!found.ok()) return found.status();
    Positions& positions = **found;
    positions.last = std::max(positions.last, frontier_min);
    end.frontier = positions.under_way.empty() ? positions.last : *positions.under_way.begin() - 1;
    end.last_record = positions.last_record;
  }
  end.frontier = told_.Allow(end.frontier);  // without the mutex: a write of a change does not wait for it
  return end;
}

absl::Status ChangeLog::Read(TableId table, int64_t start, uint32_t start_index, int64_t through,
                             const std::function<bool(const RowLog::Piece&)>& visit) const {
  const std::string end = Key(table, std::min(through, kPositionMax - 1) + 1, 0);
  const rocksdb::Slice upper_bound(end);
  rocksdb::ReadOptions read;
  read.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, column_family_));
  for (it->Seek(Key(table, std::max<int64_t>(start, 0), start_index)); it->Valid(); it->Next()) {
    const absl::StatusOr<LogKey> key = ParseLogKey(it->key());
    if (!key.ok()) return key.status();
    if (!visit({key->position, key->index, {it->value().data(), it->value().size()}})) break;
  }
  return FromRocks(it->status(), "Reading a change log");
}

absl::Status ChangeLog::DeleteBetween(const std::string& start, const std::string& end) {
  const rocksdb::Slice start_slice(start), end_slice(end);
  rocksdb::Status status =
      rocksdb::DeleteFilesInRange(db_, column_family_, &start_slice, &end_slice, /*include_end=*/false);
  if (status.ok()) status = db_->DeleteRange(SyncedWrite(), column_family_, start, end);
  return FromRocks(status, "Trimming a change log");
}

absl::Status ChangeLog::Trim(TableId table, int64_t position) {
  const std::string start = Key(table, 0, 0), end = Key(table, std::max<int64_t>(position, 0), 0);
  const rocksdb::Slice upper_bound(end);
  rocksdb::ReadOptions read;
  read.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, column_family_));
  it->Seek(start);
  // Each deletion leaves a mark: none where there is nothing to delete.
  if (!it->Valid()) return FromRocks(it->status(), "Trimming a change log");
  return DeleteBetween(start, end);
}

absl::Status ChangeLog::Drop(TableId table) {
  {
    const absl::MutexLock lock(&mutex_);
    tables_.erase(table);
  }
  return DeleteBetween(Key(table, 0, 0), Key(table + 1, 0, 0));
}

}  // namespace sonde
