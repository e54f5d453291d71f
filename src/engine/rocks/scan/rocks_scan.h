// Scans rows in order, merged from the heads and the pages.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellblock/fragment.h"
#include "engine/engine.h"
#include "engine/rocks/scan/head_cursor.h"
#include "engine/rocks/scan/page_stream.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/directory.h"
#include "engine/rocks/store/shape_dictionary.h"

namespace sonde {

// A range is merged from a cursor for each head and a page stream for each family.  If a range is a single
// row and its families are known, the heads are looked up by key instead: Bloom filters answer for most rows
// that do not exist.  A row that only pages hold is handed out as it is.  A row that lies in several pages
// comes page by page.  Not for several threads.
class RocksScan final : public RowStream {
 public:
  // `store` must outlive it.
  RocksScan(const CellStore* store, TableId table, std::vector<RowRange> ranges, Engine::ScanOptions options);

  absl::StatusOr<bool> Next(RowPiece* piece) override;

 private:
  absl::StatusOr<bool> FindNext(RowPiece* piece);

  enum class State { kBetweenRanges, kLookingUp, kMerging };

  // A stream, and whether it is at a piece.
  struct Source {
    std::unique_ptr<PageStream> stream;
    bool valid = false;
  };

  // A row of several pages that heads have edits of, from its first piece to its last.
  struct Over {
    Source* source;
    PageStream* pages;  // where the pieces come from: the source's stream, or else `all`
    std::unique_ptr<DirectoryCursor> directory;  // the directory for `all`
    std::unique_ptr<PageStream> all;
    FragmentEdits edits;   // the edits that are still to come
    bool at_piece = true;  // false: `pages` is past the row
    bool begun = false, done = false;
  };

  absl::Status CheckDeadline();
  // Takes room before `bytes` of heads are read.
  absl::Status TakeLarge(uint64_t bytes);
  absl::Status MakeSources();
  absl::Status StartRange();
  absl::Status StartMerging(const RowRange& range);
  // True: `piece` is filled.  False: ask again, unless the range is over.
  absl::StatusOr<bool> NextLookedUp(RowPiece* piece);
  absl::StatusOr<bool> NextMerged(RowPiece* piece);
  // Tells the store how long an entry is.  Its fragments in the open head are fragments_ from `begin` on.
  void NoteOpenFragments(size_t begin) const;
  // Moves past the entries that were handed out.
  absl::Status Advance();
  // Chooses the row and family that come next, and the sources that have cells of them.  Returns false if
  // nothing is left.
  bool Choose();
  bool Offer(const std::string& row_key, FamilyId family);
  bool IsLastOfRow() const;
  bool IsLastFamilyOfRow() const;
  // Fills the piece with the chosen row and family, from `source` (may be null) and fragments_.  The piece
  // may have no cells left.
  absl::Status Fill(Source* source, RowPiece* piece);
  absl::Status FillOver(Source* source, RowPiece* piece);
  // Removes cells that are not among the newest, if only the newest are asked for.  `cells` are the next ones
  // of the row and family.  Each source gives its own newest cells, so an older cell may be one that another
  // source has put anew.
  void KeepNewest(std::vector<CellView>* cells);
  // Fills the next piece of over_ that has cells.  Returns false if there is none; over_ has ended then.
  absl::StatusOr<bool> NextOver(RowPiece* piece);
  absl::Status PassRow(Source* source);

  bool Wants(FamilyId family) const;

  const CellStore* const store_;
  const TableId table_;
  const TableShapes shapes_;
  const std::vector<RowRange> ranges_;
  Engine::ScanOptions options_;  // families ascending
  ReadHints relaxed_hints_;      // without the hints that edits over pages make uncertain

  State state_ = State::kBetweenRanges;
  size_t ranges_done_ = 0;
  uint32_t steps_ = 0;

  // These three are made when first needed.
  std::optional<CellStore::Moment> moment_;
  std::optional<DirectoryCursor> directory_;
  std::vector<Source> sources_;  // by family
  std::array<std::unique_ptr<HeadCursor>, 2> heads_;

  // The row and family that were chosen.
  bool any_chosen_ = false;
  std::string row_key_;
  // The column of the row and family that KeepNewest has come to, and how many cells it has had.
  std::string newest_qualifier_;
  int64_t newest_count_ = 0;
  FamilyId family_ = 0;
  Source* chosen_source_ = nullptr;
  std::array<bool, 2> chosen_heads_ = {};

  // These serve looking up.
  size_t families_done_ = 0;
  std::string key_;
  std::array<HeadLookup, 2> lookups_;

  std::vector<std::string_view> fragments_;  // the piece's fragments, oldest first
  FragmentsReader reader_;
  std::optional<Over> over_;
};

}  // namespace sonde
