// Fragments: the normal form of an ordered list of edits to one family of one row, as bytes.
//
// A fragment stands for: delete (the whole family; column with time range), then put cells, then add to
// aggregate cells.  The deletes act on everything older than the fragment.  A (qualifier, timestamp) carries
// one put or one add, not both.  Two fragments combine into one, associatively (Combine): this is what the
// storage engine merges, and nothing else.
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
// Errors: a Decode of bytes that are no fragment is DATA_LOSS.  Never crashes, for any bytes.
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

// A fragment taken apart.  Views point into the fragment's bytes, into shapes, or into `owned`.
struct Fragment {
  bool delete_all = false;
  std::vector<FamilyDelta::ColumnDelete> deletes;  // by qualifier, start; of one column disjoint
  std::vector<CellView> puts;                      // qualifier ascending, timestamp descending; unique
  AggregateKind kind = AggregateKind::kNone;       // of the adds
  std::vector<CellView> adds;                      // likewise; value: 8-byte big-endian state, or a sketch
  // Qualifiers that were front-coded; the strings do not move.
  std::vector<std::unique_ptr<std::string>> owned;

  // Empties it, keeping its memory for the next one.
  void Clear();

  // Room that decoding needs, kept from one fragment to the next.
  struct Scratch {
    std::vector<std::string_view> qualifiers;
    std::vector<int64_t> timestamps;
    std::vector<uint64_t> lengths;
  };
  Scratch scratch;
};

// Appends the fragment of a delta to *out; the delta must be in its normal form (the order is CHECKed).
void EncodeFragment(const FamilyDelta& delta, const ShapeSource& shapes, std::string* out);
void EncodeFragment(const Fragment& fragment, const ShapeSource& shapes, std::string* out);

[[nodiscard]] absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes,
                                          Fragment* fragment);

// The same without the puts and adds that the hints do not ask for; their bytes are stepped over.  Values
// come empty for keys_only.  newest_per_column is for a fragment that stands alone.
[[nodiscard]] absl::Status DecodeFragment(std::string_view bytes, const ShapeSource& shapes,
                                          const ReadHints& hints, Fragment* fragment);

// The cells that a reader sees when nothing older exists: puts and adds in one order.  Consumes the
// fragment's cells.
void TakeCells(Fragment* fragment, std::vector<CellView>* cells);

struct CombineOptions {
  // Nothing older than the first fragment exists: deletes have done their work and are left out.
  bool nothing_older = false;
};

// The one fragment that has the effect of `fragments` (oldest first), appended to *out.
[[nodiscard]] absl::Status Combine(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                   CombineOptions options, std::string* out);

// The edits of a fragment, or those of them that are somewhere in its row.
struct FragmentEdits {
  FragmentEdits() = default;
  explicit FragmentEdits(const Fragment& fragment)
      : delete_all(fragment.delete_all),
        deletes(fragment.deletes),
        puts(fragment.puts),
        kind(fragment.kind),
        adds(fragment.adds) {}

  // Takes away the puts and adds that come before this place, and gives them; with all deletes.
  FragmentEdits TakeBefore(std::string_view qualifier, int64_t timestamp_micros);

  bool delete_all = false;
  absl::Span<const FamilyDelta::ColumnDelete> deletes;
  absl::Span<const CellView> puts;
  AggregateKind kind = AggregateKind::kNone;
  absl::Span<const CellView> adds;
};

// Replaces *cells by what a reader sees of `newer` edits over `older` cells of the same row and family, in
// order.  What adds and older cells fold to goes to *states, which must live as long as the views.
// DATA_LOSS: a sketch is damaged.
[[nodiscard]] absl::Status Overlay(const FragmentEdits& newer, absl::Span<const CellView> older,
                                   std::deque<std::string>* states, std::vector<CellView>* cells);

// What a reader sees of fragments that were not combined yet.
class FragmentsReader {
 public:
  // The cells of `fragments` (oldest first) when nothing older exists, without most of what the hints do not
  // ask for.  The views hold until the next call, as long as the fragments' bytes do.
  [[nodiscard]] absl::Status Read(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                  const ReadHints& hints, std::vector<CellView>* cells);
  // The edits of `fragments` (oldest first, at least one), as if they were one, without most of what the
  // hints do not ask for.  Views hold likewise.
  [[nodiscard]] absl::StatusOr<const Fragment*> ReadEdits(absl::Span<const std::string_view> fragments,
                                                          const ShapeSource& shapes,
                                                          const ReadHints& hints = {});
  // Replaces *cells by what a reader sees of some of these edits over `older` cells.  Views hold likewise,
  // and as long as those of the older cells do.
  [[nodiscard]] absl::Status OverlayEdits(const FragmentEdits& edits, absl::Span<const CellView> older,
                                          std::vector<CellView>* cells) {
    return Overlay(edits, older, &states_, cells);
  }
  // As Read, when just `older` cells exist, which are those that the hints ask for; at least one fragment. If
  // a fragment deletes, they must be all of newest_per_column, and if one adds, with values.
  [[nodiscard]] absl::Status ReadOver(absl::Span<const CellView> older,
                                      absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                                      const ReadHints& hints, std::vector<CellView>* cells);

 private:
  // Combines them into fragment_.
  absl::Status CombineAll(absl::Span<const std::string_view> fragments, const ShapeSource& shapes,
                          const ReadHints& hints);

  Fragment fragment_;
  std::vector<std::unique_ptr<std::string>> owned_;
  std::deque<std::string> states_;
};

// Of a fragment that does nothing but put cells, with a shape for its columns and all columns at the same
// times: what its beginning says.  Nothing for other fragments, and for what is none.
struct PutsOfShape {
  ShapeId shape = 0;
  int64_t newest_micros = 0;
};
std::optional<PutsOfShape> PeekPutsOfShape(std::string_view bytes);

// Whether the bytes are a fragment that deletes (adds) nothing.
bool IsFragmentWithoutDeletes(std::string_view bytes);
bool IsFragmentWithoutAdds(std::string_view bytes);

}  // namespace sonde
