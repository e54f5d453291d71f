// Facts about a table in a stretch of time, beside the counts of its buckets: in what order it was written,
// which rows took much of its load, and which callers read all of it.  Bounded, however long the time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// A row with a share of the load.
struct HotRow {
  std::string row_key;
  double reads = 0;
  double writes = 0;
  double ops() const { return reads + writes; }
};

// Somebody who reads whole tables.
struct Scanner {
  std::string caller;
  uint64_t scans = 0;
  uint64_t rows = 0;      // in all of them
  uint64_t rows_max = 0;  // in one
};

// The order of new keys, over the seconds in which something was written.
struct WriteOrder {
  uint64_t seconds = 0;
  uint64_t writes = 0;
  uint64_t above_all = 0;  // of them, to keys after every key written in earlier seconds
  uint64_t below_all = 0;  // ... before every such key
};

struct ColumnFacts {
  // A row that takes less than this of a stretch of time is not kept with it.
  static constexpr double kRowShareMin = 0.05;
  static constexpr size_t kRowsMax = 16;
  static constexpr size_t kScannersMax = 16;
  static constexpr size_t kCallerBytesMax = 256;

  uint64_t keys = 0;  // distinct ones in use at the time, about; of several stretches, the most
  uint64_t ops = 0;   // rows read and written
  WriteOrder order;
  std::vector<HotRow> rows;
  std::vector<Scanner> scanners;

  bool IsEmpty() const { return ops == 0 && order.seconds == 0 && scanners.empty(); }
  // Adds facts of a later or earlier time.  For a while more than kRowsMax rows are held, so that a row that
  // comes to much in the end is not lost at the beginning.
  void Add(const ColumnFacts& other);
  void AddScan(std::string_view caller, uint64_t scans, uint64_t rows, uint64_t rows_max);
  // Drops the rows that are not worth keeping; sorts them and the scanners, the heaviest first.
  void Trim();
};

// docs/formats/keyviz.md has the format.  Trims what it writes.
void PutFacts(std::string* out, ColumnFacts facts);
[[nodiscard]] bool GetFacts(std::string_view* in, ColumnFacts* facts);

}  // namespace sonde
