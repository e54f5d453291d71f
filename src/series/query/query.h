// Questions to a declared series: points of some tags and a range of time, raw, the newest, or aggregated.
//
// Rows are read as a stream.  Raw points go out as they come, in the order of the row keys and, within a row,
// by time.  The newest N keep N points a series.  Aggregates keep the buckets of one group where a group's
// rows lie one behind the other, and else all buckets, but never the points themselves (percentiles keep the
// values of the buckets that are kept).  What is kept is bounded by the k...Max below.
//
// The order of what is done: points are selected; changes (rate, ...) take the place of values, series by
// series; aggregates are made, over buckets and groups; windows join buckets; gaps are filled; the top rows
// are picked; rows_max ends the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/scan_plan.h"
#include "series/known/declarations.h"
#include "series/query/aggregate.h"
#include "series/query/time_buckets.h"

namespace sonde::series {

// Buckets of fields that one answer may hold at a time.
constexpr size_t kAccumulatorsMax = 4'000'000;
// Values that one answer may hold at a time: for percentiles, for the newest points, and to sort them by
// time.
constexpr size_t kValuesHeldMax = 16'000'000;
// Buckets of one group, those of its gaps included.
constexpr size_t kFilledBucketsMax = 1'000'000;
constexpr int kWindowBucketsMax = 1'000;
// Of an answer, tags and time left out.
constexpr size_t kColumnsMax = 10'000;
// Buckets of fields that the windows of one answer join; a value that they keep for percentiles counts as
// kStepsOfValue.  Each takes some 10 ns.
constexpr int64_t kJoinsMax = 1'000'000'000;
constexpr int64_t kStepsOfValue = 3;
constexpr size_t kTopMax = 100'000;
constexpr size_t kPatternBytesMax = 1'000;

// Holds where the tag's whole value matches `pattern` (RE2, UTF-8), or does not.
struct TagCondition {
  size_t tag = 0;
  std::string pattern;
  bool is_negated = false;
};

// What takes the place of a value: how it differs from the value before, of the same series and field.  The
// first value of each series in the range has none before it, and none.
enum class Change : uint8_t {
  kDelta,     // value - value before
  kIncrease,  // of a counter: the same, but a value below the one before is one since a reset
  kRate,      // kIncrease a second
};
std::optional<Change> ChangeOfName(std::string_view name);  // delta, increase, rate
std::string_view ChangeName(Change change);
// n, or delta(n).
std::string NameOfValues(const Field& field, std::optional<Change> change);

// What stands in buckets without points, between `from` and `to` (where these are open: between the first and
// the last point of the group).  Counts are 0 there, whichever.
enum class Fill : uint8_t {
  kNone,  // such buckets are left out
  kNull,
  kPrevious,  // the values of the bucket before; null before the first
  kLinear,    // a double between its neighbours, by the buckets' starts; null before the first and behind the
              // last
};
std::optional<Fill> FillOfName(std::string_view name);  // none, null, previous, linear

// Only the rows with the largest values of a column; ties go by tags and time; rows without a value are out.
struct Top {
  size_t count = 0;
  std::string column;  // of the answer: a field, or such as max(temperature); empty: the first
  bool is_lowest = false;
};

struct Query {
  Selection selection;
  std::vector<TagCondition> conditions;  // all of them hold
  std::vector<size_t> fields;            // indexes; empty: all (of aggregates and changes: all numbers)
  std::optional<int64_t> latest;         // only the newest so many points of each series, newest first
  std::optional<TimeBuckets> every;      // aggregated over these
  std::vector<Aggregate> aggregates;     // without `every`: over all time, under the time of the first point
  std::optional<int64_t> rows_max;       // of the answer
  std::optional<Change> change;
  std::optional<std::vector<size_t>>
      group_by;              // tags; series that agree in them are one group.  None: all tags
  std::vector<int> windows;  // aggregates over the last so many buckets, this one included; empty: {1}
  Fill fill = Fill::kNone;
  std::optional<Top> top;
  std::optional<int64_t> now_micros;  // when it is asked: which points are forgotten goes by it
  // Asked often, by several threads; not OK (CANCELLED) ends the query with that within 100 ms.  Unset:
  // nobody interrupts it.
  std::function<absl::Status()> interrupted;
  // Told how many bytes more the query holds, about, in steps of a MiB (less than zero: fewer, which is
  // always OK); not OK ends the query with that.  By one thread.  Unset: it may hold what its other bounds
  // allow.
  std::function<absl::Status(int64_t more_bytes)> hold;
};

struct ResultHeader {
  struct Column {
    std::string name;
    bool is_number = true;
  };
  std::vector<std::string> tags;
  std::vector<Column> values;
  TimeUnit time_unit = TimeUnit::kMicrosecond;
  std::optional<absl::TimeZone> zone;  // that they are shown in; none: UTC
};

using ResultValue = std::variant<std::monostate, int64_t, double, std::string, absl::int128>;

// The double that is next to it; nothing for a text, and for what is none.
std::optional<double> NumberOf(const ResultValue& value);

struct ResultRow {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<ResultValue> values;  // monostate: the point has none
};

struct QueryStats {
  // A table that was read, and how many of `ranges` are of it: first those of the first one.
  struct TableRead {
    std::string table;
    size_t ranges = 0;
  };
  std::vector<TableRead> tables;
  std::string table;  // the last one, of the newest points
  std::vector<RowRange> ranges;
  bool is_full_scan = false;
  // Of an open series: conditions were asked that its keys do not begin with, so all its rows were read.
  bool is_whole_series = false;
  int64_t requests = 0;
  int64_t rows_read = 0;
  int64_t cells_read = 0;
  int64_t value_bytes_read = 0;
  int64_t results = 0;
};

// INVALID_ARGUMENT: parts that do not go together, an aggregate other than count of a text, a window of more
// than kWindowBucketsMax, a `top` of more than kTopMax or of no column, more than kColumnsMax columns.
absl::StatusOr<ResultHeader> HeaderOf(const SeriesSchema& schema, const Query& query);

// Calls `row` for each result; false ends the query early.  Raw points come version of the declaration by
// version, the oldest first.  Where a complete order or period table narrows the query more (table_choice.h),
// it is read instead, and raw points come in the order of its keys; QueryStats::tables names it.
// INVALID_ARGUMENT as PlanScan and HeaderOf, and for a pattern that is no regular expression or longer than
// kPatternBytesMax, and for more than may be held (asking again is no cure); DATA_LOSS: a row or cell that
// this declaration never writes; else what `tables` answers.
// The newest point of each series (latest = 1, all times) comes from a table of newest values where that
// gives the same answer (table_choice.h).
absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row);

// The same of a known series: of an open one, the tags of the query are those of LabelsAsTags.
absl::StatusOr<QueryStats> RunQuery(const KnownSeries& series, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row);

}  // namespace sonde::series
