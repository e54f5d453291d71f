// Brings a copy of a store to a later moment: applies the changes of a journal behind the copy.
//
// Changes are applied in their order, each once: the copy's own change logs tell which of the changes near its moment it has.  Rows of
// tables without a journal stay as the copy has them.  A change of a family that its table does not have any more is passed over: it was
// under way while the family was dropped.
//
// Memory: kReplayBytesMax of changes, or one change that is larger.
// Threads: an object is for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/journal/journal_chain.h"
#include "backup/journal/segment.h"
#include "backup/repository/file_system.h"
#include "backup/repository/manifest.h"
#include "catalog/catalog.h"
#include "engine/engine.h"

namespace sonde {

constexpr size_t kReplayBytesMax = size_t{8} << 20;
constexpr int kChainsMax = 100;

struct ReplayReport {
  uint64_t row_changes = 0;
  uint64_t schema_changes = 0;
  std::vector<std::string> without_journal;  // names of tables that are as the copy has them
};

class JournalReplay {
 public:
  // `place` is the copy's; `to` the last position that is applied, at or behind place.through_micros.  The engine must outlive this,
  // and nobody else uses it.
  static absl::StatusOr<std::unique_ptr<JournalReplay>> Open(Engine* engine, JournalPlace place, int64_t to);

  // The chain of segments behind a position.
  using FindChain = absl::FunctionRef<absl::StatusOr<SegmentChain>(int64_t after)>;
  // Applies the segments of the chain behind the copy; reads those that it applies to their ends.  Then the store knows no journal any
  // more.  A follower may merge segments meanwhile: if one of the chain is gone, the chain is found again behind what is applied.
  // DATA_LOSS: a segment is damaged, or a change in it is.  OUT_OF_RANGE: `to` lies in a gap, or the chain ends before it.  NOT_FOUND:
  // kChainsMax chains were found whose first segment was gone.  After an error the store is of no use.
  absl::StatusOr<ReplayReport> Run(FileSystem* files, FindChain find_chain);

 private:
  // A change of a row whose pieces are being gathered, or that waits to be applied.
  struct Change {
    int64_t position = 0;
    std::vector<std::string> pieces;
  };

  JournalReplay(Engine* engine, JournalPlace place, int64_t to)
      : engine_(engine), place_(std::move(place)), to_(to), done_(place_.from_micros) {}
  absl::Status OpenCatalog();
  // Applies a chain as far as its segments are there.
  absl::Status ApplyChain(FileSystem* files, const SegmentChain& chain);
  absl::Status ApplySegment(const SegmentFile& segment, SegmentReader* reader);
  absl::Status Apply(const SegmentRecord& record);
  absl::Status ApplyPiece(const SegmentRecord& record);
  absl::Status ApplySchema(const SegmentRecord& record);
  // Whether the copy has this change.
  absl::StatusOr<bool> IsInCopy(TableId table, int64_t position) const;
  // Applies what has been gathered.
  absl::Status Flush();
  absl::Status Flush(const TableSchema& schema, const std::vector<Change>& changes);
  // Of a table, also a deleted one; null: it was dropped.
  TableSchemaRef FindSchema(TableId table) const;
  absl::Status CheckNoHalf() const;

  Engine* const engine_;
  const JournalPlace place_;
  const int64_t to_;
  int64_t done_;  // all up to it is applied by earlier segments
  std::unique_ptr<Catalog> catalog_;
  std::map<TableId, std::vector<Change>> waiting_;
  size_t waiting_bytes_ = 0;
  TableId half_table_ = 0;  // of half_
  Change half_;             // no pieces: there is none
  ReplayReport report_;
};

}  // namespace sonde
