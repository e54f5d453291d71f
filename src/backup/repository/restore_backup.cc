#include "backup/repository/restore_backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr std::string_view kRestorePart = "restore.part";
// It makes a directory a data directory.
constexpr std::string_view kFormatFile = "FORMAT";
// Entries that are no data: an operator's, and the file system's.
constexpr std::string_view kNoData[] = {"sonde.yaml",   "auth.yaml",      "audit.log",
                                        "certificates", "admin-key.json", "lost+found"};

bool IsNoData(std::string_view name) { return std::ranges::find(kNoData, name) != std::end(kNoData); }

std::string AbsoluteOf(const std::string& path) {
  return std::filesystem::absolute(path + "/").lexically_normal().parent_path().native();
}

// Makes the directory ready for the files of a restore.
absl::Status Prepare(FileSystem* files, const std::string& directory) {
  absl::Status status = files->MakeDirectory(directory);
  if (status.ok()) status = files->SyncDirectory(std::filesystem::path(directory).parent_path().native());
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<FileFacts>> entries = files->List(directory);
  if (!entries.ok()) return entries.status();
  const auto has = [&](std::string_view name) {
    return std::ranges::find(*entries, name, &FileFacts::name) != entries->end();
  };
  // Only a restore makes this, and only in an empty directory.
  const bool was_broken_off = has(kRestorePart) && !has(kFormatFile);
  for (const FileFacts& entry : *entries) {
    if (IsNoData(entry.name)) continue;
    if (!was_broken_off) {
      return absl::FailedPreconditionError(
          fmt::format("{} is not empty (it has '{}'): choose an empty directory, or one that is not there",
                      directory, Printable(entry.name)));
    }
    if (entry.name == kRestorePart) continue;  // it is the mark, so it goes last
    const std::string path = directory + "/" + entry.name;
    status = entry.is_directory ? RemoveTree(files, path) : files->Remove(path);
    if (!status.ok()) return status;
  }
  const std::string part = fmt::format("{}/{}", directory, kRestorePart);
  status = RemoveTree(files, part);
  if (status.ok()) status = files->MakeDirectory(part);
  return status.ok() ? files->SyncDirectory(directory) : status;
}

absl::Status CopyFile(const Repository& repository, const Manifest& manifest, const ManifestFile& file,
                      const std::string& to_path, Transfer* transfer) {
  const std::string blob = repository.BlobPath(file.sha256);
  absl::StatusOr<std::unique_ptr<InputFile>> from = repository.files()->Open(blob);
  if (absl::IsNotFound(from.status())) {
    if (absl::Status status = repository.Read(manifest.id).status(); !status.ok()) return status;
    return absl::DataLossError(
        fmt::format("{} is missing, which backup {} needs for {}", blob, manifest.id, file.path));
  }
  if (!from.ok()) return from.status();
  absl::StatusOr<std::unique_ptr<OutputFile>> to = repository.files()->CreateNew(to_path);
  if (!to.ok()) return to.status();
  const absl::StatusOr<Transfer::Copied> copied = transfer->Copy(from->get(), to->get());
  if (!copied.ok()) return copied.status();
  if (copied->sha256 == file.sha256 && copied->bytes == file.bytes) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("{} is not as it was written; backup {} needs it for {}", blob, manifest.id, file.path));
}

// Moves the restored entries to their place, and makes the directory a data directory as the last step.
absl::Status MoveIntoPlace(FileSystem* files, const std::string& part, const std::string& directory) {
  const absl::StatusOr<std::vector<FileFacts>> entries = files->List(part);
  if (!entries.ok()) return entries.status();
  if (std::ranges::find(*entries, kFormatFile, &FileFacts::name) == entries->end()) {
    return absl::DataLossError(fmt::format("The backup has no {}: it is no data directory", kFormatFile));
  }
  const auto move = [&](std::string_view name) {
    return files->Rename(fmt::format("{}/{}", part, name), fmt::format("{}/{}", directory, name));
  };
  for (const FileFacts& entry : *entries) {
    if (entry.name == kFormatFile) continue;
    if (absl::Status status = move(entry.name); !status.ok()) return status;
  }
  absl::Status status = files->SyncDirectory(directory);
  if (status.ok()) status = move(kFormatFile);
  if (status.ok()) status = files->SyncDirectory(directory);
  if (status.ok()) status = files->Remove(part);
  return status.ok() ? files->SyncDirectory(directory) : status;
}

}  // namespace

absl::Status CopyBackupFiles(const Repository& repository, const Manifest& manifest,
                             const std::string& directory, const TransferOptions& options) {
  FileSystem* const files = repository.files();
  Transfer transfer(options);
  std::set<std::string> directories = {directory};
  for (const ManifestFile& file : manifest.files) {
    for (size_t slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      const std::string below = fmt::format("{}/{}", directory, file.path.substr(0, slash));
      if (!directories.insert(below).second) continue;
      if (absl::Status status = files->MakeDirectory(below); !status.ok()) return status;
    }
    const std::string to = fmt::format("{}/{}", directory, file.path);
    if (absl::Status status = CopyFile(repository, manifest, file, to, &transfer); !status.ok())
      return status;
  }
  for (const std::string& each : directories) {
    if (absl::Status status = files->SyncDirectory(each); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RestoreBackup(const Repository& repository, const Manifest& manifest,
                           const std::string& directory,
                           const std::function<absl::Status(const std::string& restored)>& check,
                           const TransferOptions& options) {
  if (directory.empty()) return absl::InvalidArgumentError("The data directory's name is empty");
  FileSystem* const files = repository.files();
  const std::string absolute = AbsoluteOf(directory);
  if (absl::Status status = Prepare(files, absolute); !status.ok()) return status;
  const std::string part = fmt::format("{}/{}", absolute, kRestorePart);
  absl::Status status = CopyBackupFiles(repository, manifest, part, options);
  if (status.ok()) status = check(part);
  return status.ok() ? MoveIntoPlace(files, part, absolute) : status;
}

}  // namespace sonde
