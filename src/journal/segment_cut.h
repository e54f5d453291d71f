// Cuts a segment of a journal from the change logs of tables and the events of the catalog: merges them by position.
//
// Memory: kCutChunkBytes in all, but one piece a table at least, and the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backup/journal/follower.h"
#include "backup/repository/file_system.h"
#include "catalog/schema_journal.h"
#include "engine/row_log.h"

namespace sonde {

constexpr size_t kCutChunkBytes = size_t{8} << 20;

struct CutRequest {
  RowLog* log = nullptr;
  const std::vector<SchemaEvent>& events;  // those at (after, through]
  std::vector<TableId> tables;
  std::string journal;
  int64_t after = 0;
  int64_t through = 0;  // no change will appear at or below it
  bool starts = false;
  uint64_t bytes_max = 0;  // it ends at a position behind which it has so many bytes
};

// Writes the segment to a new file, which is not synced.  It is empty, with `last` at `after`, if `through` is not behind that.
// UNAVAILABLE: a table was dropped meanwhile.  Otherwise as the log and the files.
absl::StatusOr<CutSegment> CutSegmentOf(const CutRequest& request, FileSystem* files,
                                        const std::string& path);

}  // namespace sonde
