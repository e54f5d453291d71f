// Fragments: the normal form of an ordered list of edits to one family of one row, as bytes.
//
// A fragment stands for three steps: delete (the whole family, or time ranges of columns), then put cells,
// then add to aggregate cells.  The deletes act on everything older than the fragment.  A (qualifier,
// timestamp) carries one put or one add, not both.  Two fragments combine into one, associatively (Combine).
// The storage engine merges by Combine and by nothing else.
//
// Layout (docs/formats/fragment.md; numbers are varints unless said otherwise):
//   fragment      format flags [deletes] [puts] [adds]
//   format        1 byte: kFragmentFormat
//   flags         1 byte, a sum: 1 the whole family is deleted; 2 deletes, 4 puts, 8 adds follow
//   deletes       count, then `count` times: qualifier start end; ordered by qualifier, then start
//     qualifier     length, bytes
//     start, end    microseconds; an end of 0 is infinity, and stands for a later time than any other end
//   puts          cells
//   adds          1 byte AggregateKind, then cells; each value is a state: 8 bytes, big-endian, or an HLL
//                 sketch
//   cells         columns timestamps values
//   columns       shape id * 2 + 1; or count * 2, then a column `count` times, ascending:
//     column        number of bytes that the qualifier shares with the one before it, then length and bytes
//                   of the rest
//   timestamps    1 byte, a sum: 1 all columns have the same list, 2 the unit is a millisecond; then the
//                 list, or a list for each column:
//     list          count (>= 1), the newest timestamp, then for each older one the step down to it, as the
//                   zig-zag difference from the step before (for the first step, from 0)
//   values        for each column: length + 1 if all its values have that length, or 0 and each value's
//                 length; then the bytes of all values
//
//
// Errors: bytes that are no fragment are DATA_LOSS.  No bytes crash a decoder. Threads: the functions are
// pure; a Fragment or FragmentsReader is for one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cellblock/shapes.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"

namespace sonde {

constexpr char kFragmentFormat = 1;

// A decoded fragment.  Its views point into the fragment's bytes, into shapes, or into `owned`.
struct Fragment {
  bool delete_all = false;
  std::vector<FamilyDelta::ColumnDelete> deletes;  // by qualifier, then start; those of a column are disjoint
  std::vector<CellView> puts;                      // qualifier ascending, timestamp descending; unique
  AggregateKind kind = AggregateKind::kNone;       // the kind of the adds
  std::vector<CellView> adds;                      // same order; value: 8-byte big-endian state, or a sketch
  // Qualifiers that were front-coded.  The strings do not move.
  std::vector<std::unique_ptr<std::string>> owned;

  // Empties it, keeping its memory for the next one.
  void Clear();

  // Memory for decoding, which is kept from one fragment to the next.
  struct Scratch {
    std::vector<std::string_view> qualifiers;
    std::vector<int64_t> timestamps;
    std::vector<uint64_t> lengths;
  };
  Scratch scratch;
};

// Appends the fragment that stands for the delta or for the decoded fragment.  A delta must be in its normal
// form (its order is CHECKed).
void EncodeFragment(const FamilyDelta& delta, const ShapeSource& shapes, std::string* out);
void EncodeFragment(const Fragment& fragment, const ShapeSource& shapes, std::string* out);

[[nodiscard]] absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes,
                                          Fragment* fragment);

// Decodes, but steps over the bytes of puts and adds that the hints do not ask for.  With keys_only, values
// are empty.  newest_per_column may be set only if nothing older than the fragment exists.
[[nodiscard]] absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes,
                                          const ReadHints& hints, Fragment* fragment);

// Fills *cells with what a reader sees when nothing older exists: puts and adds in one order.  Consumes the
// fragment's cells.
void TakeCells(Fragment* fragment, std::vector<CellView>* cells);

struct CombineOptions {
  // Nothing older than the first fragment exists, so the result needs no deletes.
  bool nothing_older = false;
};

// Appends to *out the one fragment that has the effect of `fragments` (oldest first).
[[nodiscard]] absl::Status Combine(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                   CombineOptions options, std::string* out);

// The edits of a fragment, or of a part of its row.
struct FragmentEdits {
  FragmentEdits() = default;
  explicit FragmentEdits(const Fragment& fragment)
      : delete_all(fragment.delete_all),
        deletes(fragment.deletes),
        puts(fragment.puts),
        kind(fragment.kind),
        adds(fragment.adds) {}

  // Returns the puts and adds before this place, with all deletes, and removes these puts and adds from this.
  FragmentEdits TakeBefore(std::string_view qualifier, int64_t timestamp_micros);

  bool delete_all = false;
  absl::Span<const FamilyDelta::ColumnDelete> deletes;
  absl::Span<const CellView> puts;
  AggregateKind kind = AggregateKind::kNone;
  absl::Span<const CellView> adds;
};

// Replaces *cells by what a reader sees of `newer` edits over `older` cells of the same row and family, in
// order.  Adds are folded into older cells; the folded states go to *states, which must live as long as the
// views.  DATA_LOSS: a sketch is damaged.
[[nodiscard]] absl::Status Overlay(const FragmentEdits& newer, absl::Span<const CellView> older,
                                   std::deque<std::string>* states, std::vector<CellView>* cells);

// Reads fragments that were not combined yet, as a reader sees them.  Not for several threads.
class FragmentsReader {
 public:
  // Fills *cells with the cells of `fragments` (oldest first) when nothing older exists.  Most of what the
  // hints do not ask for is left out.  The views hold until the next call, as long as the fragments' bytes
  // do.
  [[nodiscard]] absl::Status Read(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                  const ReadHints& hints, std::vector<CellView>* cells);
  // Returns the edits of `fragments` (oldest first, at least one), as if they were one fragment.  Most of
  // what the hints do not ask for is left out.  The edits and their views hold until the next call, as long
  // as the fragments' bytes do.
  [[nodiscard]] absl::StatusOr<const Fragment*> ReadEdits(absl::Span<const std::string_view> fragments,
                                                          const ShapeSource& shapes,
                                                          const ReadHints& hints = {});
  // Replaces *cells by what a reader sees of `edits`, which came from ReadEdits, over `older` cells.  The
  // views hold as long as those of the edits and of the older cells do.
  [[nodiscard]] absl::Status OverlayEdits(const FragmentEdits& edits, absl::Span<const CellView> older,
                                          std::vector<CellView>* cells) {
    return Overlay(edits, older, &states_, cells);
  }
  // Like Read, but over `older` cells; at least one fragment.  `older` must hold all older cells that the
  // hints ask for.  If a fragment deletes, newest_per_column must not have narrowed them.  If a fragment
  // adds, they must come with values.
  [[nodiscard]] absl::Status ReadOver(absl::Span<const CellView> older,
                                      absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                      const ReadHints& hints, std::vector<CellView>* cells);

 private:
  // Combines the fragments into fragment_.
  absl::Status CombineAll(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                          const ReadHints& hints);

  Fragment fragment_;
  std::vector<std::unique_ptr<std::string>> owned_;
  std::deque<std::string> states_;
};

// The beginning of a fragment that only puts cells, names its columns by a shape, and has the same timestamps
// in all columns.  PeekPutsOfShape returns nothing for other fragments, nor for bytes that are no fragment.
struct PutsOfShape {
  ShapeId shape = 0;
  int64_t newest_micros = 0;
};
std::optional<PutsOfShape> PeekPutsOfShape(std::string_view bytes);

// Whether the bytes are a fragment without deletes, or without adds.
bool IsFragmentWithoutDeletes(std::string_view bytes);
bool IsFragmentWithoutAdds(std::string_view bytes);

}  // namespace sonde
