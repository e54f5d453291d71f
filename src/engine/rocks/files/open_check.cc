#include "engine/rocks/files/open_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/bytes.h"
#include "engine/rocks/files/log_scan.h"
#include "engine/rocks/files/rocks_status.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"

namespace sonde {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";
// A record behind a bad place is believed to be one if its sequence number is in this reach.
constexpr uint64_t kSequenceReach = uint64_t{1} << 40;

absl::Status Damage(const std::string& what) {
  return absl::DataLossError(fmt::format(
      "{}. Nothing was changed; put back what is missing or damaged from a copy of the data directory",
      what));
}

class QuietLogger final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// The number in "000012.log"; nothing for other names.
std::optional<uint64_t> NumberOf(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

class Check {
 public:
  Check(rocksdb::Env* env, const std::string& data_dir, const std::string& name,
        const std::optional<DatabaseInventory>& known, bool synced)
      : env_(env), data_dir_(data_dir), path_(data_dir + "/" + name), known_(known), synced_(synced) {}

  absl::StatusOr<OpenPlan> Run() {
    if (absl::Status status = ReadDirectory(); !status.ok()) return status;
    if (!manifest_number_.has_value()) return plan_;  // a new one
    for (const auto step :
         {&Check::CheckManifest, &Check::CheckTables, &Check::CheckLogs, &Check::CutTornTails}) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    return plan_;
  }

 private:
  struct TornTail {
    std::string file;
    uint64_t sound_bytes = 0;
  };

  absl::Status ReadDirectory() {
    std::vector<std::string> names;
    const rocksdb::Status status = env_->GetChildren(path_, &names);
    if (!status.ok() && !status.IsNotFound() && !status.IsPathNotFound()) {
      return FromRocks(status, fmt::format("Reading {}", path_));
    }
    bool has_current = false, has_tables = false;
    for (const std::string& name : names) {
      has_current |= name == "CURRENT";
      has_tables |= NumberOf(name, ".sst").has_value();
      if (const std::optional<uint64_t> number = NumberOf(name, ".log")) logs_.push_back(*number);
    }
    std::sort(logs_.begin(), logs_.end());
    if (!has_current) {
      if (!known_.has_value() && !has_tables && logs_.empty()) return absl::OkStatus();  // a new one
      return Damage(fmt::format("{}/CURRENT is missing", path_));
    }
    std::string current;
    const rocksdb::Status read = rocksdb::ReadFileToString(env_, path_ + "/CURRENT", &current);
    if (!read.ok()) return FromRocks(read, fmt::format("Reading {}/CURRENT", path_));
    uint64_t number = 0;
    const char* const digits = current.data() + kManifestPrefix.size();
    if (!current.starts_with(kManifestPrefix) ||
        std::from_chars(digits, current.data() + current.size(), number).ptr !=
            current.data() + current.size() - 1 ||
        current.back() != '\n') {
      return Damage(fmt::format("{}/CURRENT is damaged: '{}'", path_, Printable(current)));
    }
    manifest_number_ = number;
    manifest_ = current.substr(0, current.size() - 1);
    if (std::find(names.begin(), names.end(), manifest_) == names.end()) {
      return Damage(fmt::format("{}/{} is missing, which CURRENT names", path_, manifest_));
    }
    return absl::OkStatus();
  }

  absl::Status CheckManifest() {
    absl::StatusOr<LogScan> scan = ScanLog(env_, path_ + "/" + manifest_, nullptr, nullptr);
    if (!scan.ok()) return scan.status();
    manifest_bytes_ = scan->sound_bytes;
    if (scan->record_behind || scan->records_count == 0) {
      return Damage(fmt::format("{}/{} is damaged behind byte {}", path_, manifest_, scan->sound_bytes));
    }
    if (known_.has_value() &&
        (*manifest_number_ < known_->manifest_number ||
         (*manifest_number_ == known_->manifest_number && scan->sound_bytes < known_->manifest_bytes))) {
      return Damage(fmt::format("{}/{} has {} sound bytes, but the inventory knows of {}{:06} with {}", path_,
                                manifest_, scan->sound_bytes, kManifestPrefix, known_->manifest_number,
                                known_->manifest_bytes));
    }
    if (!scan->IsSound()) torn_tails_.push_back({manifest_, scan->sound_bytes});
    return absl::OkStatus();
  }

  // By a database that is opened for reading, without its logs: nothing is written, and nothing replayed.
  absl::Status CheckTables() {
    rocksdb::DBOptions options;
    options.env = env_;
    options.info_log = std::make_shared<QuietLogger>();
    options.wal_dir = data_dir_;  // there are no logs in it
    options.max_open_files = 256;
    const std::string doing = fmt::format("Checking {}", path_);
    // A torn tail is not acknowledged, and may be cut off now: RocksDB would stumble over it.
    if (absl::Status status = CutTornTails(); !status.ok()) return status;
    std::vector<std::string> names;
    rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path_, &names);
    if (!status.ok()) return FromRocks(status, doing);
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::unique_ptr<rocksdb::DB> db;
    status = rocksdb::DB::OpenForReadOnly(options, path_, families, &handles, &db);
    if (status.IsCorruption()) {
      const std::string why = status.ToString();
      OpenTablesLater(&options);
      handles.clear();
      status = rocksdb::DB::OpenForReadOnly(options, path_, families, &handles, &db);
      if (status.ok()) plan_.damaged_table = why;
    }
    if (status.IsCorruption() || status.IsNotFound() || status.IsPathNotFound()) {
      return Damage(fmt::format("{}: {}", doing, status.ToString()));
    }
    if (!status.ok()) return FromRocks(status, doing);
    manifest_sequence_ = db->GetLatestSequenceNumber();
    db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &log_number_min_);
    std::vector<rocksdb::LiveFileMetaData> live;
    db->GetLiveFilesMetaData(&live);
    for (rocksdb::ColumnFamilyHandle* handle : handles)
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    db.reset();
    return CompareTables(live);
  }

  absl::Status CompareTables(const std::vector<rocksdb::LiveFileMetaData>& live) const {
    for (const rocksdb::LiveFileMetaData& file : live) {
      uint64_t bytes = 0;
      const std::string name = path_ + "/" + file.relative_filename;
      if (const rocksdb::Status status = env_->GetFileSize(name, &bytes); !status.ok()) {
        return Damage(fmt::format("{} is missing or cannot be read: {}", name, status.ToString()));
      }
      if (bytes != file.size) {
        return Damage(fmt::format("{} has {} bytes, but should have {}", name, bytes, file.size));
      }
    }
    if (!known_.has_value() || *manifest_number_ != known_->manifest_number ||
        manifest_bytes_ != known_->manifest_bytes) {
      return absl::OkStatus();  // it has moved on: what it does not name any more, it was told to forget
    }
    size_t found_count = 0;
    for (const rocksdb::LiveFileMetaData& file : live) {
      const auto known = known_->tables.find(file.file_number);
      if (known == known_->tables.end() || known->second != TableFileOf(file)) {
        return Damage(fmt::format("{}/{} does not know {} as the inventory does", path_, manifest_,
                                  file.relative_filename));
      }
      ++found_count;
    }
    if (found_count == known_->tables.size()) return absl::OkStatus();
    return Damage(fmt::format("{}/{} knows {} tables, but the inventory {}", path_, manifest_, found_count,
                              known_->tables.size()));
  }

  absl::Status CheckLogs() {
    std::erase_if(logs_, [&](uint64_t number) { return number < log_number_min_; });
    // A log that the inventory names has writes behind those that are in tables; so it, and those that
    // follow, must reach what was acknowledged.  The MANIFEST's own number may be beyond a log: it counts
    // other families' writes.
    bool must_reach = false;
    if (known_.has_value()) {
      for (const auto& [number, bytes] : known_->logs) {
        if (number < log_number_min_) continue;
        must_reach = true;
        if (!std::binary_search(logs_.begin(), logs_.end(), number)) {
          return Damage(fmt::format("{}/{:06}.log is missing", path_, number));
        }
      }
    }
    for (const uint64_t number : logs_) {
      if (absl::Status status = CheckLog(number); !status.ok()) return status;
    }
    const uint64_t sequence = must_reach ? log_sequence_ : std::max(manifest_sequence_, log_sequence_);
    if (known_.has_value() && sequence < known_->sequence) {
      const std::string where = !hole_.empty()       ? hole_
                                : !torn_log_.empty() ? torn_log_
                                                     : fmt::format("The last log in {} ends early", path_);
      return Damage(fmt::format("{}: writes up to number {} were acknowledged, but are there up to {} only",
                                where, known_->sequence, sequence));
    }
    if (hole_.empty()) return absl::OkStatus();
    if (synced_ || !known_.has_value()) return Damage(hole_);
    // The session before did not sync, and its log is whole up to where it is known to be on the disk.
    plan_.recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    plan_.notes.push_back({TellLevel::kWarning,
                           fmt::format("{}: writes behind it were never synced, and are left out", hole_)});
    torn_tails_.clear();
    return absl::OkStatus();
  }

  absl::Status CheckLog(uint64_t number) {
    const std::string file = fmt::format("{:06}.log", number);
    std::optional<uint64_t> gap_offset;
    const auto visit = [&](std::string_view start, uint64_t offset) {
      if (!torn_log_.empty() || gap_offset.has_value() || !hole_.empty()) return;
      const LogRecordHeader header = ParseLogRecordHeader(start);
      // The first record of all follows writes that are in tables.  A write that failed may be there twice.
      if (any_record_ && header.first_sequence > log_sequence_ + 1) {
        gap_offset = offset;
        return;
      }
      any_record_ = true;
      log_sequence_ = std::max(log_sequence_, header.LastSequence());
    };
    const auto plausible = [&](std::string_view start) {
      const uint64_t sequence = ParseLogRecordHeader(start).first_sequence;
      return sequence > log_sequence_ && sequence - log_sequence_ < kSequenceReach;
    };
    absl::StatusOr<LogScan> scan = ScanLog(env_, path_ + "/" + file, visit, plausible);
    if (!scan.ok()) return scan.status();
    if (hole_.empty() && scan->records_count > 0) hole_ = torn_log_;
    if (hole_.empty() && gap_offset.has_value()) {
      hole_ = fmt::format("{}/{} lacks writes before byte {}", path_, file, *gap_offset);
    }
    if (scan->IsSound()) return absl::OkStatus();
    torn_log_ = fmt::format("{}/{} is damaged behind byte {}", path_, file, scan->sound_bytes);
    if (hole_.empty() && scan->record_behind) hole_ = torn_log_;
    torn_tails_.push_back({file, scan->sound_bytes});
    return absl::OkStatus();
  }

  absl::Status CutTornTails() {
    for (const TornTail& tail : torn_tails_) {
      const std::string file = path_ + "/" + tail.file;
      std::unique_ptr<rocksdb::WritableFile> opened;
      rocksdb::Status status = env_->ReopenWritableFile(file, &opened, rocksdb::EnvOptions());
      if (status.ok()) status = opened->Truncate(tail.sound_bytes);
      if (status.ok()) status = opened->Fsync();
      if (status.ok()) status = opened->Close();
      if (!status.ok())
        return FromRocks(status, fmt::format("Cutting a torn record off the end of {}", file));
      plan_.notes.push_back(
          {TellLevel::kInfo,
           fmt::format("{}: a record that was never acknowledged was torn at byte {}, and is left out", file,
                       tail.sound_bytes)});
    }
    torn_tails_.clear();
    return absl::OkStatus();
  }

  rocksdb::Env* const env_;
  const std::string data_dir_;
  const std::string path_;
  const std::optional<DatabaseInventory>& known_;
  const bool synced_;

  OpenPlan plan_;
  std::optional<uint64_t> manifest_number_;
  std::string manifest_;
  uint64_t manifest_bytes_ = 0;
  std::vector<uint64_t> logs_;
  uint64_t log_number_min_ = 0;
  uint64_t manifest_sequence_ = 0;
  uint64_t log_sequence_ = 0;  // of the last write in the logs, up to the first hole
  bool any_record_ = false;
  std::string torn_log_;  // the last log that does not end with a whole record
  std::string hole_;      // where records are missing that others follow
  std::vector<TornTail> torn_tails_;
};

}  // namespace

void OpenTablesLater(rocksdb::DBOptions* options) {
  options->open_files_async = true;
  options->skip_stats_update_on_db_open = true;  // which would open them
}

absl::StatusOr<OpenPlan> CheckBeforeOpen(rocksdb::Env* env, const std::string& data_dir,
                                         const std::string& name,
                                         const std::optional<DatabaseInventory>& known, bool synced) {
  return Check(env, data_dir, name, known, synced).Run();
}

}  // namespace sonde
