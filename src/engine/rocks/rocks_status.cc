#include "engine/rocks/rocks_status.h"

#include <fmt/format.h>

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

}  // namespace sonde
