// Makes the pages of a stretch of a family's cells, and reads each back before it is stored: a fault in a
// codec must not outlive the cells that it was made of.
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
    uint64_t bytes = 0;  // of pages
  };

  // All must outlive it.  What is made goes to the batch.
  PageOutput(const CellStore* store, TableId table, FamilyId family, PageLimits limits,
             rocksdb::WriteBatch* batch)
      : store_(store), table_(table), family_(family), batch_(batch), writer_(limits) {}

  // Takes cells after all that it took before, in the order of pages.  INTERNAL: a page is not read as it was
  // written; nothing may be stored.
  absl::Status Add(std::string_view row_key, absl::Span<const CellView> cells);
  // Ends the page that is being filled, if there is one.
  absl::Status Finish();

  // Called whenever a page has ended; its error is that of Add and Finish.
  void set_after_page(std::function<absl::Status()> after_page) { after_page_ = std::move(after_page); }
  void set_cells_max(size_t cells_max) { writer_.set_cells_max(cells_max); }
  // Of the page that is being filled.
  size_t cells() const { return writer_.cells(); }
  const Counts& counts() const { return counts_; }

 private:
  absl::Status ReadBack(std::string_view page) const;

  const CellStore* const store_;
  const TableId table_;
  const FamilyId family_;
  rocksdb::WriteBatch* const batch_;
  PageWriter writer_;
  std::string key_;      // of the page that is being filled
  uint64_t digest_ = 0;  // of its cells, in order
  std::string page_;
  std::function<absl::Status()> after_page_;  // may be null
  Counts counts_;
};

}  // namespace sonde
