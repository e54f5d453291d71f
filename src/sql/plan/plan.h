// Logical plans: the operators that a query comes to.
//
// Shape: a tree of operators, each with the types of the columns that it gives.  Expressions of an operator read the columns of its
//   input (of a join: those of the left input, then those of the right one).  Columns have no names but in BoundQuery.
// Threads: a plan is immutable once made, and may be executed several times at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_bytes.h"
#include "catalog/catalog.h"
#include "model/row_range.h"
#include "series/known/known_series.h"
#include "sql/expression/expression.h"
#include "sql/value/type.h"

namespace sonde::series {
class EntityIndex;
class IndexWriter;
}  // namespace sonde::series

namespace sonde::sql {

struct Plan;
using PlanPtr = std::unique_ptr<Plan>;

// A column that a scan of a table gives.
struct ScanColumn {
  enum class Kind : uint8_t {
    kKey,       // the row key: BYTES
    kKeyField,  // field `index` of the row key by the table's row key schema
    kFamily,    // the cells of a family as a map by qualifier
    kCell,  // the cell of one qualifier: BYTES (or INT64 of an aggregate family); NULL without a cell.  With history an array
    kWriteTimestamp,  // the time of the newest cell of one qualifier, or NULL
    kNumber,  // the cell of one qualifier as INT64 or FLOAT64, where the table keeps it as a number that is written as `written` says;
    // else NULL
    kNumberBytes,  // the cell of such a qualifier where it does not come as kNumber: BYTES
  };
  Kind kind = Kind::kKey;
  size_t index = 0;
  std::string family;
  std::string qualifier;
  NumberBytes written = NumberBytes::kDecimalText;
  Type type;
};

// A declared or open series, as it was when a query was bound.
struct FoundSeries {
  series::KnownSeriesRef known;
  std::string instance;             // projects/P/instances/I, which has the series
  uint64_t fingerprint = 0;         // of the declaration
  std::vector<std::string> tables;  // the full names of those that it is read from
  // Of the finder, which outlives queries; null: there are none.
  series::EntityIndex* index = nullptr;
  series::IndexWriter* index_writer = nullptr;
};

// A column that a scan of a series gives.
struct SeriesColumn {
  enum class Kind : uint8_t {
    kTag,  // tag `index`, or of an open series label `index`: STRING, which is NULL where the label is absent; INT64
    kTime,    // TIMESTAMP
    kField,   // field `index`: INT64, FLOAT64 or STRING
    kLabels,  // of an open series: MAP<STRING, STRING> of the labels that are there
  };
  Kind kind = Kind::kTime;
  size_t index = 0;
  Type type;
};

// t(with_history => TRUE, after => ...): which cells of each column count.  Expressions have no columns; null: not given.
struct TemporalArguments {
  bool with_history = false;
  ExpressionPtr as_of;  // only cells at or before it: TIMESTAMP, as are the next four
  ExpressionPtr after;  // exclusive
  ExpressionPtr after_or_equal;
  ExpressionPtr before;  // exclusive
  ExpressionPtr before_or_equal;
  ExpressionPtr latest_n;  // INT64: so many of each column, newest first
};

struct SortKey {
  ExpressionPtr expr;
  bool descending = false;
  bool nulls_first = true;
};

struct AggregateItem {
  const Function* function = nullptr;
  const Overload* overload = nullptr;
  Type type;
  std::vector<ExpressionPtr> arguments;
  bool distinct = false;
  bool ignores_nulls = false;  // rows whose first argument is NULL do not count
  ExpressionPtr having;        // only the rows where it is the most (or the least)
  bool having_is_max = true;
  std::vector<SortKey> order_by;
  ExpressionPtr limit;
};

struct WindowItem {
  struct Bound {
    enum class Kind : uint8_t {
      kUnboundedPreceding,
      kPreceding,
      kCurrentRow,
      kFollowing,
      kUnboundedFollowing
    };
    Kind kind = Kind::kUnboundedPreceding;
    ExpressionPtr offset;
    std::string part;  // of RANGE with INTERVAL over a TIMESTAMP: SECOND, ...
  };
  AggregateItem call;  // of a window function (Function::Kind::kWindow) or an aggregate
  bool is_range = true;
  Bound start;
  Bound end{Bound::Kind::kCurrentRow, nullptr, ""};
};

// INTERVAL count part.
struct IntervalArgument {
  ExpressionPtr count;  // INT64, without columns; null: not given
  std::string part;     // MINUTE, ...
};

// GAP_FILL of rows whose first column is a time, TIMESTAMP or DATE, and whose next ones are those of their partition.
struct GapFill {
  enum class Method : uint8_t {
    kNull,    // the value that is exactly there
    kLocf,    // the last one
    kLinear,  // on the line between the neighbours
  };
  size_t partition_columns = 0;
  std::vector<Method> methods;  // of the columns behind
  bool ignores_nulls = true;
  IntervalArgument width;
  IntervalArgument gap_max;  // between neighbours, beyond which nothing is filled; not given: none
  ExpressionPtr origin;      // of the type of the time, as are the next two, without columns; null: not given
  ExpressionPtr range_start;  // inclusive
  ExpressionPtr range_end;    // exclusive
};

struct Plan {
  enum class Kind : uint8_t {
    kSingleRow,  // one row without columns
    kScan,       // `scan`
    kSeries,     // `series`: a row for each point
    kUnpack,  // of rows with history, one row for each time: `history`; gives the input's columns, then _timestamp
    kUnnest,  // for each row of the input the elements of the array `expressions[0]`: the input's columns, the element, with_offset its number.
              // `is_outer`: a row whose array is empty or NULL comes once, with NULL
    kFilter,  // the rows for which expressions[0] is TRUE
    kProject,    // `expressions`
    kAggregate,  // for each group by `expressions`: their values, then `aggregates`.  Without expressions one row, also of no rows
    kWindow,  // the input's columns, then `windows`, over partitions by `expressions` in the order of `sort`
    kSort,    // by `sort`
    kLimit,   // `limit` and `offset`, expressions of INT64 without columns
    kJoin,    // of two inputs: `join`, `condition`; `asof`
    kUnion,   // the rows of all inputs, one after the other; all have the same types
    kGapFill,  // of rows ordered by partition and time: a row for each bucket of `gap_fill`; the input's columns
    kSetOperation,  // INTERSECT and EXCEPT of two inputs: `set_is_except`, `set_is_distinct`
  };
  enum class Join : uint8_t { kInner, kLeft, kRight, kFull };

  struct Scan {
    TableSchemaRef table;
    std::vector<ScanColumn> columns;
    TemporalArguments temporal;
    // Conditions on the key that every row fulfils which comes further: the rows that are read (key_ranges.h).  They read the columns of the scan.
    std::vector<ExpressionPtr> key_conditions;
    bool reversed = false;
    // A row counts if one of its cells does, whatever columns are read; false: only rows with a value in one of the
    // columns matter to the plan.
    bool needs_all_rows = true;
    // Of the kUnpack above: conditions on the time, as in TemporalArguments, that every time fulfils which comes further.
    // They read one column, $0: the time, TIMESTAMP.
    std::vector<ExpressionPtr> time_conditions;
    std::vector<std::string> hints;
  };
  struct SeriesScan {
    FoundSeries series;
    std::vector<SeriesColumn> columns;
    // as_of: the newest point of each series at or before that time.  latest_n: the newest points of each series.  None has
    // with_history.
    TemporalArguments temporal;
    // Conditions on tags and the time that every row fulfils which comes further.  They read the columns of the scan.
    std::vector<ExpressionPtr> conditions;
    // A point counts if it has one of its fields, whichever are read; false: only points with one of the columns matter to the plan.
    bool needs_all_points = true;

    bool IsOfNewest() const { return temporal.as_of != nullptr || temporal.latest_n != nullptr; }
  };
  // A column of kUnpack's input that has a history.
  struct History {
    size_t column = 0;
    bool is_map = false;  // MAP<BYTES, ARRAY<STRUCT<timestamp, value>>>; else the array
  };

  Kind kind = Kind::kSingleRow;
  std::vector<Type> types;
  std::vector<PlanPtr> inputs;
  std::vector<ExpressionPtr> expressions;
  std::unique_ptr<Scan> scan;
  std::unique_ptr<SeriesScan> series;
  std::unique_ptr<GapFill> gap_fill;
  std::vector<History> history;
  bool with_offset = false;
  bool is_outer = false;
  std::vector<AggregateItem> aggregates;
  std::vector<WindowItem> windows;
  std::vector<SortKey> sort;
  ExpressionPtr limit;
  ExpressionPtr offset;
  Join join = Join::kInner;
  bool asof = false;  // of the right rows that match, the one that is nearest by `asof_order`
  std::vector<SortKey> asof_order;
  ExpressionPtr condition;  // null: TRUE
  bool set_is_except = false;
  bool set_is_distinct = true;
};

struct OutputColumn {
  std::string name;  // never empty; may repeat
  Type type;
  std::string unit = {};  // of its values (column_units.h); empty: none is known
};

struct QueryParameter {
  std::string name;  // as declared; compared without case
  Type type;
};

// A schema bundle as it was when a query was bound.
struct BundleUse {
  std::string name;  // projects/P/instances/I/tables/T/schemaBundles/B
  std::string etag;
};

// INSERT: where the rows of a plan go.
struct InsertTarget {
  FoundSeries series;
  // What each column of the plan is of a point: every tag, the time, some fields.
  std::vector<SeriesColumn> columns;
};

struct BoundQuery {
  PlanPtr plan;
  std::optional<InsertTarget> insert;  // nothing: the rows are the answer
  std::vector<OutputColumn> columns;
  std::vector<QueryParameter> parameters;  // kParameter counts these
  enum class Explain : uint8_t { kNo, kPlan, kAnalyze };
  Explain explain = Explain::kNo;
  // Whether it writes when it is carried out.
  bool Writes() const { return insert.has_value() && explain == Explain::kNo; }
  std::vector<TableSchemaRef> tables;  // all that the query reads from, also inside of views; each once
  std::vector<LogicalViewRef> views;   // all that the query reads from, also inside of views; each once
  // The full names of the tables and views that the text itself names.  Whoever asks needs a right to read them, and no others.
  std::vector<std::string> named;
  std::vector<BundleUse> bundles;   // whose types it names, each once
  std::vector<FoundSeries> series;  // all that the query reads from, also inside of views; each once
};

}  // namespace sonde::sql
