#include "engine/rocks/files/inventory_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "absl/base/thread_annotations.h"
#include "engine/rocks/files/log_scan.h"
#include "engine/rocks/files/rocks_status.h"
#include "rocksdb/metadata.h"

namespace sonde {
namespace {

// A directory of many tables has a long inventory: it is written less often.
constexpr absl::Duration kIntervalPerTable = absl::Milliseconds(1);

}  // namespace

class InventoryKeeper::Listener final : public rocksdb::EventListener {
 public:
  explicit Listener(std::shared_ptr<Wake> wake) : wake_(std::move(wake)) {}
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { FilesChanged(); }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { FilesChanged(); }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo&) override { FilesChanged(); }
  void OnExternalFileIngested(rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo&) override {
    FilesChanged();
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    if (error->IsNoSpace()) SetRecovering(true);
  }
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override {
    if (info.new_bg_error.ok()) SetRecovering(false);
  }

 private:
  void FilesChanged() {
    const absl::MutexLock lock(&wake_->mutex);
    wake_->files_changed = true;
  }
  void SetRecovering(bool recovering) {
    const absl::MutexLock lock(&wake_->mutex);
    if (recovering == recovering_) return;
    recovering_ = recovering;
    wake_->recovering_count += recovering ? 1 : -1;
  }

  const std::shared_ptr<Wake> wake_;
  bool recovering_ ABSL_GUARDED_BY(wake_->mutex) = false;
};

InventoryKeeper::InventoryKeeper(rocksdb::Env* env, std::string data_dir, bool synced,
                                 absl::Duration interval, Tell tell)
    : env_(env),
      data_dir_(std::move(data_dir)),
      synced_(synced),
      interval_(interval),
      tell_(std::move(tell)) {}

InventoryKeeper::~InventoryKeeper() { Stop(); }

std::shared_ptr<rocksdb::EventListener> InventoryKeeper::MakeListener() const {
  return std::make_shared<Listener>(wake_);
}

absl::Status InventoryKeeper::Start(std::map<std::string, rocksdb::DB*> databases) {
  databases_ = std::move(databases);
  absl::Status status = Write();
  thread_ = std::thread([this] { Run(); });
  return status;
}

void InventoryKeeper::Stop() {
  if (!thread_.joinable()) return;
  {
    const absl::MutexLock lock(&wake_->mutex);
    wake_->stopping = true;
  }
  wake_->changed.SignalAll();
  thread_.join();
  if (absl::Status status = Write(); !status.ok() && tell_)
    tell_(TellLevel::kWarning, std::string(status.message()));
}

bool InventoryKeeper::HasNewWrites() const {
  return std::any_of(databases_.begin(), databases_.end(), [&](const auto& database) {
    const auto known = written_.databases.find(database.first);
    return known == written_.databases.end() ||
           database.second->GetLatestSequenceNumber() > known->second.sequence;
  });
}

void InventoryKeeper::Run() {
  absl::Duration interval = interval_;
  while (!wake_->Stops(interval)) {
    {
      const absl::MutexLock lock(&wake_->mutex);
      if (wake_->recovering_count > 0) continue;
      if (!wake_->files_changed && !HasNewWrites()) continue;
      wake_->files_changed = false;
    }
    const absl::Status status = Write();
    if (!status.ok() && !failed_ && tell_)
      tell_(TellLevel::kWarning, fmt::format("{}; it will be tried again", std::string(status.message())));
    if (status.ok() && failed_ && tell_) tell_(TellLevel::kInfo, "The inventory is written again");
    failed_ = !status.ok();
    int64_t tables_count = 0;
    for (const auto& [name, database] : written_.databases)
      tables_count += static_cast<int64_t>(database.tables.size());
    interval = std::max(interval_, kIntervalPerTable * tables_count);
    const absl::MutexLock lock(&wake_->mutex);
    wake_->files_changed |= failed_;
  }
}

absl::Status InventoryKeeper::Write() {
  Inventory inventory{.synced = synced_, .databases = {}};
  for (const auto& [name, db] : databases_) {
    if (absl::Status status = Describe(name, db, &inventory.databases[name]); !status.ok()) return status;
  }
  if (inventory == written_) return absl::OkStatus();
  absl::Status status = WriteInventory(env_, data_dir_, inventory);
  if (status.ok()) written_ = std::move(inventory);
  return status;
}

absl::Status InventoryKeeper::Describe(const std::string& name, rocksdb::DB* db, DatabaseInventory* result) {
  rocksdb::LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  options.wal_size_for_flush = UINT64_MAX;  // nothing is flushed for this
  std::vector<rocksdb::LiveFileStorageInfo> files;
  // Before the files are listed: each write up to this is in one of them.
  result->sequence = db->GetLatestSequenceNumber();
  rocksdb::Status status = db->GetLiveFilesStorageInfo(options, &files);
  if (!status.ok()) return FromRocks(status, fmt::format("Listing the files of {}", name));
  status = db->SyncWAL();  // what was just listed and numbered is now on the disk
  if (!status.ok()) return FromRocks(status, fmt::format("Syncing the log of {}", name));
  std::map<std::pair<std::string, uint64_t>, uint64_t> seen;
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (file.file_type == rocksdb::kTableFile) {
      result->tables[file.file_number] = TableFileOf(file);
    } else if (file.file_type == rocksdb::kDescriptorFile) {
      result->manifest_number = file.file_number;
      result->manifest_bytes = file.size;
    } else if (file.file_type == rocksdb::kWalFile && file.size > 0) {
      const std::pair log(name, file.file_number);
      auto begin = logs_begin_.find(log);
      if (begin == logs_begin_.end()) {
        // Once a log.
        const absl::StatusOr<std::optional<uint64_t>> first =
            FirstSequenceOfLog(env_, file.directory + "/" + file.relative_filename);
        if (!first.ok()) return first.status();
        if (!first->has_value()) continue;
        begin = logs_begin_.emplace(log, **first).first;
      }
      if (begin->second <= result->sequence) result->logs[file.file_number] = file.size;
      seen.insert(*begin);
    }
  }
  std::erase_if(logs_begin_,
                [&](const auto& log) { return log.first.first == name && !seen.contains(log.first); });
  return absl::OkStatus();
}

}  // namespace sonde
