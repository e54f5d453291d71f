// The packed cells of one row: as they come from HBase, as a reader sees them, and as bytes.
//
// Threads: not for several.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cellblock/fragment.h"
#include "hbase/wire/cell_block.h"
#include "model/cell.h"
#include "model/read_hints.h"

namespace sonde {

class PackedRow {
 public:
  struct Family {
    FamilyId family = 0;
    // Where its values are: all in b, then all in c, each in the order of qualifiers.
    struct Place {
      bool is_settled = false;  // in b; otherwise in c
      std::string qualifier;
    };
    std::vector<Place> places;
    std::vector<std::string_view> values;  // the same; of bytes that the row owns
    std::vector<CellView> cells;           // qualifier ascending, timestamp descending; after Read

   private:
    friend class PackedRow;
    FragmentsReader reader_;
  };

  PackedRow() = default;
  PackedRow(PackedRow&&) = default;
  PackedRow& operator=(PackedRow&&) = default;

  // Takes a packed cell of the row, in HBase's order, and copies it.  DATA_LOSS: it is none of Sonde's.
  absl::Status Add(const hbase::Cell& stored);
  // Makes `cells` of what was added.  Most of what the hints do not ask for is left out.  DATA_LOSS: a value is damaged.
  absl::Status Read(const ReadHints& hints);
  void Clear();

  bool is_empty() const { return families_.empty(); }
  // By id.  A family may have no cells.
  const std::vector<std::unique_ptr<Family>>& families() const { return families_; }

 private:
  std::deque<std::string> bytes_;
  std::vector<std::unique_ptr<Family>> families_;
};

// Cells of one family, in order, as one value.
std::string PackCells(FamilyId family, std::vector<CellView> cells);

// Whether `a` comes before `b`, of one family.
bool IsCellBefore(const CellView& a, const CellView& b);

}  // namespace sonde
