// Settles edits of one family: merges them, with the pages that they touch, into new pages.
//
// It goes along the old pages and the edits together, in order.  A page that holds, or would hold, a cell
// that an edit touches is read and made again.  All other pages stay, and are not read.  So if a row lies in
// many pages, only those in which something changes are rewritten.  Edits between two pages become pages of
// their own.  But if a neighbour is small (kSmallerThan), it is made again with them.  That bounds both how
// often a cell is rewritten and how many small pages there are.
//
// Not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cellblock/fragment.h"
#include "cellblock/page_cursor.h"
#include "engine/rocks/settle/page_output.h"
#include "engine/rocks/store/directory.h"
#include "gc/gc_rule_evaluator.h"

namespace sonde {

// The edits of a row, packed.
struct RowEdits {
  std::string_view row_key;
  absl::InlinedVector<std::string_view, 1> fragments;  // oldest first
  size_t cells = 0;  // puts and adds; an upper bound if there are several fragments
};

class FamilySettling {
 public:
  struct Counts {
    uint64_t cells_in = 0;         // of edits
    uint64_t pages_old = 0;        // made again
    uint64_t cells_old = 0;        // of pages_old
    uint64_t bytes_old = 0;        // of pages_old
    uint64_t cells_forgotten = 0;  // by the rule of garbage collection
    uint64_t bytes_forgotten = 0;  // their qualifiers and values
    PageOutput::Counts out;
  };

  // All arguments must outlive this.  `directory` must be of the present; nobody else may change pages
  // meanwhile.
  FamilySettling(const CellStore* store, DirectoryCursor* directory, FamilyId family,
                 const GcRuleEvaluator& rule, PageLimits limits, rocksdb::WriteBatch* batch);

  // `write_part` writes the batch, and is called where nothing in it is half done.  The batch may be written
  // in parts only if no edit adds: such edits may lie in pages and in the head at once.
  void set_write_part(std::function<absl::Status()> write_part);

  // Run and Rewrite: call one of them, once.  Changes go to the batch, which is of no use after an error.
  // `rows` must ascend.  DATA_LOSS: a page is damaged, or pages of the family overlap, as no undamaged ones do.
  absl::Status Run(absl::Span<const RowEdits> rows);
  // Makes a page again, without what the rule forgets.
  absl::Status Rewrite(const DirectoryEntryRef& page);
  Counts counts() const;

 private:
  // An old page that is being made again, with its rows that were not copied yet.
  struct OldPage {
    DirectoryEntryRef entry;
    std::unique_ptr<OpenPage> page;
    std::unique_ptr<PageCursor> cursor;
    RowPiece row;
    bool has_row = false;

    absl::Status Step();
  };
  // A place in a row.  Bounds of cells: not before `begin`, and before `end`; nothing is no bound.
  struct Place {
    std::string_view qualifier;
    int64_t timestamp_micros = 0;
  };
  struct Stretch {
    std::optional<Place> begin, end;
  };

  // A cell of the output.
  struct LastCell {
    std::string row_key;
    std::string qualifier;
    int64_t timestamp_micros = 0;
  };

  absl::Status AddRow(size_t index);
  absl::Status GoTo(size_t index);
  absl::Status AddToPages(size_t index);
  absl::Status AddBefore(std::string_view row_key, const DirectoryEntry& first, Stretch* stretch);
  absl::Status AddToPage(std::string_view row_key, const FragmentEdits& edits);
  absl::Status MergePastRow(size_t index);
  absl::Status End();

  absl::Status Open(const DirectoryEntryRef& entry, size_t index);
  absl::Status CopyBefore(std::optional<std::string_view> row_key);
  absl::Status CheckOrder(std::string_view row_key, const std::vector<CellView>& cells);
  absl::Status Emit(std::string_view row_key, std::vector<CellView>* cells);
  absl::StatusOr<std::vector<DirectoryEntryRef>> PagesOf(std::string_view row_key);
  static Place PlaceOf(const DirectoryEntry& entry) {
    return {entry.first.qualifier, entry.first.timestamp_micros};
  }
  FragmentEdits EditsIn(const Stretch& stretch);
  bool Deletes(const Stretch& stretch) const;
  bool IsWorthMerging(const DirectoryEntry& neighbor, size_t new_cells) const;
  size_t CellsBefore(size_t index, const DirectoryEntryRef& next) const;
  void Divide(size_t cells);

  const CellStore* const store_;
  DirectoryCursor* const directory_;
  const FamilyId family_;
  const GcRuleEvaluator rule_;
  const PageLimits limits_;
  rocksdb::WriteBatch* const batch_;
  PageOutput output_;
  const TableShapes shapes_;

  absl::Span<const RowEdits> rows_;
  std::optional<OldPage> open_;
  // The first old page behind the pages that were made.
  DirectoryEntryRef next_;
  std::string done_key_;          // the last row key of the last page that was made again
  std::optional<LastCell> last_;  // where the cells ended that went to the output; nothing before the first

  std::function<absl::Status()> write_part_;  // may be null
  FragmentsReader reader_;
  const Fragment* edits_ = nullptr;  // the row's edits
  std::deque<std::string> states_;
  std::vector<CellView> cells_;
  Counts counts_;
};

}  // namespace sonde
