// The words of questions to a declared series, and of their answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_range.h"
#include "rows/aggregate.h"
#include "rows/change.h"
#include "rows/fill.h"
#include "rows/held_memory.h"
#include "rows/value.h"
#include "rows/work_check.h"
#include "series/key/scan_plan.h"
#include "series/schema/schema.h"
#include "series/schema/time_buckets.h"
#include "work/idle_workers.h"

namespace sonde::series {

class EntityIndex;

// Those of calculations are words of rows, too.
using rows::Aggregate;
using rows::AggregateName;
using rows::AggregateNames;
using rows::AggregateOfName;
using rows::Change;
using rows::ChangeName;
using rows::ChangeOfName;
using rows::Fill;
using rows::FillOfName;
using rows::NumberOf;

// Values that one answer may hold at a time: for the newest points, and to sort them by time.  What buckets
// may hold: rows::FoldLimits.
constexpr size_t kValuesHeldMax = 16'000'000;
constexpr int kWindowBucketsMax = 1'000;
// Columns of an answer, beside tags and time.
constexpr size_t kColumnsMax = 10'000;
constexpr size_t kTopMax = 100'000;
// Of a pattern that is more than values with | between them.
constexpr size_t kPatternBytesMax = 20'480;

// Holds where the tag's whole value matches `pattern` (RE2, UTF-8), or does not.
struct TagCondition {
  size_t tag = 0;
  std::string pattern;
  bool is_negated = false;
};

// Holds for a point that has a value of the field, which is a number and in this order to `number`.
struct ValueCondition {
  enum class Order : uint8_t { kLess, kLessOrEqual, kGreater, kGreaterOrEqual };
  size_t field = 0;  // one of those that are asked for
  Order order = Order::kGreater;
  double number = 0;
};

// Only the rows with the largest values of a column; ties go by tags and time; rows without a value are out.
struct Top {
  size_t count = 0;
  std::string column;  // of the answer: a field, or such as max(temperature); empty: the first
  bool is_lowest = false;
};

struct Query {
  Selection selection;
  bool takes_any_value =
      false;  // a value of a tag that no key can have selects nothing, and is no error; tags may select
              // more than they say
  std::vector<TagCondition> conditions;          // all of them hold
  std::vector<ValueCondition> value_conditions;  // these, too; of points one by one
  bool takes_numbers = false;  // of points one by one: fields are numbers, and texts may only be there
  std::vector<size_t> fields;  // indexes; empty: all (of aggregates and changes: all numbers)
  // Of points one by one: fields, none of `fields`, whose values do not matter.  A point that has one of them is there.
  std::vector<size_t> witnesses = {};
  std::optional<int64_t> latest;      // only the newest so many points of each series, newest first
  std::optional<TimeBuckets> every;   // aggregated over these
  std::vector<Aggregate> aggregates;  // without `every`: over all time, under the time of the first point
  std::optional<int64_t> rows_max;    // of the answer
  std::optional<Change> change;  // takes the place of a value; a series' first value in the range has none
  std::optional<std::vector<size_t>>
      group_by;              // tags; series that agree in them are one group.  None: all tags
  std::vector<int> windows;  // aggregates over the last so many buckets, this one included; empty: {1}
  // Values for buckets without points, between `from` and `to` (where these are open: between the first and
  // the last point of the group).  Counts are 0 there, whichever.
  Fill fill = Fill::kNone;
  std::optional<Top> top;
  std::optional<int64_t> now_micros;    // when it is asked: which points are forgotten goes by it
  rows::Interrupted interrupted;        // asked by several threads; not OK ends the query within 100 ms
  rows::Hold hold;                      // called by several threads at once
  IdleWorkers* idle_workers = nullptr;  // null: the query's own thread does all
  EntityIndex* index = nullptr;         // null: keys alone say which rows are read
};

struct ResultHeader {
  struct Column {
    std::string name;
    bool is_number = true;
    std::string unit = {};  // of its values; empty: not said, or they have none
  };
  std::vector<std::string> tags;
  std::vector<Column> values;
  TimeUnit time_unit = TimeUnit::kMicrosecond;
  std::optional<absl::TimeZone> zone;  // that they are shown in; none: UTC
};

using ResultValue = rows::Value;

struct ResultRow {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<ResultValue> values;  // monostate: the point has none
  int64_t tags_number = 0;          // of one answer, rows with the same number have the same tags
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
  // The series is open, and its keys do not begin with the conditions that were asked; so all its rows were
  // read.
  bool is_whole_series = false;
  // The index of the series said which rows are read: those of so many of its entities, the most of those of one table.
  std::optional<int64_t> indexed_entities = {};
  int64_t requests = 0;
  int64_t rows_read = 0;
  int64_t cells_read = 0;
  int64_t value_bytes_read = 0;
  int64_t results = 0;
};

}  // namespace sonde::series
