// What a heat map shows, in words: which pattern, where, and what the documents on schema design advise.
//
// Pure: the same map and facts give the same findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyviz/heat_map.h"
#include "keyviz/table_collector.h"

namespace sonde {

enum class Pattern : uint8_t {
  kHotRange,        // a small part of the keys takes a large part of the load
  kHotRow,          // one row does
  kSequentialKeys,  // new keys come in order: all writes go to one end of the table
  kSuddenIncrease,
  kPeriodicUse,
  kLargeRow,
  kFullScan,
};
// "hot_range", ...
std::string_view NameOf(Pattern pattern);

enum class Severity : uint8_t { kInfo, kWarning, kCritical };
std::string_view NameOf(Severity severity);

// A row's size as it was found when it was last read whole.
struct LargeRow {
  std::string row_key;
  uint64_t bytes = 0;
};

// Of the declaration of the series that the table holds, if there is one.
struct DeclaredKey {
  std::string series;
  std::vector<std::string> parts;  // names, in the order of the key
  std::string time_part;           // the one of them that is the time; empty: none
};

// What a map does not show.
struct TableFacts {
  std::string table;  // its id, for the words
  double keys = 0;    // distinct, about
  std::vector<HotRow> hot_rows;
  double recent_ops = 0;
  WriteOrder write_order;
  std::vector<Scanner> scanners;
  std::vector<LargeRow> large_rows;
  std::optional<DeclaredKey> declared;
};

struct Finding {
  Pattern pattern = Pattern::kHotRange;
  Severity severity = Severity::kWarning;
  std::optional<HeatMetric> metric;
  // [start, end); a row as [key, its successor).  Both empty: the whole table.
  std::string start_key;
  std::string end_key;
  std::string title;   // "Hot key range: writes"
  std::string text;    // what was seen, with figures
  std::string remedy;  // what to do
  std::string cure;    // the key of a declaration that would do it; empty: none is known
};

// The limits of Bigtable's documents: rows should stay below the first and can no longer be read above the
// second.
constexpr uint64_t kLargeRowBytes = 100'000'000;
constexpr uint64_t kUnreadableRowBytes = uint64_t{256} << 20;

// The gravest first.
std::vector<Finding> FindPatterns(const HeatMap& map, const TableFacts& facts);

}  // namespace sonde
