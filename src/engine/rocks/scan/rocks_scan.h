// Rows in order, of the heads and of pages.
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

// Each range is merged of a cursor a head and a stream of pages a family.  Of single rows of known families,
// the heads are looked up by key instead (the Bloom filters answer for most that are not there).  A row that
// only pages hold is handed out as it is.  One that lies in several pages comes page by page.
class RocksScan final : public RowStream {
 public:
  // `store` must outlive it.
  RocksScan(const CellStore* store, TableId table, std::vector<RowRange> ranges, Engine::ScanOptions options);

  absl::StatusOr<bool> Next(RowPiece* piece) override;

 private:
  enum class State { kBetweenRanges, kLookingUp, kMerging };

  // A stream and whether it is at a piece.
  struct Source {
    std::unique_ptr<PageStream> stream;
    bool valid = false;
  };

  // A row of several pages that heads have edits of, from its first piece to its last.
  struct Over {
    Source* source;
    PageStream* pages;                           // which the pieces come from: source's, or else `all`
    std::unique_ptr<DirectoryCursor> directory;  // of `all`
    std::unique_ptr<PageStream> all;
    FragmentEdits edits;   // those that are still to come
    bool at_piece = true;  // else `pages` is past the row
    bool begun = false, done = false;
  };

  absl::Status CheckDeadline();
  // Before so many bytes of heads are read.
  absl::Status TakeLarge(uint64_t bytes);
  absl::Status MakeSources();
  absl::Status StartRange();
  absl::Status StartMerging(const RowRange& range);
  // True: `piece` is filled.  False: ask again, unless the range is over.
  absl::StatusOr<bool> NextLookedUp(RowPiece* piece);
  absl::StatusOr<bool> NextMerged(RowPiece* piece);
  // Tells the store how long an entry is whose fragments_ from `begin` on are of the open head.
  void NoteOpenFragments(size_t begin) const;
  // Past what was handed out.
  absl::Status Advance();
  // Chooses the row and family that come next, and what has some of them.  False: nothing is left.
  bool Choose();
  bool Offer(const std::string& row_key, FamilyId family);
  bool IsLastOfRow() const;
  bool IsLastFamilyOfRow() const;
  // What `source` (null: nothing) and fragments_ have of what was chosen, into the piece; no cell may be
  // left.
  absl::Status Fill(Source* source, RowPiece* piece);
  absl::Status FillOver(Source* source, RowPiece* piece);
  // Takes what is not among the newest from cells that come next in the row and family, if just these are
  // asked for: each source gives its newest, so that an older cell may be one that another source has put
  // anew.
  void KeepNewest(std::vector<CellView>* cells);
  // The next piece of over_ that has cells; false: there is none, and over_ has ended.
  absl::StatusOr<bool> NextOver(RowPiece* piece);
  absl::Status PassRow(Source* source);

  bool Wants(FamilyId family) const;

  const CellStore* const store_;
  const TableId table_;
  const TableShapes shapes_;
  const std::vector<RowRange> ranges_;
  Engine::ScanOptions options_;  // families ascending
  ReadHints relaxed_hints_;      // without what edits over pages make uncertain

  State state_ = State::kBetweenRanges;
  size_t ranges_done_ = 0;
  uint32_t steps_ = 0;

  // Made when first needed.
  std::optional<CellStore::Moment> moment_;
  std::optional<DirectoryCursor> directory_;
  std::vector<Source> sources_;  // by family
  std::array<std::unique_ptr<HeadCursor>, 2> heads_;

  // What was chosen.
  bool any_chosen_ = false;
  std::string row_key_;
  // The column of the row and family that KeepNewest has come to, and how many cells it has had.
  std::string newest_qualifier_;
  int64_t newest_count_ = 0;
  FamilyId family_ = 0;
  Source* chosen_source_ = nullptr;
  std::array<bool, 2> chosen_heads_ = {};

  // Looking up.
  size_t families_done_ = 0;
  std::string key_;
  std::array<HeadLookup, 2> lookups_;

  std::vector<std::string_view> fragments_;  // of the piece, oldest first
  FragmentsReader reader_;
  std::optional<Over> over_;
};

}  // namespace sonde
