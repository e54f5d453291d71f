#include "engine/rocks/files/rocks_status.h"

#include <fmt/format.h>

#include "engine/rocks/files/open_files.h"

namespace sonde {

absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string text = fmt::format("{}: {}", doing, status.ToString());
  if (status.IsCorruption() || status.IsMergeInProgress()) return absl::DataLossError(text);
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(text);
  if (status.IsCompactionTooLarge()) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: the disk has no room for a compaction, which may write as much as it reads", doing));
  }
  if (status.IsMemoryLimit()) return absl::ResourceExhaustedError(text);
  if (status.IsTimedOut()) return absl::DeadlineExceededError(text);
  if (status.IsBusy() || status.IsTryAgain() || status.IsIncomplete() || status.IsShutdownInProgress()) {
    return absl::UnavailableError(text);
  }
  if (status.IsNotFound()) return absl::NotFoundError(text);
  if (status.IsInvalidArgument() || status.IsNotSupported()) return absl::InternalError(text);
  // An I/O error leaves the database read-only until it has recovered or is opened again.
  if (status.IsIOError()) return absl::UnavailableError(text);
  return absl::InternalError(text);
}

absl::Status FromRocksWrite(const rocksdb::Status& status, std::string_view doing) {
  const absl::Status converted = FromRocks(status, doing);
  if (!status.IsIOError() || !absl::IsUnavailable(converted)) return converted;
  // A new log is opened before anything is written.
  if (IsForWantOfDescriptors(status)) return converted;
  return absl::UnknownError(fmt::format(
      "{}; it may or may not have been applied, which is known when the directory is opened again",
      std::string(converted.message())));
}

}  // namespace sonde
