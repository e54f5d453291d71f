// Adds a backup to a repository: copies the files that it does not have, then writes the manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"
#include "backup/repository/transfer.h"

namespace sonde {

// A file of a copy of a store, which nobody changes.
struct CopiedFile {
  std::string path;  // as in the manifest
  std::string from;  // where it is now
  uint64_t bytes = 0;
  std::optional<uint32_t> crc32c;  // where the store knows it
};

// A copy of a store; the fields as in the manifest.
struct CopiedStore {
  std::string server;
  absl::Time moment;
  std::string store;
  std::string table;
  std::vector<std::string> tables;
  std::optional<JournalPlace> journal = std::nullopt;
  std::vector<CopiedFile> files;
};

struct CreatedBackup {
  Manifest manifest;
  uint64_t files_copied = 0;
  uint64_t bytes_copied = 0;  // that the repository did not have
  uint64_t bytes_found = 0;   // that it had
};

// A file that an earlier backup of this store names with its path, bytes and CRC-32C is found without being read.  Any other file is
// read; if the repository has its content, nothing is kept of the copy.  When this returns OK, the backup survives the loss of
// power.  After an error there is no new backup; the blobs that were copied serve the next one.
// FAILED_PRECONDITION: another process has the lock.  INVALID_ARGUMENT: a file's path cannot stand in a manifest.  ABORTED: a file
// has changed, or the lock was taken over.  RESOURCE_EXHAUSTED: the repository's disk is full, or there are too many files.
absl::StatusOr<CreatedBackup> CreateBackup(const Repository& repository, const CopiedStore& copy,
                                           const TransferOptions& options = {});

}  // namespace sonde
