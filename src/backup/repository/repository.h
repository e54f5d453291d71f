// A repository of backups: a directory, which may lie on another disk or be copied to another machine.
//
//   SONDE-BACKUP            says that it is one
//   blobs/ab/<sha256>       a file of some backup; nothing changes it
//   backups/<id>.json       a manifest, which is written when all of its blobs are there
//   lock                    repository_lock.h
//
// Files that end in ".part" are not done.  docs/formats/repository.md has the bytes; docs/decisions/0029-repository.md the reasons.
//
// Threads: an object is for one thread.  Several processes may use a directory; those that write take its lock.
// Errors of all functions: those of file_system.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/file_system.h"
#include "backup/repository/manifest.h"
#include "base/clock.h"
#include "base/random.h"

namespace sonde {

// Nothing is owned; all must outlive whoever has them.
struct RepositoryTools {
  FileSystem* files = nullptr;
  const Clock* clock = nullptr;
  RandomSource* random = nullptr;
};

class Repository {
 public:
  enum class IfNone { kRefuse, kMake };

  // `directory` is the path of the repository.  With kMake, a directory that is empty or not there becomes a repository.
  // NOT_FOUND: there is none.  FAILED_PRECONDITION: the directory has other files, or a newer Sonde made it.  DATA_LOSS: SONDE-BACKUP
  // is damaged.
  static absl::StatusOr<std::unique_ptr<Repository>> Open(const RepositoryTools& tools, std::string directory,
                                                          IfNone if_none = IfNone::kRefuse);

  const std::string& directory() const { return directory_; }
  const RepositoryTools& tools() const { return tools_; }
  FileSystem* files() const { return tools_.files; }

  std::string lock_path() const { return directory_ + "/lock"; }
  std::string backups_path() const { return directory_ + "/backups"; }
  std::string blobs_path() const { return directory_ + "/blobs"; }
  std::string ManifestPath(std::string_view id) const;
  std::string BlobDirectory(std::string_view sha256) const;
  std::string BlobPath(std::string_view sha256) const;

  // Returns the ids of all backups, the oldest first.
  absl::StatusOr<std::vector<std::string>> BackupIds() const;
  // NOT_FOUND: there is no such backup.  DATA_LOSS, FAILED_PRECONDITION: as DecodeManifest.
  absl::StatusOr<Manifest> Read(std::string_view id) const;
  // Returns the backup of this id, or the newest one if `id` is empty.  Errors: as Read; NOT_FOUND also: there are no backups.
  absl::StatusOr<Manifest> Find(std::string_view id) const;

  // Returns all blobs, by name.
  absl::StatusOr<std::map<std::string, FileFacts>> Blobs() const;
  // Returns the paths of files that are not done, with their facts.
  absl::StatusOr<std::vector<std::pair<std::string, FileFacts>>> Parts() const;

 private:
  Repository(const RepositoryTools& tools, std::string directory)
      : tools_(tools), directory_(std::move(directory)) {}

  absl::Status Check() const;
  absl::Status Make() const;
  absl::StatusOr<std::vector<std::string>> BlobDirectories() const;

  const RepositoryTools tools_;
  const std::string directory_;
};

}  // namespace sonde
