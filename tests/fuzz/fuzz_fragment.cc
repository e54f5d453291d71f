// Fragments.  An even first byte: the rest is taken for fragments, which decode or do not; those that do are
// written again as they are, and combine.  An odd one: the rest is taken for edits, whose fragments must
// combine to what a map of cells comes to, in every association.
#include <map>
#include <string>
#include <vector>

#include "base/varint.h"
#include "cellblock/fragment.h"
#include "model/aggregate.h"
#include "target.h"

namespace sonde {
namespace {

class TwoShapes final : public ShapeSource {
 public:
  const Shape* Get(ShapeId id) const override { return id < shapes_.size() ? &shapes_[id] : nullptr; }
  bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const override {
    for (ShapeId i = 0; i < shapes_.size(); ++i) {
      if (!std::equal(qualifiers.begin(), qualifiers.end(), shapes_[i].begin(), shapes_[i].end())) continue;
      *id = i;
      return true;
    }
    return false;
  }

 private:
  std::vector<Shape> shapes_ = {{"a", "b", "c"}, {"", "a"}};
};

const ShapeSource& Shapes() {
  static const TwoShapes shapes;
  return shapes;
}

std::string Combined(const std::vector<std::string>& fragments, bool nothing_older) {
  const std::vector<std::string_view> views(fragments.begin(), fragments.end());
  std::string out;
  Require(Combine(views, Shapes(), {.nothing_older = nothing_older}, &out).ok(), "good fragments combine");
  return out;
}

bool HaveSameContent(const Fragment& a, const Fragment& b) {
  return a.delete_all == b.delete_all && a.deletes == b.deletes && a.puts == b.puts && a.kind == b.kind &&
         a.adds == b.adds;
}

void CheckBytes(InputReader input) {
  std::vector<std::string> good;
  while (!input.IsEmpty()) {
    const size_t bytes_count = input.Byte() + size_t{256} * (input.Byte() % 8);
    const std::string bytes(input.Bytes(bytes_count));
    (void)IsFragmentWithoutDeletes(bytes);
    Fragment fragment;
    if (!DecodeFragment(bytes, Shapes(), &fragment).ok()) continue;
    std::string again;
    EncodeFragment(fragment, Shapes(), &again);
    Fragment decoded;
    Require(DecodeFragment(again, Shapes(), &decoded).ok(), "what was written decodes");
    Require(HaveSameContent(fragment, decoded), "what was written is the same");
    good.push_back(bytes);
  }
  if (good.empty()) return;
  Fragment fragment;
  for (const bool nothing_older : {false, true}) {
    // Good bytes may still speak of different aggregates: then they do not combine.
    const std::vector<std::string_view> views(good.begin(), good.end());
    std::string out;
    if (!Combine(views, Shapes(), {.nothing_older = nothing_older}, &out).ok()) continue;
    Require(DecodeFragment(out, Shapes(), &fragment).ok(), "what was combined decodes");
  }
}

// Edits one by one to a map: timestamps negated, so that the newest comes first.
using Cells = std::map<std::pair<std::string, int64_t>, std::string>;

// Applies the next edit to `cells` and returns its fragment.
std::string TakeEdit(InputReader* input, AggregateKind kind, Cells* cells) {
  static const std::vector<std::string> qualifiers = {"", "a", "b", "c", std::string("\0", 1), "ab", "\xff"};
  const uint8_t what = input->Byte();
  const std::string& qualifier = qualifiers[input->Byte() % qualifiers.size()];
  const int64_t micros = int64_t{1000} * (input->Byte() % 8) + (what & 0x80 ? 1 : 0);
  FamilyDelta delta;
  delta.aggregate = kind;
  std::string value;
  switch (what % 8) {
    case 0:
      delta.delete_all = true;
      cells->clear();
      break;
    case 1: {
      const int64_t end = what & 0x40 ? 0 : micros + int64_t{1000} * (1 + input->Byte() % 4);
      delta.deletes.push_back({qualifier, {micros, end}});
      std::erase_if(*cells, [&](const auto& cell) {
        return cell.first.first == qualifier && TimeRange{micros, end}.Contains(-cell.first.second);
      });
      break;
    }
    default: {
      std::string& cell = (*cells)[{qualifier, -micros}];
      if (kind == AggregateKind::kNone) {
        value = std::string(input->Bytes(input->Byte() % 32));
        delta.puts.push_back({qualifier, micros, value});
        cell = value;
        break;
      }
      const auto state = static_cast<int64_t>(input->Number()) - (int64_t{1} << 31);
      delta.adds.push_back({qualifier, micros, state});
      const int64_t now = cell.empty() ? state : FoldAggregate(kind, DecodeAggregateState(cell), state);
      cell.clear();
      PutFixed64(&cell, static_cast<uint64_t>(now));
    }
  }
  std::string bytes;
  EncodeFragment(delta, Shapes(), &bytes);
  return bytes;
}

void CheckEdits(InputReader input) {
  constexpr size_t kEditsMax = 64;
  const auto kind = static_cast<AggregateKind>(input.Byte() % 4);
  const uint8_t split = input.Byte();
  Cells cells;
  std::vector<std::string> fragments;
  while (!input.IsEmpty() && fragments.size() < kEditsMax)
    fragments.push_back(TakeEdit(&input, kind, &cells));
  if (fragments.empty()) return;
  const std::string all = Combined(fragments, /*nothing_older=*/true);
  const auto middle = fragments.begin() + split % static_cast<ptrdiff_t>(fragments.size());
  if (middle != fragments.begin()) {
    const std::string older = Combined({fragments.begin(), middle}, split & 1);
    const std::string newer = Combined({middle, fragments.end()}, false);
    Require(Combined({older, newer}, true) == all, "combining is associative");
  }
  Fragment fragment;
  Require(DecodeFragment(all, Shapes(), &fragment).ok(), "what was combined decodes");
  std::vector<CellView> seen;
  TakeCells(&fragment, &seen);
  Require(seen.size() == cells.size(), "the number of cells");
  size_t i = 0;
  for (const auto& [at, value] : cells) {
    const CellView& cell = seen[i++];
    Require(cell.qualifier == at.first && cell.timestamp_micros == -at.second && cell.value == value,
            "a cell");
  }
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::InputReader input(data, size);
  input.Byte() % 2 == 0 ? sonde::CheckBytes(input) : sonde::CheckEdits(input);
  return 0;
}
