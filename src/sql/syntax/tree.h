// The syntax tree of a query: what was written, before names and types mean anything.
//
//   absl::StatusOr<std::unique_ptr<Statement>> statement = ParseStatement("SELECT cf['q'] FROM t");
//
// Shape: three kinds of nodes, Expr, FromItem and Query, each a struct with a `kind`; which members a kind uses
//   stands beside it.  Lists own their members.  Pipe operators stay as they were written (PipeOperator); the
//   binder gives both forms one meaning.
// Names: identifiers as written, without backticks.  Names of functions in upper case.
// Positions: where in the text a node begins, as a byte offset, for errors (syntax_error.h).
// Ownership: a tree owns everything, and no text.
// Threads: a tree is immutable once parsed.
// Source: GoogleSQL's lexical structure, expressions, and query syntax; decision 0025 names the departures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::sql {

struct Expr;
struct Query;
using ExprPtr = std::unique_ptr<Expr>;
using QueryPtr = std::unique_ptr<Query>;

struct Position {
  uint32_t offset = 0;
};

// A.B.C; each part as written, without backticks.
struct Path {
  std::vector<std::string> parts;
  Position position;
};

// A type as it is written: INT64, ARRAY<STRUCT<a INT64, STRING>>, MAP<BYTES, INT64>, `bundle.pkg.Message`.
struct TypeName {
  Path path;                                         // of a simple type; else one of ARRAY, STRUCT, MAP
  std::vector<std::unique_ptr<TypeName>> arguments;  // of ARRAY one, of MAP two, of STRUCT its fields
  std::vector<std::string> field_names;              // of STRUCT, one an argument; empty: no name
  Position position;
};

struct OrderItem {
  ExprPtr expr;
  bool descending = false;
  std::optional<bool> nulls_first;  // NULLS FIRST, NULLS LAST; unset: as the direction says
};

// One side of a window frame.
struct FrameBound {
  enum class Kind : uint8_t { kUnboundedPreceding, kPreceding, kCurrentRow, kFollowing, kUnboundedFollowing };
  Kind kind = Kind::kUnboundedPreceding;
  ExprPtr offset;  // of kPreceding and kFollowing
};

struct WindowFrame {
  bool is_range = false;  // RANGE; else ROWS
  FrameBound start;
  FrameBound end;  // CURRENT ROW if the text has no BETWEEN
};

struct WindowSpec {
  std::string base;  // the named window that this one begins with; empty: none
  std::vector<ExprPtr> partition_by;
  std::vector<OrderItem> order_by;
  std::optional<WindowFrame> frame;
  Position position;
};

struct NamedArgument {
  std::string name;  // with_history => TRUE
  ExprPtr value;
  Position position;
};

// A hint @{name = value}.
struct Hint {
  Path name;
  ExprPtr value;
};

struct Expr {
  enum class Kind : uint8_t {
    // --- Leaves.
    kNull,
    kBool,       // `boolean`
    kInt,        // `text`: decimal or 0x..., without sign
    kFloat,      // `text`; 0.5 for .5
    kString,     // `text`: the value, unescaped, valid UTF-8
    kBytes,      // `text`: the value, unescaped
    kDate,       // DATE '...': `text`
    kTimestamp,  // TIMESTAMP '...': `text`
    kParameter,  // @name: `text`
    kName,  // a name: `text`; a.b is kField of kName.  Parts of dates (the MONTH of DATE_TRUNC) are names, too
    // --- Operators.  Operands in `children`.
    kField,      // children[0].text
    kStarField,  // children[0].*, in select lists only
    kIndex,  // children[0][children[1]]; `text`: "", OFFSET, ORDINAL, SAFE_OFFSET, SAFE_ORDINAL, KEY, SAFE_KEY
    kUnary,     // `text`: -, +, ~, NOT
    kBinary,    // `text`: || * / + - << >> & ^ | = != < <= > >= LIKE AND OR, IS DISTINCT FROM.  <> is !=.
                // AND and OR may have more than two operands.  `negated`: NOT LIKE, IS NOT DISTINCT FROM
    kIs,        // children[0] IS [NOT] `text`: NULL, TRUE, FALSE; `negated`
    kBetween,   // children[0] [NOT] BETWEEN children[1] AND children[2]; `negated`
    kInList,    // children[0] [NOT] IN (children[1], ...); `negated`
    kInUnnest,  // children[0] [NOT] IN UNNEST(children[1]); `negated`
    kInQuery,   // children[0] [NOT] IN (query); `negated`
    kCase,      // `has_operand`: children[0] is it; then WHEN, THEN pairs; then, with `has_else`, ELSE
    kCast,  // CAST(children[0] AS type [FORMAT children[1]] [AT TIME ZONE children[2]]); `safe`: SAFE_CAST.
            // Children that are not there are null.
    kExtract,  // EXTRACT(text FROM children[0] [AT TIME ZONE children[1]]); part in upper case, WEEK(MONDAY) too
    kInterval,  // INTERVAL children[0] text; the part in upper case
    kArray,     // [ARRAY[<type>]] [children...]; `type`: null unless written
    kStruct,  // (a, b), STRUCT[<type>](a AS x, ...); `names`: one a child, empty where there is none; `is_tuple`
    kLambda,    // names -> children[0]
    kCall,      // a function call: `call`
    kGrouping,  // in GROUP BY only, by `text`: ROLLUP, CUBE, GROUPING SETS of `children`; () without any
    // --- Queries.  `query`.
    kScalarQuery,
    kArrayQuery,   // ARRAY(query)
    kExistsQuery,  // EXISTS(query)
  };

  // The parts of a call that most calls do not have.
  struct Call {
    Path name;  // in upper case; SAFE.F has two parts, HLL_COUNT.INIT too
    std::vector<ExprPtr> arguments;
    std::vector<NamedArgument> named;  // name => value, behind the others
    bool star = false;                 // COUNT(*)
    bool distinct = false;
    enum class Nulls : uint8_t { kUnsaid, kIgnore, kRespect };
    Nulls nulls = Nulls::kUnsaid;  // IGNORE NULLS, RESPECT NULLS, inside the parentheses
    ExprPtr having_max;            // HAVING MAX e
    ExprPtr having_min;
    std::vector<OrderItem> order_by;
    ExprPtr limit;
    std::unique_ptr<WindowSpec> over;  // OVER (...) or OVER name (only `base` is set)
  };

  Kind kind = Kind::kNull;
  Position position;
  std::string text;
  bool boolean = false;
  bool negated = false;
  bool safe = false;
  bool has_operand = false;
  bool has_else = false;
  bool is_tuple = false;       // of kStruct: (a, b), whose fields take no names from what they are made of
  bool parenthesized = false;  // (expr): printed so, and no alias is taken from it otherwise
  std::vector<ExprPtr> children;
  std::vector<std::string> names;
  std::unique_ptr<TypeName> type;
  std::unique_ptr<Call> call;
  QueryPtr query;
};

// One item of a select list: expr [AS alias], *, expr.*.
struct SelectItem {
  struct Replacement {
    ExprPtr expr;
    std::string name;
  };
  ExprPtr expr;  // null for *; of expr.* the part before the dot (`star` is set)
  bool star = false;
  std::string alias;                 // empty: none
  std::vector<std::string> except;   // of stars
  std::vector<Replacement> replace;  // of stars
  Position position;
};

struct FromItem;
using FromItemPtr = std::unique_ptr<FromItem>;

struct FromItem {
  enum class Kind : uint8_t {
    kTable,     // `path`, `arguments`, `hints`: a table, a view, a WITH name, or a path to an array
    kUnnest,    // UNNEST(array) [WITH OFFSET [AS offset_alias]]
    kQuery,     // (query)
    kUnpack,    // UNPACK((query)); in a pipe operator without `query`
    kJoin,      // left, right, ...; `position`: of its first word, such as LEFT; `hints`: behind JOIN
    kFunction,  // a table function: `path`(`tables`, `positional`, `arguments`), such as GAP_FILL
  };
  enum class Join : uint8_t { kComma, kCross, kInner, kLeft, kRight, kFull };

  Kind kind = Kind::kTable;
  Position position;
  Path path;
  std::vector<NamedArgument> arguments;
  std::vector<ExprPtr> positional;  // of kFunction: arguments without a name
  std::vector<QueryPtr> tables;     // of kFunction: TABLE t (as SELECT * FROM t) and (query) arguments
  std::vector<Hint> hints;
  std::string alias;         // empty: none
  ExprPtr array;             // of kUnnest
  bool with_offset = false;  // of kUnnest, and of kTable, which may be an array
  std::string offset_alias;
  QueryPtr query;
  Join join = Join::kCross;
  bool asof = false;
  FromItemPtr left, right;
  ExprPtr on;
  std::vector<std::string> using_columns;
};

// One operator behind |>.
struct PipeOperator {
  enum class Kind : uint8_t {
    kSelect,     // items, distinct, windows
    kExtend,     // items, windows
    kSet,        // items: each alias = expr
    kDrop,       // names
    kRename,     // names -> new_names
    kAs,         // names[0]
    kWhere,      // expr
    kAggregate,  // items (with order marks), group_by (with aliases and order marks)
    kDistinct,
    kOrderBy,  // order_by
    kLimit,    // limit, offset
    kJoin,     // from: a join whose left is null
    kCall,     // from: kUnpack or kFunction without its table; alias
    kUnion,    // set operations with `queries`
  };
  Kind kind = Kind::kWhere;
  Position position;
  bool distinct = false;
  std::vector<SelectItem> items;
  std::vector<SelectItem> group_by;
  std::vector<OrderItem> order_by;  // of kAggregate: GROUP AND ORDER BY and item marks, by ordinals
  bool group_and_order_by = false;
  std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>> windows;
  std::vector<std::string> names;
  std::vector<std::string> new_names;
  ExprPtr expr;
  ExprPtr limit, offset;
  FromItemPtr from;
  std::string set_operation;  // as Query::set_operation
  std::vector<QueryPtr> queries;
};

struct Query {
  enum class Kind : uint8_t {
    kSelect,  // items, from, where, group_by, having, qualify, windows
    kFrom,    // FROM item, which pipe operators follow
    kNested,  // (nested)
    kSet,     // inputs, joined by `set_operation`
  };
  struct With {
    std::string name;
    QueryPtr query;
    Position position;
  };

  Kind kind = Kind::kSelect;
  Position position;
  bool recursive = false;  // WITH RECURSIVE, which nothing takes
  std::vector<With> with;
  std::vector<Hint> hints;

  bool distinct = false;
  bool as_struct = false;  // SELECT AS STRUCT
  bool as_value = false;   // SELECT AS VALUE
  std::vector<SelectItem> items;
  FromItemPtr from;  // null: none
  ExprPtr where;
  std::vector<ExprPtr> group_by;
  bool group_by_all = false;  // GROUP BY ALL
  ExprPtr having;
  ExprPtr qualify;
  std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>> windows;

  QueryPtr nested;
  std::string
      set_operation;  // UNION ALL, UNION DISTINCT, INTERSECT ALL, INTERSECT DISTINCT, EXCEPT ALL, EXCEPT DISTINCT
  std::vector<QueryPtr> inputs;

  std::vector<OrderItem> order_by;
  ExprPtr limit;
  ExprPtr offset;

  std::vector<PipeOperator> pipes;
};

// INSERT INTO into (columns) VALUES (...), ..., or a query.
struct InsertInto {
  struct Column {
    std::string name;
    Position position;
  };
  struct Row {
    std::vector<ExprPtr> values;
    Position position;
  };
  Path into;
  std::vector<Column> columns;  // none: all, in the order of *
  std::vector<Row> rows;        // of VALUES; none: Statement::query gives them
  Position position;
};

struct Statement {
  enum class Explain : uint8_t { kNo, kPlan, kAnalyze };
  Explain explain = Explain::kNo;
  std::unique_ptr<InsertInto> insert;  // null: the statement is a query
  QueryPtr query;                      // null: of INSERT ... VALUES
};

}  // namespace sonde::sql
