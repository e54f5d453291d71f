// What a writer of the index knows of one series: its entities by their hash, and which of them are in which sets.
//
// An entity has a place: a block of the series, by its number here, and a position in that block.
//
// Threads: as a value.
// Errors: those of the tables.  What is damaged is passed over: readers see it, and new entities go to a new block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/index/index_table.h"
#include "series/index/position_set.h"
#include "series/index/write/entity_hash.h"
#include "series/index/write/entity_use.h"
#include "series/known/known_series.h"

namespace sonde::series {

constexpr int kPositionBits = 16;
// Of one series.
constexpr size_t kBlocksMax = 1U << (32 - kPositionBits);
// A known entity: 24 bytes and a control byte, in a table that is between half and seven eighths full.
constexpr size_t kKnownEntityBytes = 36;

inline size_t BlockOf(uint32_t place) { return place >> kPositionBits; }
inline size_t PositionOf(uint32_t place) { return place & ((1U << kPositionBits) - 1); }
inline uint32_t PlaceOf(size_t block, size_t position) {
  return static_cast<uint32_t>(block << kPositionBits | position);
}

// Sets of positions, by block.
using BlockSets = std::vector<PositionSet>;
bool Contains(const BlockSets& sets, uint32_t place);
void AddTo(size_t block, const PositionSet& positions, BlockSets* sets);

struct KnownEntities {
  struct FieldSets {
    std::string name;
    BlockSets sets;
  };

  KnownSeriesRef series;  // as it was seen last
  bool is_given_up = false;
  bool marks_whole = false;  // once its first entity is registered
  bool has_no_sets = false;  // in the table: what is not here is nowhere
  absl::flat_hash_map<EntityHash, uint32_t> places;
  std::vector<std::string> blocks;  // their names
  std::optional<size_t> open;       // the block that gets the next entity
  size_t open_end = 0;
  size_t open_text_bytes = 0;
  absl::flat_hash_map<int32_t, BlockSets> days;  // those that were asked for
  std::vector<std::optional<FieldSets>> fields;  // by place in the series; those that were asked for
  size_t counted_bytes = 0;                      // by whoever keeps it

  // Whether the index has all of this use.
  bool Has(const EntityUse& use) const;
  // Null: it was not asked for yet.
  const FieldSets* FindField(size_t place, const std::string& name) const;
  // From now on.
  void SetSeries(const KnownSeriesRef& newer);
  size_t bytes() const;
};

struct EntityLoad {
  const EntityHasher* hasher = nullptr;
  size_t entities_max = 0;
  bool continues_blocks = false;  // nobody else goes on with them
  int64_t now_micros = 0;
};

// What the tails of a series have, which are to be sealed some day.
struct TailCounts {
  size_t rows = 0;
  size_t entities = 0;
};

// Reads what the index has of known->series; days and fields are read when they are asked for.  Gives the series up where there are too
// many entities, and takes it up again where there is room for twice as many as it has.
absl::StatusOr<TailCounts> LoadEntities(const EntityLoad& load, TableAccess* tables, KnownEntities* known);

// The sets of a key (DaySetKey, FieldSetKey), as the table has them.  `take_row`: is told of each row, and of the number of its cells.
absl::StatusOr<BlockSets> LoadSets(
    const KnownEntities& known, const std::string& set_key, TableAccess* tables,
    const std::function<void(const std::string& row_key, size_t cells)>& take_row);

}  // namespace sonde::series
