// The binder of one statement: what its clauses share, and a function for each clause.
//
// Columns: an expression reads the columns of its clause's input.  While a SELECT is bound, three more ranges of columns
//   stand for what has no place yet: results of aggregates from kAggregateBase on, of window functions from kWindowBase
//   on, and items of the select list, named by their aliases, from kSelectBase on.  FinishSelect gives them places.
// Files: expressions.cc, messages.cc, casts.cc, constructors.cc, operators.cc, literals.cc, calls.cc, special_calls.cc, aggregate_calls.cc, window_calls.cc,
//   subqueries.cc; from.cc, tables.cc, views.cc, series.cc, gap_fill.cc, joins.cc; select.cc, select_items.cc, order.cc, grouping.cc, set_operations.cc, pipes.cc.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/bind/binder.h"
#include "sql/bind/names.h"
#include "sql/expression/expression.h"
#include "sql/function/signature.h"
#include "sql/plan/plan.h"
#include "sql/syntax/syntax_error.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

constexpr size_t kAggregateBase = size_t{1} << 36;
constexpr size_t kWindowBase = size_t{1} << 37;
constexpr size_t kSelectBase = size_t{1} << 38;

// A plan and the names of its columns.
struct Relation {
  PlanPtr plan;
  NameList names;
};

// A window function, or an aggregate with OVER.
struct WindowCall {
  WindowItem item;
  std::vector<ExpressionPtr> partition;
  std::vector<SortKey> sort;
};

using NamedWindows = std::vector<std::pair<std::string, std::unique_ptr<WindowSpec>>>;

// A window with what it has from the windows that it names.
struct FlatWindow {
  const std::vector<ExprPtr>* partition_by = nullptr;
  const std::vector<OrderItem>* order_by = nullptr;
  const WindowFrame* frame = nullptr;
};

// GROUPING(argument): the aggregate that it became, whose argument is known once all keys are.
struct GroupingCall {
  size_t aggregate = 0;
  ExpressionPtr argument;
  Position position;
};

// The keys of a grouping set, by their places, ascending, each once.
using GroupingSet = std::vector<size_t>;

// The calls of a SELECT that are not evaluated row by row.
struct SelectCalls {
  std::vector<AggregateItem> aggregates;  // columns kAggregateBase, ...
  std::vector<GroupingCall> groupings;
  std::vector<WindowCall> windows;  // columns kWindowBase, ...
  const NamedWindows* named_windows = nullptr;
};

// Where an expression stands.
struct Site {
  const Scope* scope = nullptr;
  std::string_view clause;            // "WHERE clause", for errors
  SelectCalls* aggregates = nullptr;  // null: aggregate functions are not allowed here
  SelectCalls* windows = nullptr;     // null: window functions are not allowed here
  const Expr* around = nullptr;       // the aggregate whose argument this is
};

// An argument of a call, bound as far as it can be before a signature is chosen.
struct CallArgument {
  const Expr* expr = nullptr;
  ArgumentFacts facts;
  ExpressionPtr bound;    // of a value; of an interval its number
  std::string part;       // of a part or an interval
  std::string_view name;  // of a named argument
};

// An item of a select list, stars expanded.
struct BoundItem {
  ExpressionPtr expr;
  std::string name;
  Position position;
  bool from_star = false;
  bool has_alias = false;
  std::optional<size_t> key;  // GROUP BY names it: the place of its key
};

struct BoundOrder {
  ExpressionPtr expr;  // null: `item`
  size_t item = 0;
  bool descending = false;
  bool nulls_first = true;
  Position position;
};

// A SELECT whose expressions are bound, and read the columns of `input`.
struct SelectBlock {
  Relation input;
  std::vector<BoundItem> items;
  std::vector<ExpressionPtr> keys;
  std::vector<GroupingSet> sets;  // none: all keys are one set
  size_t set_column = 0;          // of `input`, once ExpandBySets was called: a STRUCT
  bool is_grouped = false;
  SelectCalls calls;
  ExpressionPtr having;
  ExpressionPtr qualify;
  bool distinct = false;
  std::vector<BoundOrder> order;
};

class QueryBinder {
 public:
  // `text` and `options` must outlive this.
  QueryBinder(std::string_view text, const BindOptions& options) : text_(text), options_(options) {}
  QueryBinder(const QueryBinder&) = delete;
  QueryBinder& operator=(const QueryBinder&) = delete;

  absl::StatusOr<BoundQuery> BindStatement(const Statement& statement);

 private:
  using Bound = absl::StatusOr<ExpressionPtr>;

  // --- Errors.
  absl::Status Error(Position position, std::string_view message) const;
  // An error if an item of ORDER BY or GROUP BY (`clause`) is a literal, which orders nothing.  DATE '...' and
  // TIMESTAMP '...' are taken, as GoogleSQL takes them.
  absl::Status RefuseLiteral(const Expr& expr, const Expression& bound, std::string_view clause) const;
  // The number that an item of ORDER BY or GROUP BY counts columns by, if the item is a literal of INT64.
  static std::optional<int64_t> OrdinalOf(const Expression& bound);
  // The place of the item with this number, counted from 0.  An error: it is none of 1 to `count`.
  absl::StatusOr<size_t> ItemAt(const Expr& expr, int64_t ordinal, size_t count) const;
  absl::Status OrdinalBelowOne(Position position, int64_t ordinal) const;
  // Where a word of the text stands, before or from a position on; the position, if it is not there.
  Position WordBefore(Position position, std::string_view word) const;
  Position WordFrom(Position position, std::string_view word) const;
  // UNIMPLEMENTED in production's dialect; else OK.
  absl::Status RequireExtension(Position position, std::string_view construct) const;

  // --- Expressions (expressions.cc).
  Bound BindExpression(const Expr& expr, const Site& site);
  // BOOL, for a clause that takes a condition.
  Bound BindCondition(const Expr& expr, const Site& site, std::string_view clause);
  Bound BindName(const Expr& expr, const Site& site);
  Bound BindFound(const FoundName& found, std::string_view name, Position position);
  Bound BindField(const Expr& expr, const Site& site);
  // Where the name behind the dot stands.
  Position FieldPosition(const Expr& expr) const;
  Bound AccessField(ExpressionPtr value, std::string_view name, Position position);
  Bound BindParameter(const Expr& expr);
  Bound BindIndex(const Expr& expr, const Site& site);
  Bound BindCase(const Expr& expr, const Site& site);
  // Makes the conditions of a CASE BOOL, and its values one type, which is the result.
  absl::StatusOr<Type> CoerceCase(const Expr& expr, const std::vector<Position>& positions,
                                  std::vector<ExpressionPtr>* conditions, std::vector<ExpressionPtr>* values);
  Bound BindCast(const Expr& expr, const Site& site);
  Bound MakeCast(ExpressionPtr value, const Type& to, bool is_safe, Position position);
  Bound BindExtract(const Expr& expr, const Site& site);
  Bound BindArray(const Expr& expr, const Site& site);
  absl::StatusOr<Type> CoerceElements(const Expr& expr, const std::vector<Position>& positions,
                                      std::vector<ExpressionPtr>* elements);
  Bound BindStruct(const Expr& expr, const Site& site);
  absl::StatusOr<Type> BindType(const TypeName& name);
  // A message or enum of a schema bundle of one of the tables so far: BUNDLE.PACKAGE.NAME.  Nothing: there is none.
  absl::StatusOr<std::optional<Type>> FindBundleType(std::string_view path);
  Bound AccessMessageField(ExpressionPtr value, std::string_view name, Position position);
  ExpressionPtr Reference(const NamedColumn& column, size_t depth, Position position, std::string_view shown);

  // --- Literals (literals.cc).
  Bound BindLiteral(const Expr& expr);
  Bound BindInteger(const Expr& expr, bool negative, Position position);

  // --- Operators (operators.cc).
  Bound BindUnary(const Expr& expr, const Site& site);
  // INVALID_ARGUMENT: an operand of << >> & | ^ has no bits, or those of & | ^ have two types.
  absl::Status CheckBitwise(const Expr& expr, const Expression& left, const Expression& right) const;
  Bound BindBinary(const Expr& expr, const Site& site);
  Bound BindAndOr(const Expr& expr, const Site& site);
  Bound BindIs(const Expr& expr, const Site& site);
  // TIMESTAMP plus or minus INTERVAL (intervals.cc).
  Bound BindIntervalOperator(const Expr& expr, const Site& site);
  Bound BindBetween(const Expr& expr, const Site& site);
  Bound BindIn(const Expr& expr, const Site& site);
  // A call of the operator `function` ($add), which the text writes as `shown`.
  // `places`: where the arguments stand; none: all at `position`.
  Bound CallOperator(std::string_view function, std::string_view shown, std::vector<ExpressionPtr> arguments,
                     Position position, const std::vector<ExprPtr>* places = nullptr);
  // What CONCAT and || take, as texts, unless one of the values has none (concat.cc).
  absl::Status CastToTexts(const std::vector<ExpressionPtr*>& values, Position position);
  absl::Status CastArgumentsToTexts(std::vector<CallArgument>* arguments, Position position);
  Bound Negate(ExpressionPtr value, bool negated, Position position);
  absl::Status RefuseNull(std::string_view shown, const Expr& operand, const Expression& bound) const;
  absl::StatusOr<Kernel> EqualKernel(const Type& type, Position position);

  // --- Coercion (coercion.cc).
  Bound Coerce(ExpressionPtr value, const Type& to, Position position);
  // All of them as their common supertype; nothing: there is none.
  absl::StatusOr<std::optional<Type>> CoerceToCommon(std::vector<ExpressionPtr>* values,
                                                     const std::vector<Position>& positions);

  // --- Calls of functions (calls.cc, special_calls.cc).
  Bound BindCall(const Expr& expr, const Site& site);
  Bound BindScalarCall(const Expr& expr, const Function& function, bool is_safe, const Site& site);
  Bound BindSpecialCall(const Expr& expr, std::string_view name, const Site& site, bool* is_special);
  Bound BindConditional(const Expr& expr, std::string_view name, const Site& site);
  Bound BindWriteTimestamp(const Expr& expr, const Site& site);
  absl::StatusOr<std::vector<CallArgument>> BindArguments(const Expr& expr, const Function& function,
                                                          const Site& site);
  absl::StatusOr<CallArgument> BindArgument(const Expr& expr, const Function& function, size_t place,
                                            const Site& site);
  // Puts named arguments at the places that a signature gives them.
  absl::Status PlaceNamedArguments(const Expr& expr, const Function& function,
                                   std::vector<CallArgument>* arguments, const Site& site);
  absl::StatusOr<ChosenOverload> Choose(const Expr& expr, const Function& function,
                                        std::vector<CallArgument>* arguments, const Site& site);
  // INVALID_ARGUMENT: the function does not take a part of a date for such a value (intervals.cc).
  absl::Status CheckParts(const Expr& expr, const Function& function, const ChosenOverload& chosen,
                          const std::vector<CallArgument>& arguments) const;
  // INVALID_ARGUMENT: the pattern of a FORMAT does not fit, a path of JSON is not constant, a key of a map is a map, or the
  // mode of ARRAY_FIND is none (argument_checks.cc).
  absl::Status CheckArguments(const Expr& expr, const Function& function, const ChosenOverload& chosen,
                              const std::vector<CallArgument>& arguments) const;
  absl::Status CheckFindMode(const CallArgument& mode) const;
  // Keeps an error, OUT_OF_RANGE, if a literal is no pattern of LIKE.  The error comes behind all errors of binding, and also
  // where no row would be matched with the pattern.
  void CheckLikePattern(const Expression& pattern);
  // INVALID_ARGUMENT: the pattern of a FORMAT is a literal that does not fit the other arguments.
  absl::Status CheckFormat(const Expr& expr, const std::vector<CallArgument>& arguments) const;
  // Arguments as the kernel takes them.
  absl::StatusOr<std::vector<ExpressionPtr>> FinishArguments(const ChosenOverload& chosen,
                                                             std::vector<CallArgument> arguments,
                                                             const Site& site);
  Bound BindLambda(const Expr& expr, const std::vector<Type>& parameters, const Site& site);

  // --- Calls of aggregates and window functions (aggregate_calls.cc, window_calls.cc).
  // Whether a call of an aggregate of this name may stand here.
  absl::Status CheckMayAggregate(const Expr& expr, std::string_view name, const Site& site) const;
  Bound BindAggregateCall(const Expr& expr, const Function& function, const Site& site);
  absl::StatusOr<AggregateItem> BindAggregateItem(const Expr& expr, const Function& function,
                                                  const Site& site);
  absl::Status CheckModifiers(const Expr& expr, const Function& function) const;
  absl::Status BindModifiers(const Expr& expr, const Function& function, const Site& inside,
                             AggregateItem* item);
  Bound BindWindowCall(const Expr& expr, const Function& function, const Site& site);
  absl::StatusOr<FlatWindow> FlattenWindow(const WindowSpec& spec, const NamedWindows* named) const;
  absl::Status BindWindowKeys(const FlatWindow& flat, const Site& site, WindowCall* call);
  absl::Status BindWindowSpec(const WindowSpec& spec, const Function& function, const Site& site,
                              WindowCall* call);
  absl::Status BindFrame(const WindowFrame& frame, Position position, const Site& site, WindowCall* call);
  absl::Status BindFrameOffset(const FrameBound& bound, bool is_range, const WindowCall& call,
                               const Site& site, WindowItem::Bound* to);

  // --- Subqueries in expressions (subqueries.cc).
  Bound BindSubquery(const Expr& expr, const Site& site);

  // --- Queries (select.cc, select_items.cc, order.cc, set_operations.cc).
  // `outer`: what the query around it has; null: nothing.
  absl::StatusOr<Relation> BindQuery(const Query& query, const Scope* outer);
  absl::StatusOr<Relation> BindQueryWithoutWith(const Query& query, const Scope* outer);
  absl::StatusOr<Relation> BindBody(const Query& query, const Scope* outer);
  absl::StatusOr<Relation> BindSelect(const Query& query, const Scope* outer);
  absl::Status CheckWithoutFrom(const Query& query) const;
  absl::Status CheckExtensions(const Query& query) const;
  absl::Status CheckNamedWindows(const NamedWindows& windows) const;
  // HAVING, QUALIFY, ORDER BY: what may name items of the select list.
  absl::Status BindLaterClauses(const Query& query, const Site& site, SelectBlock* block);
  void ResolveAliases(const SelectBlock& block, ExpressionPtr* expr) const;
  void ResolveAliasesInCalls(SelectBlock* block) const;
  static Relation AsStruct(Relation relation);
  absl::Status BindSelectItems(const std::vector<SelectItem>& items, const Site& site, SelectBlock* block);
  absl::Status BindSelectItem(const SelectItem& item, const Site& site, SelectBlock* block);
  absl::Status BindStar(const SelectItem& item, const Site& site, SelectBlock* block);
  absl::Status AppendStarColumn(const NamedColumn& column, size_t depth, Position position,
                                std::vector<BoundItem>* items);
  absl::Status ApplyExceptAndReplace(const SelectItem& item, const Site& site, std::vector<BoundItem>* items);
  absl::Status BindGroupBy(const Query& query, const Site& site, SelectBlock* block);
  // Each gives the place of the key in block->keys.
  absl::StatusOr<size_t> BindGroupItem(const Expr& expr, const Site& site, SelectBlock* block);
  absl::StatusOr<size_t> AddGroupKey(ExpressionPtr key, Position position, SelectBlock* block);

  // --- ROLLUP, CUBE, GROUPING SETS, GROUPING (grouping.cc).
  using BindKey = absl::FunctionRef<absl::StatusOr<size_t>(const Expr& expr)>;
  absl::Status BindGroupItems(const std::vector<const Expr*>& items, BindKey bind_key, SelectBlock* block);
  absl::StatusOr<std::vector<GroupingSet>> BindGroupingSets(const Expr& expr, BindKey bind_key);
  absl::StatusOr<GroupingSet> BindGroupingSet(const Expr& expr, BindKey bind_key);
  Bound BindGroupingCall(const Expr& expr, const Site& site);
  // Gives the input each row once for each set, and a last key that tells the sets apart.
  static void ExpandBySets(SelectBlock* block);
  // Key `key` as groups see it: NULL in a set without it.
  static ExpressionPtr GroupExpression(const SelectBlock& block, size_t key);
  absl::Status FinishGroupingCalls(SelectBlock* block) const;
  absl::Status BindOrderBy(const std::vector<OrderItem>& order_by, const Site& site, SelectBlock* block);
  // The plan of a block: its items, in order.
  absl::StatusOr<Relation> FinishSelect(SelectBlock block);
  absl::Status FinishAggregation(SelectBlock* block);
  static void FinishWindows(SelectBlock* block);
  absl::StatusOr<Relation> FinishItems(SelectBlock* block);
  absl::Status SortDistinct(SelectBlock* block, std::vector<ExpressionPtr> columns, Relation* relation);
  // Replaces what is one of `keys` by its column; columns of aggregates come behind the keys.
  absl::Status ReplaceByKeys(ExpressionPtr* expr, const std::vector<ExpressionPtr>& keys,
                             std::string_view clause, std::string_view why) const;
  absl::Status SortRelation(const std::vector<OrderItem>& order_by, const Scope* outer, Relation* relation);
  absl::Status LimitRelation(const Expr* limit, const Expr* offset, Relation* relation);
  Bound BindCount(const Expr& expr);
  absl::StatusOr<Relation> BindSetOperation(std::string_view operation, std::vector<Relation> inputs,
                                            const std::vector<Position>& positions);
  absl::Status BindHints(const std::vector<Hint>& hints, std::vector<std::string>* names) const;

  // --- FROM (from.cc, tables.cc, series.cc, joins.cc).
  absl::StatusOr<Relation> BindFrom(const FromItem& item, const Scope* outer);
  absl::StatusOr<Relation> BindTable(const FromItem& item, const Scope* outer);
  absl::Status TableNotFound(const FromItem& item, std::string_view name) const;
  // Whether find_table and find_view know no such name.
  bool IsUnknown(std::string_view name) const;
  // INSERT INTO series.NAME (insert.cc).
  absl::StatusOr<Relation> BindInsert(const Statement& statement, std::optional<InsertTarget>* target);
  absl::StatusOr<InsertTarget> BindInsertTarget(const InsertInto& insert, std::vector<NamedColumn>* columns);
  absl::StatusOr<PlanPtr> BindInsertValues(const InsertInto& insert, const std::vector<NamedColumn>& columns);
  absl::StatusOr<PlanPtr> BindInsertQuery(const Query& query, const std::vector<NamedColumn>& columns);
  absl::Status CheckSource(const InsertInto& insert, const FoundSeries& series) const;
  // series.NAME (series.cc).
  absl::StatusOr<Relation> BindSeries(const FromItem& item);
  void AddSeries(const FoundSeries& series);
  absl::Status CheckTemporalOfSeries(const FromItem& item, const TemporalArguments& temporal) const;
  absl::Status BindTemporal(const FromItem& item, TemporalArguments* temporal);
  absl::Status CheckTemporal(const FromItem& item, const TemporalArguments& temporal) const;
  // What arguments of tables and of series have in common.
  absl::Status CheckBounds(Position position, const TemporalArguments& temporal) const;
  absl::StatusOr<Relation> BindUnpack(Relation input, std::string_view alias, Position position);
  absl::StatusOr<Relation> BindJoin(const FromItem& item, Relation left, const Scope* outer);
  // `item`: the array, or a join whose right side is one.
  absl::StatusOr<Relation> JoinArray(const FromItem& item, Relation left, const Scope* outer);
  static absl::StatusOr<Relation> FilterOuterArray(Relation relation, ExpressionPtr condition,
                                                   size_t left_width);
  absl::StatusOr<Relation> JoinRelations(const FromItem& item, Relation left, Relation right,
                                         const Scope* outer);
  absl::Status BindUsing(const FromItem& item, const NameList& left, const NameList& right, Plan* join,
                         NameList* names, std::vector<ExpressionPtr>* merged);
  absl::Status BindAsof(const FromItem& item, size_t left_width, Plan* join);
  absl::StatusOr<Relation> UnnestOver(const FromItem& item, ExpressionPtr array, Relation left,
                                      bool is_outer);
  // GAP_FILL (gap_fill.cc).  `piped`: its input in a pipe; null: its argument.
  absl::StatusOr<Relation> BindGapFill(const FromItem& item, Relation* piped, const Scope* outer);
  absl::Status BindGapFillArgument(const NamedArgument& argument, const Type& time, GapFill* fill);
  absl::Status BindIntervalArgument(const NamedArgument& argument, const Site& site, IntervalArgument* to);
  // Whether the item is an array: UNNEST, or a path that begins with a name of `left`.
  bool IsArray(const FromItem& item, const NameList& left, const Scope* outer) const;
  Bound BindArrayOf(const FromItem& item, const Scope& scope);

  // --- Logical views (views.cc).
  absl::StatusOr<Relation> BindView(const FromItem& item, const std::string& name);
  // The query of a view as a relation, without an alias.
  absl::StatusOr<Relation> BindQueryOf(const LogicalViewRef& view);
  void AddNamed(const std::string& resource);
  static void AddTable(const TableSchemaRef& table, std::vector<TableSchemaRef>* tables);

  // --- Pipes (pipes.cc).
  absl::StatusOr<Relation> BindPipe(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeSelect(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeExtend(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeSet(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeDrop(const PipeOperator& pipe, Relation input);
  absl::StatusOr<Relation> PipeRename(const PipeOperator& pipe, Relation input);
  absl::StatusOr<Relation> PipeAggregate(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeDistinct(Relation input, Position position);
  absl::StatusOr<Relation> PipeSetOperation(const PipeOperator& pipe, Relation input, const Scope* outer);
  absl::StatusOr<Relation> PipeCall(const PipeOperator& pipe, Relation input);

  struct WithQuery {
    std::string name;
    Relation relation;  // each use copies it
  };

  const std::string_view text_;
  const BindOptions& options_;
  std::vector<WithQuery> with_;
  size_t next_lambda_ = 0;
  size_t relations_ = 0;  // of FROM clauses, so far
  std::vector<std::string> hints_;
  absl::Status error_of_all_rows_;      // what fails before the first row is read; the first such error
  std::vector<TableSchemaRef> tables_;  // that the text names
  std::vector<TableSchemaRef> tables_in_views_;  // that views read from
  std::vector<LogicalViewRef> views_;
  std::vector<std::string> named_;
  std::vector<BundleUse> bundles_;
  size_t view_depth_ = 0;       // how many views this query lies in
  size_t view_text_bytes_ = 0;  // of all queries of views so far
  std::vector<FoundSeries> series_;
  // Where references stand, and how they are written, for errors.  An entry may be of an expression that is gone.
  struct Mention {
    Position position;
    std::string shown;
  };
  absl::flat_hash_map<const Expression*, Mention> mentions_;
};

// --- Facts about expressions that the parts of the binder share (coercion.cc).
ArgumentFacts FactsOf(const Expression& expression);
bool IsUntypedNull(const Expression& expression);
// Whether a column of [from, to) is read.
bool ReadsColumnsIn(const Expression& expression, size_t from, size_t to);
// As GoogleSQL names the type of an argument in errors: NULL, STRING, LAMBDA.
std::string ShownType(const ArgumentFacts& facts);
// The text behind "No matching signature for ".
std::string NoSignatureText(std::string_view shown, const Function& function,
                            absl::Span<const ArgumentFacts> arguments);
ExpressionPtr FieldOf(ExpressionPtr value, size_t field);
// Adds what a series has as columns (series.cc).
void AddColumnsOfSeries(const series::KnownSeries& known, Plan::SeriesScan* scan, NameList* names);
// A relation whose plan has just the named columns, in their order.
Relation Compact(Relation relation);
// Makes `alias` the range variable of all columns; empty: there is none.
void SetAlias(std::string_view alias, NameList* names);

}  // namespace sonde::sql
