// The last steps of a restore: a whole store is checked; one table goes into a store that is there.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/manifest.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"

namespace sonde {

struct CheckedStore {
  uint64_t tables_count = 0;
  uint64_t files_bytes = 0;  // that were read
  // Backups of the API whose records the store had: they lived beside it, so that they are gone, and their records are removed.
  uint64_t backups_removed = 0;
};

// The fate of a store's journal.  A restored store has none; one that is to be brought to a later moment needs it until then.
enum class JournalRecords { kForget, kKeep };

// Opens restored files, and reads all of them.  DATA_LOSS: a file is damaged, or the tables are not those of the manifest.  Otherwise
// as RocksEngine::Open.
absl::StatusOr<CheckedStore> CheckRestored(const std::string& directory, const Manifest& manifest,
                                           JournalRecords journal = JournalRecords::kForget);

// Where the files of a backup come for AddTableOfCopy.  `copy`: 1 to 128 letters, digits, '-', '_'.
std::string CopyDirectory(const std::string& data_dir, const std::string& copy);

// Adds a table of a copy to the store of `data_dir`, under the name `as`: with its families and their rules, without protection and
// change stream.  The copy is a whole store or a table, in CopyDirectory; it is used up, also by an error, and by a crash at the next
// start.  INVALID_ARGUMENT: a name is none.  NOT_FOUND: there is no such copy, or it has no such table.  ALREADY_EXISTS: the name `as`
// is in use.  DATA_LOSS: the copy is damaged.  After an error there is no new table.
absl::StatusOr<TableSchemaRef> AddTableOfCopy(RocksEngine* engine, Catalog* catalog,
                                              const std::string& data_dir, const std::string& copy,
                                              const std::string& source_table, const std::string& as);

}  // namespace sonde
