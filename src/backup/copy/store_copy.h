// Copies of a store, or of one of its tables, for a repository of backups.
//
// A copy of a whole store is a checkpoint: hard links, of one moment.  A copy of one table is written anew from the table's pages,
// since files of a checkpoint have rows of several tables.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/repository/create_backup.h"
#include "backup/repository/file_system.h"
#include "backup/repository/manifest.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"

namespace sonde {

// A checkpoint of all tables, in a directory of its own below the store's.
struct Checkpointed {
  std::string directory;
  absl::Time moment;                // all changes that were acknowledged before are in it
  std::vector<std::string> tables;  // their names
  std::optional<JournalPlace> journal = std::nullopt;
};

// Makes the checkpoint in DATA_DIR/snapshots/NAME.part; if nobody removes it, the next start does.  `random` makes the name.  The
// backups of the API (their records and snapshots) are not part of it.  Errors: as RocksEngine::Checkpoint.
absl::StatusOr<Checkpointed> CheckpointStore(RocksEngine* engine, const std::string& data_dir,
                                             RandomSource* random);

// Describes the files of a checkpoint for a backup.  Checksums come from the inventory of `data_dir`, as far as it knows them.
absl::StatusOr<CopiedStore> DescribeCheckpoint(FileSystem* files, const Checkpointed& checkpoint,
                                               const std::string& data_dir, const std::string& version);

// Makes a store that has one table of a checkpoint, with its views and schema bundles, but without its change log and change
// stream.  The checkpoint is moved below `work`, which must not be there and is on the same disk, and is used up.  The files that the
// answer names are below `work`.  NOT_FOUND: there is no such table.  Errors: as RocksEngine::Open and Snapshots::Restore.
absl::StatusOr<CopiedStore> ExtractTable(FileSystem* files, const Checkpointed& checkpoint,
                                         const std::string& table, const std::string& work,
                                         const std::string& version);

}  // namespace sonde
