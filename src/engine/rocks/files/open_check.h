// Before RocksDB opens a database for writing: is all there that was acknowledged?  RocksDB itself takes much
// damage for the traces of a crash, and deletes what it then does not need (docs/reliability.md).
//
// Checked, without changing anything: CURRENT names a MANIFEST that is at least as far as the inventory says;
// that the MANIFEST and the logs it needs are whole, but for a torn tail of the last; that the live tables
// are there with their sizes, and are those of the inventory if the MANIFEST has not moved on; that the logs
// follow each other without a gap in sequence numbers, and reach the inventory's.  Only then a torn tail,
// which was never acknowledged, is cut off, so that RocksDB can be strict.
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
  // kAbsoluteConsistency; or kPointInTimeRecovery after a session that did not sync its writes and whose log
  // has a hole behind what was synced: what follows the hole was allowed to be lost.
  rocksdb::WALRecoveryMode recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  // What RocksDB says of a table that it cannot open: the database can be opened all the same, if tables are
  // opened when they are needed (OpenTablesLater); what lies in that one is DATA_LOSS then.
  std::optional<std::string> damaged_table;
  struct Note {
    TellLevel level;
    std::string text;
  };
  std::vector<Note> notes;  // what was left out: kInfo, nobody was promised it
};

// `known`: what the inventory says of the database, none when it does not know it (a directory of format 1,
// or one that was never opened to the end).  DATA_LOSS: damaged; names the file.
absl::StatusOr<OpenPlan> CheckBeforeOpen(rocksdb::Env* env, const std::string& data_dir,
                                         const std::string& name,
                                         const std::optional<DatabaseInventory>& known, bool synced);

// So that one table that cannot be opened does not keep the others from being read.
void OpenTablesLater(rocksdb::DBOptions* options);

}  // namespace sonde
