#include "engine/rocks/files/scrubber.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "absl/time/clock.h"
#include "base/crc32c.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/log_scan.h"
#include "engine/rocks/files/rocks_status.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"

namespace sonde {
namespace {

constexpr size_t kReadBytes = 256 << 10;

}  // namespace

Scrubber::Scrubber(rocksdb::Env* env, std::map<std::string, rocksdb::DB*> databases, Options options)
    : env_(env), databases_(std::move(databases)), options_(std::move(options)) {
  thread_ = std::thread([this] {
    for (absl::Duration wait = options_.first_after; WaitUntil(absl::Now() + wait);
         wait = options_.interval) {
      if (absl::IsCancelled(Pass())) return;  // what was found is told already
    }
  });
}

Scrubber::~Scrubber() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  stopped_.SignalAll();
  thread_.join();
}

void Scrubber::TellOf(TellLevel level, const std::string& text) const {
  if (options_.tell) options_.tell(level, text);
}

ScrubProgress Scrubber::progress() const {
  const absl::MutexLock lock(&mutex_);
  return progress_;
}

bool Scrubber::WaitUntil(absl::Time time) {
  const absl::MutexLock lock(&mutex_);
  while (!stopping_ && absl::Now() < time) {
    stopped_.WaitFor(&mutex_, std::min(time - absl::Now(), absl::Hours(1)) + absl::Milliseconds(1),
                     absl::Condition(&stopping_));
  }
  return !stopping_;
}

bool Scrubber::Pace(uint64_t bytes) {
  const double seconds = static_cast<double>(bytes) / static_cast<double>(options_.bytes_per_second_max);
  next_read_ = std::max(next_read_, absl::Now()) + absl::Seconds(seconds);
  return WaitUntil(next_read_);
}

absl::Status Scrubber::Pass() {
  const absl::MutexLock pass(&pass_mutex_);
  std::vector<rocksdb::LiveFileMetaData> tables;
  for (const auto& [path, db] : databases_) {
    std::vector<rocksdb::LiveFileMetaData> of_one;
    db->GetLiveFilesMetaData(&of_one);
    tables.insert(tables.end(), of_one.begin(), of_one.end());
  }
  {
    const absl::MutexLock lock(&mutex_);
    progress_.tables_done = progress_.bytes_done = 0;
    progress_.tables_count = tables.size();
  }
  const absl::Time start = absl::Now();
  absl::Status first_error;
  const auto take = [&](const std::string& file, const absl::Status& status) {
    if (!absl::IsDataLoss(status)) return;
    TellOf(TellLevel::kWarning, std::string(status.message()));
    first_error.Update(status);
    const absl::MutexLock lock(&mutex_);
    if (std::find(progress_.damaged_files.begin(), progress_.damaged_files.end(), file) ==
        progress_.damaged_files.end()) {
      progress_.damaged_files.push_back(file);
    }
  };
  for (const auto& [path, db] : databases_) take(path, CheckManifest(path, db));
  for (const rocksdb::LiveFileMetaData& table : tables) {
    const absl::Status status = CheckTable(table);
    if (absl::IsCancelled(status)) return status;
    take(table.directory + "/" + table.relative_filename, status);
    const absl::MutexLock lock(&mutex_);
    ++progress_.tables_done;
  }
  uint64_t bytes = 0;
  {
    const absl::MutexLock lock(&mutex_);
    ++progress_.passes_count;
    bytes = progress_.bytes_done;
  }
  TellOf(first_error.ok() ? TellLevel::kInfo : TellLevel::kWarning,
         fmt::format("Scrubbed {} tables, {} bytes, in {:.0f} s: {}", tables.size(), bytes,
                     absl::ToDoubleSeconds(absl::Now() - start),
                     first_error.ok() ? "all are as they were written" : "some are damaged"));
  return first_error;
}

absl::Status Scrubber::CheckTable(const rocksdb::LiveFileMetaData& table) {
  const std::string name = table.directory + "/" + table.relative_filename;
  const std::string doing =
      fmt::format("Scrubbing {} (rows of the column family '{}')", name, table.column_family_name);
  const TableFile expected = TableFileOf(table);
  std::unique_ptr<rocksdb::SequentialFile> file;
  rocksdb::Status status = env_->NewSequentialFile(name, &file, rocksdb::EnvOptions());
  // A compaction may have replaced it since; if not, the next read or start will tell.
  if (status.IsNotFound() || status.IsPathNotFound()) return absl::OkStatus();
  std::string scratch(kReadBytes, '\0');
  uint32_t crc = 0;
  uint64_t bytes = 0;
  while (status.ok()) {
    rocksdb::Slice part;
    status = file->Read(kReadBytes, &part, scratch.data());
    if (!status.ok() || part.empty()) break;
    crc = Crc32c({part.data(), part.size()}, crc);
    bytes += part.size();
    {
      const absl::MutexLock lock(&mutex_);
      progress_.bytes_done += part.size();
    }
    if (!Pace(part.size())) return absl::CancelledError("The database closes");
  }
  // A sector that cannot be read is lost.
  if (!status.ok()) return absl::DataLossError(std::string(FromRocks(status, doing).message()));
  if (bytes != expected.bytes || crc != expected.crc32c.value_or(crc)) {
    return absl::DataLossError(
        fmt::format("{}: the file is damaged: {} bytes with CRC-32C {:08x}, but {} with {:08x} were written",
                    doing, bytes, crc, expected.bytes, expected.crc32c.value_or(crc)));
  }
  return absl::OkStatus();
}

absl::Status Scrubber::CheckManifest(const std::string& path, rocksdb::DB* db) {
  std::vector<std::string> names;
  uint64_t bytes = 0;
  if (!db->GetLiveFiles(names, &bytes, /*flush_memtable=*/false).ok()) return absl::OkStatus();
  for (const std::string& name : names) {
    if (!name.starts_with("/MANIFEST-")) continue;
    const absl::StatusOr<LogScan> scan = ScanLog(env_, path + name, nullptr, nullptr);
    if (!scan.ok()) return absl::OkStatus();   // replaced since
    if (scan->sound_bytes >= bytes) continue;  // what is being written may end anywhere
    return absl::DataLossError(
        fmt::format("Scrubbing {}{}: damaged behind byte {}", path, name, scan->sound_bytes));
  }
  return absl::OkStatus();
}

}  // namespace sonde
