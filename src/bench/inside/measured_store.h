// Two ways to keep cells, side by side in one process: Sonde's engine, and what it is measured against, one
// RocksDB entry a cell.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/data/series_data.h"
#include "engine/engine.h"

namespace sonde::bench {

struct StoreOptions {
  std::string directory;  // empty, or not there
  uint64_t memory_bytes = uint64_t{1} << 30;
  bool sync = true;  // before a batch is acknowledged
};

// Cells of one table and one family.  Threads: Write may be called at once, and so may ReadRow.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  // One commit: a cell put for each of the rows' cells (there is nothing but puts in them).
  virtual absl::Status Write(absl::Span<const RowChange> rows) = 0;
  // Brings everything into the shape in which it stays.
  virtual absl::Status Settle() = 0;
  // All cells.
  virtual absl::StatusOr<CellSum> Scan() = 0;
  // How many cells the row has.
  virtual absl::StatusOr<int64_t> ReadRow(std::string_view row_key) = 0;
  // The bytes that the store takes of the disk.  None: they are those of its directory.
  virtual absl::StatusOr<std::optional<uint64_t>> DiskBytes() { return std::nullopt; }
};

// All cells of an engine's table; how many a row has.
absl::StatusOr<CellSum> ScanCells(Engine* engine, TableId table);
absl::StatusOr<int64_t> CountCells(Engine* engine, TableId table, std::string_view row_key);

absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenSondeStore(const StoreOptions& options);

// Keys: row key, 0, qualifier, 0, time (descending), with escapes, so that cells lie in Bigtable's order.
// Tuned as one would for that: large write buffers, LZ4 above and Zstandard with a dictionary at the bottom,
// Bloom filters, block cache, group commit.
absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenEntryStore(const StoreOptions& options);

}  // namespace sonde::bench
