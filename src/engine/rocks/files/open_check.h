// Checks, before RocksDB opens a database for writing, that all acknowledged writes are there.  RocksDB
// itself takes much damage for the traces of a crash, and deletes the files that it then does not need
// (docs/reliability.md).
//
// These things are checked, without changing anything:
// - CURRENT names a MANIFEST that is at least as long as the inventory says.
// - The MANIFEST and the logs that it needs are whole, but for a torn tail of the last one.
// - The live tables exist with their sizes, and are the inventory's if the MANIFEST has not moved on.
// - The logs follow each other without a gap in sequence numbers, and reach the inventory's.
// Only then a torn tail, which was never acknowledged, is cut off, so that RocksDB can be strict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/tell.h"
#include "rocksdb/options.h"

namespace sonde {

struct OpenPlan {
  // kAbsoluteConsistency, but for a log with a hole behind its synced part, after a session that did not sync
  // its writes. That is kPointInTimeRecovery: the writes behind the hole were allowed to be lost.
  rocksdb::WALRecoveryMode recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  // RocksDB's words on a table that it cannot open.  The database can be opened all the same if tables are
  // opened when they are needed (OpenTablesLater); the rows in that table are DATA_LOSS then.
  std::optional<std::string> damaged_table;
  struct Note {
    TellLevel level;
    std::string text;
  };
  std::vector<Note> notes;  // about parts that were left out; kInfo: they were promised to nobody
};

// `known` is what the inventory says of the database.  It is empty if the inventory does not know the
// database (a directory of format 1, or one that was never opened to the end).  DATA_LOSS: it is damaged; the
// text names the file.
absl::StatusOr<OpenPlan> CheckBeforeOpen(rocksdb::Env* env, const std::string& data_dir,
                                         const std::string& name,
                                         const std::optional<DatabaseInventory>& known, bool synced);

// Lets tables be opened when they are needed, so that a damaged one does not keep the others from being read.
void OpenTablesLater(rocksdb::DBOptions* options);

}  // namespace sonde
