// Removes backups that are not to be kept, and the blobs that only they needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"

namespace sonde {

// The newest backup of each of the last so many days, and of each of the last so many weeks (from Monday on), that have one: in
// UTC, and for each store and each table by itself.
struct KeepPolicy {
  int daily = 0;
  int weekly = 0;
};

// Returns the ids of the manifests to keep.
std::vector<std::string> ChooseBackups(const std::vector<Manifest>& manifests, const KeepPolicy& policy);

// A blob, or a file that is not done, stays for so long even if nobody names it: its backup may be on its way, from a machine that
// cannot see the lock.
constexpr absl::Duration kUnnamedKept = absl::Hours(24);

struct PruneOptions {
  KeepPolicy keep;
  bool is_dry_run = false;  // nothing is removed, only counted
};

struct PruneReport {
  std::vector<std::string> kept, removed;  // ids of backups
  uint64_t blobs_removed = 0;
  uint64_t bytes_removed = 0;
};

// Manifests go first, and durably; then blobs.  INVALID_ARGUMENT: the policy keeps nothing.  DATA_LOSS: a manifest is damaged, so
// that nobody knows which blobs it needs; nothing is removed.  FAILED_PRECONDITION: another process has the lock.
absl::StatusOr<PruneReport> PruneRepository(const Repository& repository, const PruneOptions& options);

}  // namespace sonde
