// What is said to find regions and to read: messages as bytes.
//
// Pure: no state, no clock.  Errors of all parsers: DATA_LOSS, the bytes are no such message.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/names.h"

namespace sonde::hbase {

// --- Where things are.
constexpr std::string_view kMetaRegion = "hbase:meta,,1";
constexpr std::string_view kMetaFamily = "info";

// nullopt: there is no active master now, or no server has hbase:meta.
absl::StatusOr<std::optional<ServerAddress>> ParseActiveMaster(std::string_view message);
absl::StatusOr<std::optional<ServerAddress>> ParseMetaServer(std::string_view message);

// A row of hbase:meta, of which `cells` are all.  nullopt: the region is not open anywhere, was split, or is a copy for reading only.
absl::StatusOr<std::optional<Region>> ParseMetaRow(const std::vector<Cell>& cells);

// --- Which cells are wanted.
struct QualifierRange {
  std::string start;
  std::string end;  // exclusive; empty: no end
};

struct CellChoice {
  std::vector<std::string> families = {};  // none: all
  // None: all.  For a reverse scan one at most: with several HBase passes over columns that are in one of them.
  std::vector<QualifierRange> qualifiers = {};
  int64_t time_start = 0;  // times in [time_start, time_end)
  int64_t time_end = std::numeric_limits<int64_t>::max();
  std::string times_of_family = {};  // the range of times is this family's alone; empty: all families'
  uint32_t newest_per_column = std::numeric_limits<int32_t>::max();  // of those in the range of times
  bool keys_only = false;                                            // values come empty
  // With keys_only: these cells are wanted, too, and come with their values.  They lie before all of `qualifiers`, or, if there are
  // none, before all others; forward scans only.
  std::vector<QualifierRange> whole = {};
};

// --- One row.
std::string GetMessage(std::string_view region, std::string_view row, const CellChoice& choice);
// How many cells the answer's block has.
absl::StatusOr<size_t> ParseGet(std::string_view message);

// --- Rows of a region.
struct ScanRange {
  // Ascending: [start, stop).  Reverse: rows <= start, or < start unless `with_start`, and > stop, descending.  An empty stop is
  // the end of the region in the direction of the scan.
  std::string start;
  std::string stop;
  bool with_start = true;
  bool reverse = false;
};
struct ScanBounds {
  uint32_t rows_max = 10'000;              // of one answer
  uint64_t bytes_max = uint64_t{2} << 20;  // of one answer, about; a single cell may have more
  uint32_t rows_in_all = 0;                // of the scan; 0: no bound
};

// Opens a scanner and asks for its first rows.  `closes`: and for no more.
std::string OpenScanMessage(std::string_view region, const ScanRange& range, const CellChoice& choice,
                            const ScanBounds& bounds, bool closes = false);
// `sequence` counts the calls after the one that opened the scanner, from 0.
std::string NextScanMessage(uint64_t scanner, uint64_t sequence, const ScanBounds& bounds);
std::string RenewScanMessage(uint64_t scanner);
std::string CloseScanMessage(uint64_t scanner);

struct ScanAnswer {
  // Some cells of one row, of those in the answer's block, one part after the other.
  struct Part {
    uint32_t cells = 0;
    bool may_go_on = false;  // the row may have more cells, in the next part
  };
  std::vector<Part> parts;
  std::optional<uint64_t> scanner;
  std::optional<int64_t> lease_ms;  // the server forgets the scanner if nobody asks for so long
  bool has_more = false;            // the region may have more rows
};
absl::StatusOr<ScanAnswer> ParseScan(std::string_view message);

}  // namespace sonde::hbase
