#include "engine/rocks/files/data_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/bytes.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/files/sync_directory.h"

namespace sonde {
namespace {

// The text of the file FORMAT, which names the directory's format.
constexpr std::string_view kFormatPrefix = "sonde data format ";

absl::StatusOr<int> ParseFormat(const std::string& path, std::string_view content) {
  int format = 0;
  const bool ours =
      content.starts_with(kFormatPrefix) &&
      std::from_chars(content.data() + kFormatPrefix.size(), content.data() + content.size(), format).ec ==
          std::errc() &&
      format > 0;
  if (!ours) {
    return absl::FailedPreconditionError(
        fmt::format("{}/FORMAT does not name a format of Sonde: '{}'", path, Printable(content)));
  }
  if (format > kFormat) {
    return absl::FailedPreconditionError(
        fmt::format("{} has data format {}, written by a newer Sonde; this one knows formats up to {}", path,
                    format, kFormat));
  }
  return format;
}

// Files that `sonde init` and `sonde auth` put into a directory before there is data in it.
bool IsOfOperator(std::string_view entry) {
  constexpr std::string_view kEntries[] = {"sonde.yaml", "auth.yaml", "audit.log", "certificates",
                                           "admin-key.json"};
  return std::find(std::begin(kEntries), std::end(kEntries), entry) != std::end(kEntries);
}

}  // namespace

absl::StatusOr<int> PrepareDataDirectory(rocksdb::Env* env, const std::string& path,
                                         rocksdb::FileLock** lock) {
  if (path.empty()) return absl::InvalidArgumentError("The data directory's name is empty");
  if (const rocksdb::Status status = env->CreateDirIfMissing(path); !status.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("The data directory {} cannot be made: {}", path, status.ToString()));
  }
  const std::filesystem::path absolute =
      std::filesystem::absolute(path + "/").lexically_normal().parent_path();
  if (absl::Status status = SyncDirectory(env, absolute.parent_path()); !status.ok()) return status;
  std::vector<std::string> entries;
  if (const rocksdb::Status status = env->GetChildren(path, &entries); !status.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("The data directory {} cannot be read: {}", path, status.ToString()));
  }
  const auto has = [&](std::string_view name) {
    return std::find(entries.begin(), entries.end(), name) != entries.end();
  };
  const bool is_new = !has("FORMAT");
  if (is_new) {
    // A crash between making the lock and the format leaves these alone.
    for (const std::string& entry : entries) {
      if (entry == "." || entry == ".." || entry == "LOCK" || entry == "FORMAT.new" ||
          entry == "lost+found" || entry.starts_with(kInventoryFile) || IsOfOperator(entry)) {
        continue;
      }
      return absl::FailedPreconditionError(
          fmt::format("{} holds something else (it has '{}' but no FORMAT file): choose an empty directory",
                      path, Printable(entry)));
    }
  }
  if (const rocksdb::Status status = env->LockFile(path + "/LOCK", lock); !status.ok()) {
    if (access(path.c_str(), W_OK) != 0) {
      return absl::FailedPreconditionError(fmt::format("The data directory {} cannot be written: {}", path,
                                                       std::generic_category().message(errno)));
    }
    return absl::FailedPreconditionError(
        fmt::format("The data directory {} is in use by another process, such as a running server", path));
  }
  if (is_new) {
    // From format 2 on there is always an inventory.
    absl::Status status = WriteInventory(env, path, {});
    if (status.ok()) status = WriteFormat(env, path);
    if (!status.ok()) return status;
    return kFormat;
  }
  std::string content;
  if (const rocksdb::Status status = rocksdb::ReadFileToString(env, path + "/FORMAT", &content);
      !status.ok()) {
    return FromRocks(status, fmt::format("Reading {}/FORMAT", path));
  }
  return ParseFormat(path, content);
}

absl::Status WriteFormat(rocksdb::Env* env, const std::string& path) {
  const std::string file = path + "/FORMAT", written = file + ".new";
  rocksdb::Status status =
      rocksdb::WriteStringToFile(env, fmt::format("{}{}\n", kFormatPrefix, kFormat), written,
                                 /*should_sync=*/true);
  if (status.ok()) status = env->RenameFile(written, file);
  if (!status.ok()) return FromRocks(status, fmt::format("Writing {}", file));
  return SyncDirectory(env, path);
}

}  // namespace sonde
