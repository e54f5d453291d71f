// A disk that fails as disks do, in front of a directory of the machine: it counts the calls that change
// something, loses the power at any of them, forgets what was not synced (bytes, and names of files), tears
// the last write, fails a sync, and is full at a size of one's choice.  Nothing is really synced, so it is
// fast; everything must be below `root`.
//
// After a crash all changes fail until Restart, which makes the directory what the power failure left:
//   - of each file, what was synced, and a random part of what was appended since; sometimes its last sector
//   is garbage
//   - files that were created, renamed or deleted since their directory was synced: a random number of the
//   last such
//     changes, in all directories, is undone (file systems keep their order)
// As after a real fsync error, bytes that were written before a failed sync are never durable, though later
// syncs succeed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/random.h"
#include "rocksdb/file_system.h"

namespace sonde {

class LossyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  struct Counts {
    uint64_t calls = 0;  // that change something
    uint64_t syncs = 0;
    uint64_t syncs_failed = 0;
    uint64_t no_space = 0;  // calls that were refused
    // By Restart, in all:
    uint64_t crashes = 0;
    uint64_t bytes_lost = 0;
    uint64_t names_lost = 0;  // changes of directories that were undone
    uint64_t sectors_torn = 0;
  };

  // What a planted bug makes it do.
  struct Lies {
    bool about_syncs = false;            // they do nothing, and say that all is well
    bool about_directory_syncs = false;  // likewise
    bool about_failed_syncs = false;     // a sync that fails says that all is well
  };

  LossyFileSystem(std::string root, uint64_t seed, Lies lies);
  const char* Name() const override { return "LossyFileSystem"; }

  // The call with this number, counted from now, loses the power; 0: none.
  void CrashAtCall(uint64_t calls_from_now);
  void CrashNow();
  bool crashed() const;
  // The sync with this number, counted from now, fails; 0: none.
  void FailSync(uint64_t syncs_from_now);
  // Bytes that all files may have; UINT64_MAX: no limit.
  void SetCapacity(uint64_t bytes);
  uint64_t used_bytes() const;
  // Applies the loss, if there was a crash, and takes calls again.  No file may be open.
  void Restart();
  Counts counts() const;

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free_bytes, rocksdb::IODebugContext* debug) override;

 private:
  class File;
  class Directory;
  struct State {
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0;
    bool sync_failed = false;  // what is there now will never be durable
  };
  // Of a directory, not synced yet.
  struct NameChange {
    enum class Kind { kCreated, kRenamed, kDeleted };
    Kind kind = Kind::kCreated;
    std::string name;
    std::string from;    // kRenamed
    std::string backup;  // what was at `name` before, if anything
  };

  // Counts a call.  An error after the crash, or at it.
  rocksdb::IOStatus Step() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  rocksdb::IOStatus Append(const std::string& name, rocksdb::FSWritableFile* file,
                           const rocksdb::Slice& data);
  rocksdb::IOStatus Sync(const std::string& name);
  rocksdb::IOStatus Truncate(const std::string& name, rocksdb::FSWritableFile* file, uint64_t bytes);
  void SyncNames(const std::string& directory);
  // A directory took another name: what is known of all that lies in it goes along.
  void MoveWithin(const std::string& from, const std::string& to);
  std::string Backup(const std::string& name);
  void Undo(const NameChange& change);
  void LoseBytes(const std::string& name, State* state);

  const std::string shadow_;  // where what is deleted waits
  const Lies lies_;

  mutable absl::Mutex mutex_;
  SeededRandom random_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, State> files_ ABSL_GUARDED_BY(mutex_);    // by name
  std::vector<NameChange> name_changes_ ABSL_GUARDED_BY(mutex_);  // oldest first
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  uint64_t crash_at_call_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t fail_at_sync_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t capacity_bytes_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  uint64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t backups_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool crashed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sonde
