#include "engine/rocks/store/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/varint.h"
#include "engine/engine_errors.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/rocks_settings.h"
#include "rocksdb/db.h"

namespace sonde {
namespace {

// Records of the engine itself, and those of its caller.
constexpr char kOwn = '\x01';
constexpr char kCallers = '\x02';
constexpr char kShape = 's';
constexpr char kTable = 't';
constexpr char kDroppedTable = 'd';
constexpr char kDroppedFamily = 'f';

std::string OwnRecord(char kind, uint32_t first, std::optional<uint32_t> second = std::nullopt) {
  std::string key = {kOwn, kind};
  PutFixed32(&key, first);
  if (second.has_value()) PutFixed32(&key, *second);
  return key;
}

}  // namespace

Records::Records(const WriteStop* write_stop)
    : write_stop_(write_stop), shapes_([this](ShapeId id, const std::string& record) {
        return database_->Put(SyncedWrite(), OwnRecord(kShape, id), record).ok();
      }) {}

Records::~Records() { Close(); }

void Records::Close() {
  if (database_ != nullptr) database_->Close().PermitUncheckedError();
  database_.reset();
}

absl::Status Records::Open(const rocksdb::Options& settings, const std::string& path) {
  absl::Status status =
      FromRocks(rocksdb::DB::Open(settings, path, &database_), fmt::format("Opening {}", path));
  return status.ok() ? Load(path) : status;
}

absl::Status Records::Load(const std::string& path) {
  const std::unique_ptr<rocksdb::Iterator> it(database_->NewIterator(rocksdb::ReadOptions()));
  for (it->Seek(std::string(1, kOwn)); it->Valid() && it->key()[0] == kOwn; it->Next()) {
    const absl::StatusOr<bool> known = LoadOne(it->key().ToStringView(), it->value().ToStringView());
    if (!known.ok()) return known.status();
    if (!*known) {
      return absl::DataLossError(
          fmt::format("Opening {}: unknown record '{}'", path, Printable(it->key().ToStringView())));
    }
  }
  return FromRocks(it->status(), "Reading the records");
}

absl::StatusOr<bool> Records::LoadOne(std::string_view key, std::string_view value) {
  const char kind = key.size() > 1 ? key[1] : '\0';
  key.remove_prefix(std::min<size_t>(key.size(), 2));
  uint32_t first = 0, second = 0;
  if (!GetFixed32(&key, &first)) return false;
  if (kind == kShape) {
    absl::Status status = shapes_.Load(first, value);
    if (!status.ok()) return status;
    return true;
  }
  const absl::WriterMutexLock lock(&mutex_);
  if (kind == kTable) {
    tables_.insert(first);
  } else if (kind == kDroppedTable) {
    dropped_tables_.insert(first);
  } else if (kind == kDroppedFamily && GetFixed32(&key, &second)) {
    dropped_families_.insert({first, second});
  } else {
    return false;
  }
  return true;
}

absl::Status Records::CheckVersion(const RecordChange& change) const {
  if (!change.expected_version.has_value()) return absl::OkStatus();
  int64_t version = 0;
  if (const auto written = versions_.find(change.key); written != versions_.end()) {
    version = written->second;
  } else {
    std::string value;
    const rocksdb::Status found = database_->Get(rocksdb::ReadOptions(), kCallers + change.key, &value);
    if (!found.ok() && !found.IsNotFound()) return FromRocks(found, "Reading a record");
    if (found.ok()) version = kFirstVersion;
  }
  return version == *change.expected_version ? absl::OkStatus() : RecordWasChanged(change, version);
}

absl::Status Records::Write(const std::vector<RecordChange>& changes) {
  if (absl::Status status = write_stop_->Check(); !status.ok()) return status;
  rocksdb::WriteBatch batch;
  const absl::MutexLock lock(&versions_mutex_);
  for (const RecordChange& change : changes) {
    if (absl::Status status = CheckVersion(change); !status.ok()) return status;
    const std::string key = kCallers + change.key;
    if (change.value.has_value()) {
      batch.Put(key, *change.value);
    } else {
      batch.Delete(key);
    }
  }
  absl::Status status = FromRocksWrite(database_->Write(SyncedWrite(), &batch),
                                       fmt::format("Writing {} records", changes.size()));
  if (!status.ok()) return status;
  ++version_;
  for (const RecordChange& change : changes) {
    if (change.value.has_value()) {
      versions_[change.key] = version_;
    } else {
      versions_.erase(change.key);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Record>> Records::Read(std::string_view prefix) const {
  std::vector<Record> result;
  const std::string start = kCallers + std::string(prefix);
  const absl::MutexLock lock(&versions_mutex_);
  const std::unique_ptr<rocksdb::Iterator> it(database_->NewIterator(rocksdb::ReadOptions()));
  for (it->Seek(start); it->Valid() && it->key().starts_with(start); it->Next()) {
    const std::string_view key = it->key().ToStringView().substr(1);
    const auto version = versions_.find(std::string(key));
    result.push_back({std::string(key), it->value().ToString(),
                      version == versions_.end() ? kFirstVersion : version->second});
  }
  if (!it->status().ok()) return FromRocks(it->status(), "Reading records");
  return result;
}

int64_t Records::Version() const {
  const absl::MutexLock lock(&versions_mutex_);
  return version_;
}

absl::Status Records::Clear() {
  const std::string start(1, kCallers), end(1, kCallers + 1);
  rocksdb::Status status =
      database_->DeleteRange(SyncedWrite(), database_->DefaultColumnFamily(), start, end);
  if (status.ok()) status = database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
  return FromRocksWrite(status, "Clearing the records");
}

absl::Status Records::CreateTable(TableId table) {
  if (CheckTable(table).ok()) return absl::OkStatus();
  if (absl::Status status = write_stop_->Check(); !status.ok()) return status;
  const rocksdb::Status status = database_->Put(SyncedWrite(), OwnRecord(kTable, table), "");
  if (!status.ok()) return FromRocksWrite(status, "Creating a table");
  const absl::WriterMutexLock lock(&mutex_);
  tables_.insert(table);
  return absl::OkStatus();
}

absl::Status Records::DropTable(TableId table) {
  if (absl::Status status = write_stop_->Check(); !status.ok()) return status;
  rocksdb::WriteBatch batch;
  batch.Delete(OwnRecord(kTable, table));
  batch.Put(OwnRecord(kDroppedTable, table), "");
  if (absl::Status status = FromRocksWrite(database_->Write(SyncedWrite(), &batch), "Dropping a table");
      !status.ok())
    return status;
  const absl::WriterMutexLock lock(&mutex_);
  tables_.erase(table);
  dropped_tables_.insert(table);
  return absl::OkStatus();
}

absl::Status Records::DropFamily(TableId table, FamilyId family) {
  if (absl::Status status = write_stop_->Check(); !status.ok()) return status;
  const rocksdb::Status status = database_->Put(SyncedWrite(), OwnRecord(kDroppedFamily, table, family), "");
  if (!status.ok()) return FromRocksWrite(status, "Dropping a family");
  const absl::WriterMutexLock lock(&mutex_);
  dropped_families_.insert({table, family});
  return absl::OkStatus();
}

absl::Status Records::CheckTable(TableId table) const {
  const absl::ReaderMutexLock lock(&mutex_);
  if (tables_.contains(table)) return absl::OkStatus();
  return absl::NotFoundError(fmt::format("The engine has no table {}", table));
}

bool Records::IsDropped(TableId table, FamilyId family) const {
  const absl::ReaderMutexLock lock(&mutex_);
  return dropped_tables_.contains(table) ||
         (!dropped_families_.empty() && dropped_families_.contains({table, family}));
}

absl::flat_hash_set<TableId> Records::tables() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return tables_;
}

}  // namespace sonde
