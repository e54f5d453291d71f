// Where HBase keeps packed cells: many cells of one family of a row in one value.
//
// A table with packed cells has one or two families of HBase's more than a plain one (engine/hbase/stored_cells.h):
//   b   settled cells.  qualifier: 4 zero bytes, the family's id.                        time: 1
//   c   written cells.  qualifier: 4 zero bytes, the family's id + 2^31, clock, number.  time: 1
// The id has 4 bytes, the clock 8 (microseconds of the server that wrote), the number 8 (a random one); all are big-endian.  A value is a
// fragment (cellblock/fragment.h) that only puts, and spells its columns.  A family has one value in b at most, and any number in c.
// A cell in c stands for the same cell in b, and the later clock wins in c.  A cell by itself, in d, stands for both.
//
// HBase gives b and c before d, and no qualifier of d begins with zeros.  So the packed cells of a row are known when the first of
// its other cells comes, and HBase's filters of qualifiers, which only look ahead, find all.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "engine/row_store.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/read_messages.h"
#include "model/cell.h"

namespace sonde {

constexpr char kSettledFamily[] = "b";
constexpr char kWrittenFamily[] = "c";
constexpr int64_t kPackedTime = 1;

// A value does not become longer by packing more into it: cells that would not fit stay by themselves.
constexpr size_t kPackedBytesMax = 1u << 20;
// A longer value of a cell gains nothing by being packed.
constexpr size_t kPackedCellBytesMax = 16u << 10;

constexpr bool HasPacked(CellStorage storage) { return storage != CellStorage::kPlain; }

std::string SettledQualifier(FamilyId family);
std::string WrittenQualifier(FamilyId family, int64_t now_micros, RandomSource* random);

// When a value in c was written, by its qualifier; nullopt: it is one in b.
std::optional<int64_t> WrittenAt(std::string_view qualifier);

// HBase's families that a table of this kind has for packed cells.
std::vector<std::string> PackedFamilies(CellStorage storage);
// Their qualifiers, ascending: those of a family; those of all families.
std::vector<hbase::QualifierRange> PackedRanges(FamilyId family, CellStorage storage);
hbase::QualifierRange AllPackedRange();

bool IsPacked(const hbase::Cell& stored);
// The family of a cell that IsPacked.  DATA_LOSS: nobody has put such a cell.
absl::StatusOr<FamilyId> FamilyOfPacked(const hbase::Cell& stored);

}  // namespace sonde
