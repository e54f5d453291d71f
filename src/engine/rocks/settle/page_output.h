// Makes the pages of a stretch of a family's cells.  Each page is read back before it is stored, as a fault
// in a codec must not outlive the cells that the page was made from.  Not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cellblock/page_writer.h"
#include "engine/rocks/store/cell_store.h"
#include "rocksdb/write_batch.h"

namespace sonde {

class PageOutput {
 public:
  struct Counts {
    uint64_t pages = 0;
    uint64_t cells = 0;
    uint64_t bytes = 0;  // of the pages
  };

  // All arguments must outlive this.  Pages go to the batch.
  PageOutput(const CellStore* store, TableId table, FamilyId family, PageLimits limits,
             rocksdb::WriteBatch* batch)
      : store_(store), table_(table), family_(family), batch_(batch), writer_(limits) {}

  // Adds cells that come after all earlier ones, in the order of pages.  INTERNAL: a page does not read as it
  // was written; nothing may be stored.
  absl::Status Add(std::string_view row_key, absl::Span<const CellView> cells);
  // Ends the current page, if there is one.
  absl::Status Finish();

  // Called whenever a page has ended.  Its error becomes that of Add or Finish.
  void set_after_page(std::function<absl::Status()> after_page) { after_page_ = std::move(after_page); }
  void set_cells_max(size_t cells_max) { writer_.set_cells_max(cells_max); }
  // Cells of the current page.
  size_t cells() const { return writer_.cells(); }
  const Counts& counts() const { return counts_; }

 private:
  absl::Status ReadBack(std::string_view page) const;

  const CellStore* const store_;
  const TableId table_;
  const FamilyId family_;
  rocksdb::WriteBatch* const batch_;
  PageWriter writer_;
  std::string key_;      // the current page's key
  uint64_t digest_ = 0;  // the digest of the current page's cells, in order
  std::string page_;
  std::function<absl::Status()> after_page_;  // may be null
  Counts counts_;
};

}  // namespace sonde
