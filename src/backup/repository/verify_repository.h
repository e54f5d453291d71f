// Looks whether a repository is as it was written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backup/repository/repository.h"
#include "backup/repository/transfer.h"

namespace sonde {

// So many lines of damage are kept at most.
constexpr size_t kDamageLinesMax = 1'000;

struct VerifyOptions {
  std::string backup;  // the id of the only backup to look at; empty: all, and all blobs
  bool reads_data =
      false;  // whether the content of each blob is compared with its name; otherwise sizes only
  TransferOptions transfer;
};

struct VerifyReport {
  uint64_t backups_count = 0;
  uint64_t blobs_count = 0;     // that backups name
  uint64_t bytes = 0;           // of these
  uint64_t unnamed_count = 0;   // blobs that no backup names
  uint64_t segments_count = 0;  // of journals (backup/journal)
  uint64_t segment_bytes = 0;
  uint64_t damage_count = 0;
  std::vector<std::string> damage;  // a line each, which names the file; the first kDamageLinesMax
};

// Damage is in the report.  A backup that is removed meanwhile is passed over.  Errors: the repository cannot be read, or a newer
// Sonde wrote a manifest.  NOT_FOUND: there is no such backup.
absl::StatusOr<VerifyReport> VerifyRepository(const Repository& repository, const VerifyOptions& options);

}  // namespace sonde
