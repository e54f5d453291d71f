#include "backup/repository/create_backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "backup/repository/repository_lock.h"
#include "base/bytes.h"

namespace sonde {
namespace {

// So many of the newest backups are asked for files that are known.
constexpr size_t kKnownBackupsMax = 8;

class BackupWriter {
 public:
  BackupWriter(const Repository& repository, RepositoryLock* lock, const TransferOptions& options)
      : repository_(repository), lock_(lock), transfer_(options, [lock] { return lock->Keep(); }) {}

  // Learns from earlier manifests which content files of this store have.
  absl::Status LearnKnownFiles(const std::string& store) {
    const absl::StatusOr<std::vector<std::string>> ids = repository_.BackupIds();
    if (!ids.ok()) return ids.status();
    for (size_t i = ids->size(); i-- > 0 && ids->size() - i <= kKnownBackupsMax;) {
      const absl::StatusOr<Manifest> manifest = repository_.Read((*ids)[i]);
      if (!manifest.ok()) continue;  // it helps nobody; `verify` names it
      if (manifest->store != store) continue;
      if (parent_.empty()) parent_ = manifest->id;
      for (const ManifestFile& file : manifest->files) {
        if (file.crc32c.has_value()) known_.try_emplace({file.path, file.bytes, *file.crc32c}, file.sha256);
      }
    }
    return absl::OkStatus();
  }

  // Puts a file into the repository, unless it is there, and notes it in the manifest.
  absl::Status Add(const CopiedFile& file, CreatedBackup* backup) {
    const std::optional<std::string> known = FindKnown(file);
    if (known.has_value()) {
      transfer_.Pass(file.bytes);
      backup->bytes_found += file.bytes;
      Note(file, *known, backup);
      return lock_->Keep();
    }
    const absl::StatusOr<std::string> copied = Copy(file, backup);
    if (!copied.ok()) return copied.status();
    Note(file, *copied, backup);
    return absl::OkStatus();
  }

  // Makes all blobs durable, then the manifest.
  absl::Status Finish(CreatedBackup* backup) {
    FileSystem* const files = repository_.files();
    for (const std::string& directory : directories_) {
      if (absl::Status status = files->SyncDirectory(directory); !status.ok()) return status;
    }
    absl::Status status = files->SyncDirectory(repository_.blobs_path());
    if (status.ok()) status = lock_->CheckHeld();
    if (!status.ok()) return status;
    backup->manifest.parent = parent_;
    const std::string text = EncodeManifest(backup->manifest);
    if (text.size() > kManifestBytesMax) {
      return absl::ResourceExhaustedError(fmt::format(
          "The manifest would have {} bytes, more than the {} that it may", text.size(), kManifestBytesMax));
    }
    status = WriteFile(files, repository_.ManifestPath(backup->manifest.id), text);
    return status.ok() ? files->SyncDirectory(repository_.backups_path()) : status;
  }

 private:
  std::optional<std::string> FindKnown(const CopiedFile& file) const {
    if (!file.crc32c.has_value()) return std::nullopt;
    const auto known = known_.find({file.path, file.bytes, *file.crc32c});
    if (known == known_.end() || !HasBlob(known->second, file.bytes)) return std::nullopt;
    return known->second;
  }

  bool HasBlob(const std::string& sha256, uint64_t bytes) const {
    const absl::StatusOr<FileFacts> blob = repository_.files()->Look(repository_.BlobPath(sha256));
    return blob.ok() && blob->bytes == bytes;
  }

  absl::StatusOr<std::string> Copy(const CopiedFile& file, CreatedBackup* backup) {
    FileSystem* const files = repository_.files();
    const std::string part =
        fmt::format("{}/{:016x}.part", repository_.blobs_path(), repository_.tools().random->Next());
    auto remove = absl::MakeCleanup([&] { files->Remove(part).IgnoreError(); });  // prune removes it, too
    absl::StatusOr<Transfer::Copied> copied;
    {
      absl::StatusOr<std::unique_ptr<InputFile>> from = files->Open(file.from);
      if (!from.ok()) return from.status();
      absl::StatusOr<std::unique_ptr<OutputFile>> to = files->CreateNew(part);
      if (!to.ok()) return to.status();
      copied = transfer_.Copy(from->get(), to->get());
    }
    if (!copied.ok()) return copied.status();
    if (copied->bytes != file.bytes) {
      return absl::AbortedError(fmt::format("{} has {} bytes, and had {} before it was copied", file.from,
                                            copied->bytes, file.bytes));
    }
    if (HasBlob(copied->sha256, copied->bytes)) {
      backup->bytes_found += copied->bytes;
      return std::move(copied->sha256);
    }
    absl::Status status = files->MakeDirectory(repository_.BlobDirectory(copied->sha256));
    if (status.ok()) status = files->Rename(part, repository_.BlobPath(copied->sha256));
    if (!status.ok()) return status;
    std::move(remove).Cancel();
    ++backup->files_copied;
    backup->bytes_copied += copied->bytes;
    return std::move(copied->sha256);
  }

  void Note(const CopiedFile& file, const std::string& sha256, CreatedBackup* backup) {
    directories_.insert(repository_.BlobDirectory(sha256));
    backup->manifest.files.push_back(
        {.path = file.path, .bytes = file.bytes, .sha256 = sha256, .crc32c = file.crc32c});
  }

  const Repository& repository_;
  RepositoryLock* const lock_;
  Transfer transfer_;
  std::map<std::tuple<std::string, uint64_t, uint32_t>, std::string> known_;
  std::string parent_;
  std::set<std::string> directories_;  // those of all blobs of the backup
};

absl::Status CheckFiles(const CopiedStore& copy) {
  if (copy.files.size() > kManifestFilesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("The copy has {} files, more than the {} that a backup may have", copy.files.size(),
                    kManifestFilesMax));
  }
  std::set<std::string_view> paths;
  for (const CopiedFile& file : copy.files) {
    if (!IsManifestPath(file.path) || !paths.insert(file.path).second) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' cannot be a path in a backup, or is there twice", Printable(file.path)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CreatedBackup> CreateBackup(const Repository& repository, const CopiedStore& copy,
                                           const TransferOptions& options) {
  if (absl::Status status = CheckFiles(copy); !status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<RepositoryLock>> lock = RepositoryLock::Take(repository);
  if (!lock.ok()) return lock.status();
  BackupWriter writer(repository, lock->get(), options);
  if (absl::Status status = writer.LearnKnownFiles(copy.store); !status.ok()) return status;
  CreatedBackup backup;
  backup.manifest = {
      .id = MakeBackupId(copy.moment, static_cast<uint32_t>(repository.tools().random->Next() >> 32)),
      .server = copy.server,
      .moment = copy.moment,
      .store = copy.store,
      .table = copy.table,
      .tables = copy.tables,
      .journal = copy.journal};
  for (const CopiedFile& file : copy.files) {
    if (absl::Status status = writer.Add(file, &backup); !status.ok()) return status;
  }
  std::ranges::sort(backup.manifest.files, {}, &ManifestFile::path);
  if (absl::Status status = writer.Finish(&backup); !status.ok()) return status;
  return backup;
}

}  // namespace sonde
