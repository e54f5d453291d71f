// Bugs, planted between a workload and an engine, or between an engine and its disk: a campaign that does not
// catch them is blind.  The engine itself has no switch for them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/rocks/rocks_engine.h"
#include "lossy_file_system.h"

namespace sonde {

enum class PlantedBug {
  kAckBeforeSync,            // syncs say that they are done, and are not
  kAckBeforeWrite,           // a write is acknowledged before the engine has it
  kForgottenDirectorySync,   // files are synced, their names are not
  kFailedSyncTakenForDone,   // one sync fails, and nobody is told
  kUpdateOutsideTheRowLock,  // reads, decides, then writes: others may come between
  kStaleReadInUpdate,        // decides on what the row was before its lock was taken
  kAddReadsAndPuts,          // adds by reading the sum and writing it
  kAppliedTwice,             // a batch is applied again, as a retry would
  kTornRow,                  // the families of a row are written one by one
  kTornLog,                  // a change and its record in the log are two commits
  kDeletedComesBack,         // what a row held before it was deleted is there again after a compaction
  kCompactionDropsLiveRow,   // a compaction drops a row that nobody deleted
  kGcDropsLiveVersion,       // garbage collection forgets one version more than its rule says
  kRestartReusesTimestamp,   // who gives timestamps begins from the start again after a restart
  kCopyMissesTheLog,         // a copy has what was in tables, but not what was only in the log
  kDroppedTableStays,        // a dropped table is there again after a restart
  kLastRecordCutOff,         // recovery cuts one whole record off the log with the torn one
  kBatchLostInTheMiddle,     // one write never reaches the engine
};

struct PlantedBugName {
  PlantedBug bug;
  std::string_view name;
};
const std::vector<PlantedBugName>& PlantedBugNames();
std::optional<PlantedBug> PlantedBugOf(std::string_view name);

// The engine with a bug that lies above it.  `engine` must outlive it.  `scratch_dir` is for files of its
// own.
std::unique_ptr<Engine> PlantAbove(PlantedBug bug, RocksEngine* engine, const std::string& scratch_dir);
// As RocksEngine::Checkpoint, with the bug.
absl::Status CheckpointWithBug(Engine* buggy, TableId table, const std::string& directory);
// What the bug does when the engine moves its data to where it rests.
absl::Status PlantInRest(PlantedBug bug, Engine* buggy);
// How many versions a rule that should keep so many keeps.
int PlantInRule(std::optional<PlantedBug> bug, int versions_kept);
// What the bug does to a data directory before it is opened again.
void PlantBeforeOpen(PlantedBug bug, const std::string& data_dir);
// For LossyFileSystem: bugs that lie below the engine.
LossyFileSystem::Lies LiesOf(std::optional<PlantedBug> bug);

}  // namespace sonde
