// Rows of a range of a table, in order, over all of its regions.
//
// A row is one snapshot, also where it comes in several parts.  The scan as a whole is not.  When a server or a region goes away
// between rows, the scan goes on behind the last row; in the middle of a row it cannot, as nobody has the snapshot any more.
//
// Threads: not for several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hbase/call/servers.h"
#include "hbase/regions.h"
#include "hbase/scanner.h"

namespace sonde::hbase {

struct RowScanOptions {
  absl::Duration timeout =
      absl::Seconds(5);  // of one call; a server tells after half of it that it still searches
  ScanBounds bounds;
};

class RowScan {
 public:
  // Some cells of a row, with views into what the scan holds until the next call of Next.
  struct Part {
    std::string_view row;
    absl::Span<const Cell>
        cells;  // family and qualifier ascending, timestamp descending, over all parts of the row
    bool is_last_of_row = false;  // false: it may be
  };

  // `range` as in ScanRange, of the whole table.
  RowScan(Servers* servers, Regions* regions, TableName table, ScanRange range, CellChoice choice,
          RowScanOptions options, absl::Time deadline);
  RowScan(const RowScan&) = delete;
  RowScan& operator=(const RowScan&) = delete;

  // False: there are no more rows.  After an error there is no next part.
  //  NOT_FOUND          there is no such table.
  //  UNAVAILABLE        the cluster does not answer, or a row was cut off in its middle: a new scan may have it whole.
  //  DEADLINE_EXCEEDED  there is no time left.
  //  DATA_LOSS          an answer is damaged.
  absl::StatusOr<bool> Next(Part* part);

  // How often a scanner was opened anew because the one before was lost.
  int reopened() const { return reopened_; }
  int heartbeats() const { return heartbeats_; }

 private:
  absl::Status Fetch();
  absl::StatusOr<Regions::Place> FindRegion();
  CallResult OpenScanner();
  // How long a call may take.
  absl::Duration TimeForOne() const;
  absl::Status TakeAnswer(CallResult result);
  // Sets where to go on after this region.  False: it was the last one.
  bool GoToNextRegion();
  // A call failed.  OK: the scan goes on, with a new scanner or the same call.
  absl::Status Recover(const Failure& failure);

  Servers* const servers_;
  Regions* const regions_;
  const TableName table_;
  ScanRange range_;  // what is left
  const CellChoice choice_;
  const RowScanOptions options_;
  const absl::Time deadline_;

  Regions::Place place_;              // of the region that is being read; null: it must be found
  std::unique_ptr<Scanner> scanner_;  // null: no call for more is needed, or possible
  bool region_has_more_ = false;
  bool is_at_end_ = false;
  std::optional<Attempts> attempts_;  // since the last answer
  int reopened_ = 0;
  int heartbeats_ = 0;

  Answer answer_;
  std::vector<Cell> cells_;  // of answer_
  std::vector<ScanAnswer::Part> parts_;
  size_t next_part_ = 0;
  size_t next_cell_ = 0;
  std::string last_row_;        // of the last part that was given
  bool has_given_ = false;      // last_row_ is set
  bool is_within_row_ = false;  // that part may not be the row's last
};

}  // namespace sonde::hbase
