// The rows of a scan, as they come from HBase.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/hbase/packed/packed_merge.h"
#include "engine/hbase/stored_row.h"
#include "engine/row_store.h"
#include "hbase/client.h"
#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

// A row comes in the parts in which HBase sends it, and each part in a piece a family.  Its packed cells come first, are kept, and are
// merged with the others.  When HBase cannot go on with a row that has
// begun, because its region moved, the stream ends UNAVAILABLE (hbase/row_scan.h).
//
// Threads: not for several.
class HBaseStream final : public RowStream {
 public:
  // `ranges`: normal form.  `client` must outlive it.
  HBaseStream(hbase::Client* client, hbase::TableName table, CellStorage storage,
              std::vector<RowRange> ranges, RowStore::ScanOptions options);

  absl::StatusOr<bool> Next(RowPiece* piece) override;

 private:
  absl::Status CheckStop() const;
  // Opens the next range; false: there is none.
  bool Open();
  // Fills pieces_ with the next part of a row that has cells for this scan.  False: there is none.
  absl::StatusOr<bool> Fetch();
  // Fetches part_, unless one waits.  False: the range has ended.
  absl::StatusOr<bool> FetchPart();
  // Makes pieces of part_.
  absl::Status TakePart();
  // What the reader does not get.
  absl::Status CheckLarge(const hbase::Cell& cell);

  hbase::Client* const client_;
  const hbase::TableName table_;
  std::deque<RowRange> ranges_;  // that are not open yet
  const RowStore::ScanOptions options_;
  const StoredChoice choice_;

  RowRange range_;                        // that is open
  std::unique_ptr<hbase::RowScan> scan_;  // null: none is
  hbase::RowScan::Part part_;
  bool has_part_ = false;  // part_ is not taken yet
  PackedMerge packed_;
  std::deque<std::string> bytes_;  // of the part that is given
  std::deque<RowPiece> pieces_;    // of it, not yet given
};

}  // namespace sonde
