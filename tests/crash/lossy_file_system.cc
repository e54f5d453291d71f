#include "lossy_file_system.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

constexpr uint64_t kSectorBytes = 512;

std::string Clean(const std::string& name) { return fs::path(name).lexically_normal(); }

IOStatus PowerIsOff() { return IOStatus::IOError("the power is off"); }

IOStatus NoSpace() {
  IOStatus status = IOStatus::NoSpace("the disk is full");
  status.SetRetryable(true);  // as RocksDB's own file system says
  return status;
}

}  // namespace

class LossyFileSystem::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<rocksdb::FSWritableFile> file, LossyFileSystem* system, std::string name)
      : FSWritableFileOwnerWrapper(std::move(file)), system_(system), name_(std::move(name)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions&, IODebugContext*) override {
    return system_->Append(name_, target(), data);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return system_->Sync(name_); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return system_->Sync(name_); }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Truncate(uint64_t bytes, const IOOptions&, IODebugContext*) override {
    return system_->Truncate(name_, target(), bytes);
  }
  void PrepareWrite(size_t, size_t, const IOOptions&, IODebugContext*) override {}
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  LossyFileSystem* const system_;
  const std::string name_;
};

class LossyFileSystem::Directory final : public rocksdb::FSDirectory {
 public:
  Directory(LossyFileSystem* system, std::string name) : system_(system), name_(std::move(name)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    const absl::MutexLock lock(&system_->mutex_);
    IOStatus status = system_->Step();
    if (status.ok() && !system_->lies_.about_directory_syncs) system_->SyncNames(name_);
    return status;
  }

 private:
  LossyFileSystem* const system_;
  const std::string name_;
};

LossyFileSystem::LossyFileSystem(std::string root, uint64_t seed, Lies lies)
    : FileSystemWrapper(rocksdb::FileSystem::Default()),
      shadow_(root + "/deleted"),
      lies_(lies),
      random_(seed) {
  fs::create_directories(shadow_);
}

void LossyFileSystem::CrashAtCall(uint64_t calls_from_now) {
  const absl::MutexLock lock(&mutex_);
  crash_at_call_ = calls_from_now == 0 ? 0 : counts_.calls + calls_from_now;
}

void LossyFileSystem::CrashNow() {
  const absl::MutexLock lock(&mutex_);
  crashed_ = true;
}

bool LossyFileSystem::crashed() const {
  const absl::MutexLock lock(&mutex_);
  return crashed_;
}

void LossyFileSystem::FailSync(uint64_t syncs_from_now) {
  const absl::MutexLock lock(&mutex_);
  fail_at_sync_ = syncs_from_now == 0 ? 0 : counts_.syncs + syncs_from_now;
}

void LossyFileSystem::SetCapacity(uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  capacity_bytes_ = bytes;
}

uint64_t LossyFileSystem::used_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return used_bytes_;
}

LossyFileSystem::Counts LossyFileSystem::counts() const {
  const absl::MutexLock lock(&mutex_);
  return counts_;
}

IOStatus LossyFileSystem::Step() {
  if (crashed_) return PowerIsOff();
  if (++counts_.calls != crash_at_call_) return IOStatus::OK();
  crashed_ = true;
  return PowerIsOff();
}

IOStatus LossyFileSystem::Append(const std::string& name, rocksdb::FSWritableFile* file,
                                 const rocksdb::Slice& data) {
  const absl::MutexLock lock(&mutex_);
  if (crashed_) return PowerIsOff();
  IOStatus status = Step();
  size_t bytes = data.size();
  if (!status.ok()) bytes = random_.Uniform(bytes + 1);  // it came so far
  const uint64_t room_bytes = capacity_bytes_ > used_bytes_ ? capacity_bytes_ - used_bytes_ : 0;
  if (bytes > room_bytes) {
    bytes = room_bytes;
    ++counts_.no_space;
    status = NoSpace();
  }
  IOStatus appended = file->Append(rocksdb::Slice(data.data(), bytes), IOOptions(), nullptr);
  if (!appended.ok()) return appended;
  files_[name].bytes += bytes;
  used_bytes_ += bytes;
  return status;
}

IOStatus LossyFileSystem::Sync(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  State& state = files_[name];
  if (++counts_.syncs == fail_at_sync_) {
    ++counts_.syncs_failed;
    state.sync_failed = true;
    if (!lies_.about_failed_syncs) return IOStatus::IOError("a sync failed", name);
  }
  if (!state.sync_failed && !lies_.about_syncs) state.synced_bytes = state.bytes;
  return IOStatus::OK();
}

IOStatus LossyFileSystem::Truncate(const std::string& name, rocksdb::FSWritableFile* file, uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  if (IOStatus status = file->Truncate(bytes, IOOptions(), nullptr); !status.ok()) return status;
  State& state = files_[name];
  used_bytes_ = used_bytes_ - state.bytes + bytes;
  state.bytes = bytes;
  state.synced_bytes = std::min(state.synced_bytes, bytes);
  return IOStatus::OK();
}

IOStatus LossyFileSystem::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* debug) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  const std::string clean = Clean(name);
  const bool existed = fs::exists(clean);
  NameChange change{.kind = NameChange::Kind::kCreated, .name = clean};
  if (existed) change.backup = Backup(clean);
  std::unique_ptr<rocksdb::FSWritableFile> made;
  if (IOStatus status = target()->NewWritableFile(clean, options, &made, debug); !status.ok()) return status;
  files_[clean] = {};
  name_changes_.push_back(std::move(change));
  *file = std::make_unique<File>(std::move(made), this, clean);
  return IOStatus::OK();
}

IOStatus LossyFileSystem::ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                                             IODebugContext* debug) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  const std::string clean = Clean(name);
  std::unique_ptr<rocksdb::FSWritableFile> made;
  if (IOStatus status = target()->ReopenWritableFile(clean, options, &made, debug); !status.ok())
    return status;
  if (!files_.contains(clean)) {
    const uint64_t bytes = fs::file_size(clean);
    files_[clean] = {.bytes = bytes, .synced_bytes = bytes};
  }
  *file = std::make_unique<File>(std::move(made), this, clean);
  return IOStatus::OK();
}

IOStatus LossyFileSystem::NewDirectory(const std::string& name, const IOOptions&,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext*) {
  *directory = std::make_unique<Directory>(this, Clean(name + "/."));
  return IOStatus::OK();
}

void LossyFileSystem::MoveWithin(const std::string& from, const std::string& to) {
  const std::string start = from + "/";
  const auto move = [&](std::string* name) {
    if (name->starts_with(start)) name->replace(0, from.size(), to);
  };
  std::map<std::string, State> files;
  for (const auto& [name, state] : files_) {
    std::string moved = name;
    move(&moved);
    files[moved] = state;
  }
  files_ = std::move(files);
  for (NameChange& change : name_changes_) {
    move(&change.name);
    move(&change.from);
  }
}

std::string LossyFileSystem::Backup(const std::string& name) {
  const std::string backup = shadow_ + "/" + std::to_string(++backups_count_);
  fs::rename(name, backup);
  const auto state = files_.find(name);
  if (state != files_.end()) {
    used_bytes_ -= state->second.bytes;
    files_[backup] = state->second;
    files_.erase(name);
  }
  return backup;
}

IOStatus LossyFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* debug) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  const std::string clean = Clean(name);
  if (!fs::exists(clean)) return target()->DeleteFile(clean, options, debug);  // its error
  name_changes_.push_back({.kind = NameChange::Kind::kDeleted, .name = clean, .backup = Backup(clean)});
  return IOStatus::OK();
}

IOStatus LossyFileSystem::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                                     IODebugContext* debug) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  NameChange change{.kind = NameChange::Kind::kRenamed, .name = Clean(to), .from = Clean(from)};
  if (fs::exists(change.name)) change.backup = Backup(change.name);
  if (IOStatus status = target()->RenameFile(change.from, change.name, options, debug); !status.ok())
    return status;
  if (const auto state = files_.find(change.from); state != files_.end()) {
    files_[change.name] = state->second;
    files_.erase(change.from);
  }
  if (fs::is_directory(change.name)) MoveWithin(change.from, change.name);
  name_changes_.push_back(std::move(change));
  return IOStatus::OK();
}

IOStatus LossyFileSystem::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                                   IODebugContext* debug) {
  const absl::MutexLock lock(&mutex_);
  if (IOStatus status = Step(); !status.ok()) return status;
  if (IOStatus status = target()->LinkFile(from, to, options, debug); !status.ok()) return status;
  name_changes_.push_back({.kind = NameChange::Kind::kCreated, .name = Clean(to)});
  return IOStatus::OK();
}

IOStatus LossyFileSystem::GetFreeSpace(const std::string&, const IOOptions&, uint64_t* free_bytes,
                                       IODebugContext*) {
  const absl::MutexLock lock(&mutex_);
  *free_bytes = capacity_bytes_ > used_bytes_ ? capacity_bytes_ - used_bytes_ : 0;
  return IOStatus::OK();
}

void LossyFileSystem::SyncNames(const std::string& directory) {
  std::erase_if(name_changes_, [&](const NameChange& change) {
    if (Clean(fs::path(change.name).parent_path() / ".") != directory) return false;
    if (!change.backup.empty()) {
      fs::remove(change.backup);
      files_.erase(change.backup);
    }
    return true;
  });
}

void LossyFileSystem::Undo(const NameChange& change) {
  ++counts_.names_lost;
  const auto move = [&](const std::string& from, const std::string& to) {
    if (!fs::exists(from)) return;
    fs::rename(from, to);
    if (fs::is_directory(to)) MoveWithin(from, to);
    if (const auto state = files_.find(from); state != files_.end()) {
      files_[to] = state->second;
      files_.erase(from);
    }
  };
  if (change.kind == NameChange::Kind::kCreated) {
    fs::remove(change.name);
    files_.erase(change.name);
  } else if (change.kind == NameChange::Kind::kRenamed) {
    move(change.name, change.from);
  }
  if (!change.backup.empty()) move(change.backup, change.name);
}

void LossyFileSystem::LoseBytes(const std::string& name, State* state) {
  if (state->bytes <= state->synced_bytes || !fs::exists(name)) return;
  const uint64_t unsynced_bytes = state->bytes - state->synced_bytes;
  // Nothing, everything, or a part of it.
  const uint64_t how = random_.Uniform(4);
  const uint64_t kept_bytes = how == 0 ? 0 : how == 1 ? unsynced_bytes : random_.Uniform(unsynced_bytes + 1);
  fs::resize_file(name, state->synced_bytes + kept_bytes);
  counts_.bytes_lost += unsynced_bytes - kept_bytes;
  state->bytes = state->synced_bytes + kept_bytes;
  if (kept_bytes > 0 && kept_bytes < unsynced_bytes && random_.Uniform(2) == 0) {
    const uint64_t torn_bytes = std::min(kept_bytes, kSectorBytes);
    std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(state->bytes - torn_bytes));
    for (uint64_t i = 0; i < torn_bytes; ++i) file.put(static_cast<char>(random_.Uniform(256)));
    ++counts_.sectors_torn;
  }
}

void LossyFileSystem::Restart() {
  const absl::MutexLock lock(&mutex_);
  if (crashed_) {
    ++counts_.crashes;
    for (uint64_t undone = random_.Uniform(name_changes_.size() + 1); undone > 0; --undone) {
      Undo(name_changes_.back());
      name_changes_.pop_back();
    }
    for (auto& [name, state] : files_) LoseBytes(name, &state);
  }
  // What is left is what the disk has.
  name_changes_.clear();
  fs::remove_all(shadow_);
  fs::create_directories(shadow_);
  used_bytes_ = 0;
  std::erase_if(files_, [](const auto& file) { return !fs::exists(file.first); });
  for (auto& [name, state] : files_) {
    state = {.bytes = fs::file_size(name), .synced_bytes = fs::file_size(name)};
    used_bytes_ += state.bytes;
  }
  crashed_ = false;
  crash_at_call_ = 0;
  fail_at_sync_ = 0;
}

}  // namespace sonde
