#include "backup/repository/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backup/repository/sha256_stream.h"
#include "base/bytes.h"

namespace sonde {
namespace {

constexpr std::string_view kMarkerText = "sonde backup format 1\n";
constexpr std::string_view kMarkerPrefix = "sonde backup format ";
constexpr size_t kMarkerBytesMax = 4096;
constexpr std::string_view kManifestSuffix = ".json", kPartSuffix = ".part";

// A number above 1: a newer version made the repository.
bool IsNewerMarker(std::string_view text) {
  if (!text.starts_with(kMarkerPrefix) || !text.ends_with('\n')) return false;
  const std::string_view number = text.substr(kMarkerPrefix.size(), text.size() - kMarkerPrefix.size() - 1);
  return !number.empty() && number != "0" &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string ParentOf(const std::string& path) {
  return std::filesystem::absolute(path + "/").lexically_normal().parent_path().parent_path().native();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Repository>> Repository::Open(const RepositoryTools& tools,
                                                             std::string directory, IfNone if_none) {
  if (directory.empty()) return absl::InvalidArgumentError("The repository's name is empty");
  std::unique_ptr<Repository> repository(new Repository(tools, WithoutSlash(std::move(directory))));
  absl::Status status = repository->Check();
  if (absl::IsNotFound(status) && if_none == IfNone::kMake) status = repository->Make();
  if (!status.ok()) return status;
  return repository;
}

absl::Status Repository::Check() const {
  const std::string marker = directory_ + "/SONDE-BACKUP";
  const absl::StatusOr<std::string> text = ReadFile(files(), marker, kMarkerBytesMax);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(
        fmt::format("{} is no repository of backups: it has no SONDE-BACKUP", directory_));
  }
  if (absl::IsResourceExhausted(text.status())) {
    return absl::DataLossError(
        fmt::format("{} is damaged: {}", marker, std::string(text.status().message())));
  }
  if (!text.ok()) return text.status();
  if (*text == kMarkerText) return absl::OkStatus();
  if (IsNewerMarker(*text)) {
    return absl::FailedPreconditionError(fmt::format(
        "{} says '{}': a newer Sonde wrote it; this one knows format 1", marker, Printable(*text)));
  }
  return absl::DataLossError(fmt::format("{} is damaged: it says '{}'", marker, Printable(*text)));
}

absl::Status Repository::Make() const {
  absl::Status status = files()->MakeDirectory(directory_);
  if (!status.ok()) return status;
  const absl::StatusOr<std::vector<FileFacts>> entries = files()->List(directory_);
  if (!entries.ok()) return entries.status();
  for (const FileFacts& entry : *entries) {
    // A making that was broken off may have left the second and third.
    if (entry.name == "lost+found" || entry.name == "blobs" || entry.name == "backups" ||
        entry.name == "SONDE-BACKUP.part") {
      continue;
    }
    return absl::FailedPreconditionError(
        fmt::format("{} holds something else (it has '{}' but no SONDE-BACKUP): choose an empty directory",
                    directory_, Printable(entry.name)));
  }
  status = files()->SyncDirectory(ParentOf(directory_));
  if (status.ok()) status = files()->MakeDirectory(blobs_path());
  if (status.ok()) status = files()->MakeDirectory(backups_path());
  if (status.ok()) status = WriteFile(files(), directory_ + "/SONDE-BACKUP", kMarkerText);
  return status.ok() ? files()->SyncDirectory(directory_) : status;
}

std::string Repository::ManifestPath(std::string_view id) const {
  return fmt::format("{}/{}{}", backups_path(), id, kManifestSuffix);
}

std::string Repository::BlobDirectory(std::string_view sha256) const {
  return fmt::format("{}/{}", blobs_path(), sha256.substr(0, 2));
}

std::string Repository::BlobPath(std::string_view sha256) const {
  return fmt::format("{}/{}", BlobDirectory(sha256), sha256);
}

absl::StatusOr<std::vector<std::string>> Repository::BackupIds() const {
  const absl::StatusOr<std::vector<FileFacts>> entries = files()->List(backups_path());
  if (!entries.ok()) return entries.status();
  std::vector<std::string> ids;
  for (const FileFacts& entry : *entries) {
    std::string_view name = entry.name;
    if (!name.ends_with(kManifestSuffix)) continue;
    name.remove_suffix(kManifestSuffix.size());
    if (IsBackupId(name)) ids.emplace_back(name);
  }
  return ids;
}

absl::StatusOr<Manifest> Repository::Read(std::string_view id) const {
  if (!IsBackupId(id)) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is no id of a backup, such as 20260102T030405.123456Z-0123abcd", Printable(id)));
  }
  const absl::StatusOr<std::string> text = ReadFile(files(), ManifestPath(id), kManifestBytesMax);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(fmt::format("{} has no backup {}", directory_, id));
  }
  if (!text.ok()) return text.status();
  return DecodeManifest(id, *text);
}

absl::StatusOr<Manifest> Repository::Find(std::string_view id) const {
  if (!id.empty()) return Read(id);
  const absl::StatusOr<std::vector<std::string>> ids = BackupIds();
  if (!ids.ok()) return ids.status();
  if (ids->empty()) return absl::NotFoundError(fmt::format("{} has no backups", directory_));
  return Read(ids->back());
}

absl::StatusOr<std::vector<std::string>> Repository::BlobDirectories() const {
  const absl::StatusOr<std::vector<FileFacts>> entries = files()->List(blobs_path());
  if (!entries.ok()) return entries.status();
  std::vector<std::string> directories;
  for (const FileFacts& entry : *entries) {
    if (entry.is_directory) directories.push_back(blobs_path() + "/" + entry.name);
  }
  return directories;
}

absl::StatusOr<std::map<std::string, FileFacts>> Repository::Blobs() const {
  const absl::StatusOr<std::vector<std::string>> directories = BlobDirectories();
  if (!directories.ok()) return directories.status();
  std::map<std::string, FileFacts> blobs;
  for (const std::string& directory : *directories) {
    const absl::StatusOr<std::vector<FileFacts>> entries = files()->List(directory);
    if (!entries.ok()) return entries.status();
    for (const FileFacts& entry : *entries) {
      if (IsSha256Hex(entry.name) && BlobDirectory(entry.name) == directory) blobs[entry.name] = entry;
    }
  }
  return blobs;
}

absl::StatusOr<std::vector<std::pair<std::string, FileFacts>>> Repository::Parts() const {
  std::vector<std::pair<std::string, FileFacts>> parts;
  for (const std::string& directory : {blobs_path(), backups_path()}) {
    const absl::StatusOr<std::vector<FileFacts>> entries = files()->List(directory);
    if (!entries.ok()) return entries.status();
    for (const FileFacts& entry : *entries) {
      if (!entry.is_directory && entry.name.ends_with(kPartSuffix))
        parts.emplace_back(directory + "/" + entry.name, entry);
    }
  }
  return parts;
}

}  // namespace sonde
