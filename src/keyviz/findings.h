// Findings about a heat map, in words: which pattern, where, and what the documents on schema design advise.
//
// Pure: the same map and facts give the same findings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keyviz/column_facts.h"
#include "keyviz/heat_map.h"

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
  int64_t since_seconds = 0;  // when it was first found to be large
};

// The part of a series' declaration that could be changed.
enum class CureKind : uint8_t {
  kPromoteTags,    // the time behind what tells the series apart
  kSalt,           // a hash of the tags in front of the key
  kSaltByTime,     // a hash of the time in front of the key
  kShorterBucket,  // less time in a row
  kRowPerPoint,    // no two points in one row
  kLatestTable,    // the newest values in a table of their own
  kSecondTable,    // the same points under another key
};

struct Cure {
  std::string change;       // in a line: "key: [host, time]"
  std::string declaration;  // the whole of it
};

// The series that the table holds, if one is declared.
struct DeclaredSeries {
  std::string name;
  // The table is there to be read from end to end: it has the newest values, or a row for each period.
  bool is_read_whole = false;
  // The declaration with such a change; nothing where it makes no sense.  May be null: none are known.
  std::function<std::optional<Cure>(CureKind kind)> find_cure;
};

// Facts that a map does not show.
struct TableFacts {
  std::string table;   // its id, for the words
  ColumnFacts window;  // of the map's time
  // Facts about the last seconds, to find load that has just begun; empty: there is no separate look at them.
  ColumnFacts recent;
  int64_t recent_seconds = 0;
  std::vector<LargeRow> large_rows;
  std::optional<DeclaredSeries> declared;
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
  // The change of the series' declaration, and the whole declaration with it; nothing: no cure is known.
  std::optional<Cure> cure;
};

// The limits of Bigtable's documents: rows should stay below the first and can no longer be read above the
// second.
constexpr uint64_t kLargeRowBytes = 100'000'000;
constexpr uint64_t kUnreadableRowBytes = uint64_t{256} << 20;

// The gravest first.
std::vector<Finding> FindPatterns(const HeatMap& map, const TableFacts& facts);

}  // namespace sonde
