// A row as it was read from HBase, whole, with its version: what guarded changes are made of.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/packed/packed_row.h"
#include "engine/hbase/stored_cells.h"
#include "engine/row_store.h"
#include "hbase/client.h"

namespace sonde {

// Which cells of a row are wanted.  Others may come, too.
struct StoredChoice {
  std::vector<hbase::QualifierRange> qualifiers;  // none: no cells
  bool with_expiring = false;                     // some are of expiring families
  TimeRange time_range = {};
  std::optional<int64_t> newest_per_column = std::nullopt;  // of those in time_range
  bool keys_only = false;                                   // values come empty
  CellStorage storage = CellStorage::kPlain;  // of the table; packed cells of these families come, too
};

// The cells that a reader with these hints wants.
StoredChoice ChoiceOf(const ReadHints& hints, CellStorage storage);

// Whether a reader with these hints may get cells of the family: cells of expiring ones are for those who name them.
bool MayGive(const ReadHints& hints, FamilyId family);

// Leaves out the cells that the hints' columns, times and count do not ask for: of the cells that stand for packed ones HBase may have been
// asked for less.
void KeepAsked(const ReadHints& hints, std::vector<RowFamily>* families);

// The same as HBase is asked for them; `reverse`: by a scan in reverse.
hbase::CellChoice HBaseChoiceOf(const StoredChoice& choice, bool reverse = false);

class StoredRow {
 public:
  StoredRow() = default;
  StoredRow(StoredRow&&) = default;
  StoredRow& operator=(StoredRow&&) = default;

  // By family, and there in the order of cells.
  const std::vector<SeamCell>& cells() const { return cells_; }
  // The packed cells, which are among cells() but where the row has the same cell by itself.
  const PackedRow& packed() const { return packed_; }
  // Empty: it has none.
  const std::string& version() const { return version_; }
  // As stored (log/stored_log.h).  Empty: it has none.
  const std::string& newest_record() const { return newest_record_; }
  // The same cells, a family each; they view this.
  std::vector<RowFamily> Families() const;

  // The next cell of the row, in HBase's order; copied.  DATA_LOSS: it is none of Sonde's.
  absl::Status Add(const hbase::Cell& cell);
  // After the last one.  DATA_LOSS: a packed value is damaged.
  absl::Status Finish();
  // Takes what belongs to the row as a whole from another reading of it.
  void SetVersionOf(const StoredRow& other) {
    version_ = other.version_;
    newest_record_ = other.newest_record_;
  }

 private:
  std::deque<std::string> bytes_;  // what cells_ view
  std::vector<SeamCell> cells_;
  PackedRow packed_;
  std::string version_;
  std::string newest_record_;
};

// Reads cells of a row, which nobody has changed since the version that comes with them.
//  NOT_FOUND            there is no such table
//  FAILED_PRECONDITION  the cells come to more than kRowWholeBytesMax (model/limits.h)
//  others               as RowScan
absl::StatusOr<StoredRow> ReadStoredRow(hbase::Client* client, const hbase::TableName& table,
                                        std::string_view row_key, const StoredChoice& choice,
                                        absl::Time deadline);

}  // namespace sonde
