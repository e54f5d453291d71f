// The cells of one family that pages hold, in the order of rows.
//
// It reads no more pages than the hints ask for.  Pages of other times, of other columns, and of versions
// past the newest ones are passed over by their entries in the directory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cellblock/page_cursor.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/directory.h"
#include "engine/row_store.h"
#include "model/cell.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

// The stream of a family.  A row that lies in several pages comes in several pieces, in the order of its
// cells.  Not for several threads.
class PageStream {
 public:
  struct Options {
    FamilyId family = 0;
    bool reverse = false;
    absl::Time deadline = absl::InfiniteFuture();
    // As in RowStore::ScanOptions; null: none.  They must outlive the stream.
    const std::function<absl::Status()>* interrupted = nullptr;
    const std::function<absl::Status(size_t)>* take_large = nullptr;
    ScanCost* cost = nullptr;  // as in RowStore::ScanOptions; pages are counted here
  };

  // All arguments must outlive this.  `directory` must be of the same snapshot; streams that take turns may
  // share it.
  PageStream(const CellStore* store, const rocksdb::Snapshot* snapshot, DirectoryCursor* directory,
             const ReadHints* hints, Options options)
      : store_(store), snapshot_(snapshot), directory_(directory), hints_(hints), options_(options) {}
  ~PageStream();

  FamilyId family() const { return options_.family; }

  // Goes to the place before the first piece of `rows`.
  absl::Status Start(RowRange rows);
  // Goes to the next piece.  Returns false if there is none.  Errors: DATA_LOSS, DEADLINE_EXCEEDED, those of
  // the disk.
  absl::StatusOr<bool> Next();

  // The current piece.  Its views hold until the next call of Next or Start.  The caller may take the cells.
  RowPiece& piece() { return split_ != nullptr ? split_->piece() : piece_; }
  // The least place where the next piece of this row begins; null: no piece of the row follows.
  const ParsedPageKey* row_goes_on_at() const;

 private:
  absl::StatusOr<bool> NextPage();
  absl::StatusOr<bool> OpenEntry(RowRange rows);
  absl::StatusOr<bool> NextOfSplit();
  absl::Status StartSplit();
  bool Skips(const DirectoryEntry& entry) const;
  bool SkipsColumns(const DirectoryEntry& entry) const;
  void RememberLastColumn();
  void Leave();

  const CellStore* const store_;
  const rocksdb::Snapshot* const snapshot_;
  DirectoryCursor* const directory_;
  const ReadHints* const hints_;
  const Options options_;

  RowRange rows_;               // in reverse, its end moves down as rows are done
  DirectoryEntryRef entry_;     // the entry of page_
  DirectoryEntryRef neighbor_;  // the entry of the page that comes next
  std::unique_ptr<OpenPage> page_;
  std::optional<PageCursor> cursor_;  // of page_
  bool is_page_done_ = true;          // cursor_ has no more rows
  RowPiece piece_;

  // In reverse: the first row of page_ began in an earlier page, so that row is read forward.
  bool split_follows_ = false;
  std::unique_ptr<PageStream> split_;

  // The last column of the last piece.
  std::string last_row_, last_qualifier_;
  int64_t last_count_ = 0;
};

}  // namespace sonde
