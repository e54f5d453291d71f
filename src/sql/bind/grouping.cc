// ROLLUP, CUBE and GROUPING SETS: one aggregate over rows that come once for each grouping set.
//
// The input is unnested over an array of the sets, STRUCT<number INT64, BOOL of each key, ...>, whose element tells the key expressions
// which of them count: IF(has_key, key, NULL).  The number is a key of its own, so that a NULL of a key and a key that
// does not count make different groups, as do two sets of the same keys.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// GoogleSQL's limit.
constexpr size_t kGroupingSetsMax = 4'096;
// A plan has this many flags of keys in sets at most.
constexpr size_t kSetFlagsMax = 262'144;

absl::Status TooManySets() {
  return absl::InvalidArgumentError(
      fmt::format("Too many grouping sets, at most {} grouping sets are allowed", kGroupingSetsMax));
}

GroupingSet Union(const GroupingSet& a, const GroupingSet& b) {
  GroupingSet both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Each set of one with each of the other.
absl::StatusOr<std::vector<GroupingSet>> Product(const std::vector<GroupingSet>& a,
                                                 const std::vector<GroupingSet>& b) {
  if (a.size() * b.size() > kGroupingSetsMax) return TooManySets();
  std::vector<GroupingSet> sets;
  for (const GroupingSet& left : a) {
    for (const GroupingSet& right : b) sets.push_back(Union(left, right));
  }
  return sets;
}

// The first elements, from all of them to none.
std::vector<GroupingSet> Rollup(const std::vector<GroupingSet>& elements) {
  std::vector<GroupingSet> sets(1);
  for (const GroupingSet& element : elements) sets.push_back(Union(sets.back(), element));
  std::reverse(sets.begin(), sets.end());
  return sets;
}

// All subsets of the elements.
absl::StatusOr<std::vector<GroupingSet>> Cube(const std::vector<GroupingSet>& elements) {
  std::vector<GroupingSet> sets(1);
  for (const GroupingSet& element : elements) {
    const std::vector<GroupingSet> with_and_without = {element, GroupingSet()};
    SONDE_TRY_SET(sets, Product(sets, with_and_without));
  }
  return sets;
}

ExpressionPtr MakeIf(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise) {
  auto choice = std::make_unique<Expression>();
  choice->kind = Expression::Kind::kIf;
  choice->type = then->type;
  choice->arguments.push_back(std::move(condition));
  choice->arguments.push_back(std::move(then));
  choice->arguments.push_back(std::move(otherwise));
  return choice;
}

// Whether the set of a row has the key.
ExpressionPtr HasKey(const SelectBlock& block, size_t key) {
  return FieldOf(MakeColumn(block.set_column, block.input.plan->types[block.set_column]), key + 1);
}

}  // namespace

absl::Status QueryBinder::BindGroupItems(const std::vector<const Expr*>& items, BindKey bind_key,
                                         SelectBlock* block) {
  std::vector<GroupingSet> sets(1);
  bool has_sets = false;
  for (const Expr* const item : items) {
    if (item->kind != Expr::Kind::kGrouping) {
      SONDE_TRY_SET(const size_t key, bind_key(*item));
      for (GroupingSet& set : sets) set = Union(set, {key});
      continue;
    }
    if (item->text == "()") {
      return Error(item->position, "GROUP BY () is only allowed when there are no other grouping items");
    }
    SONDE_TRY(RequireExtension(item->position, item->text));
    SONDE_TRY_SET(const std::vector<GroupingSet> more, BindGroupingSets(*item, bind_key));
    SONDE_TRY_SET(sets, Product(sets, more));
    has_sets = true;
  }
  if (!has_sets) return absl::OkStatus();
  if (sets.size() * (block->keys.size() + 1) > kSetFlagsMax) {
    return absl::InvalidArgumentError(
        fmt::format("Too many grouping sets: {} sets of {} expressions have {} places; {} are allowed",
                    sets.size(), block->keys.size(), sets.size() * (block->keys.size() + 1), kSetFlagsMax));
  }
  block->sets = std::move(sets);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<GroupingSet>> QueryBinder::BindGroupingSets(const Expr& expr, BindKey bind_key) {
  std::vector<GroupingSet> sets;
  for (const ExprPtr& child : expr.children) {
    if (child->kind == Expr::Kind::kGrouping) {
      SONDE_TRY_SET(std::vector<GroupingSet> more, BindGroupingSets(*child, bind_key));
      if (child->text == "()") more.emplace_back();
      std::move(more.begin(), more.end(), std::back_inserter(sets));
    } else {
      SONDE_TRY_SET(GroupingSet set, BindGroupingSet(*child, bind_key));
      sets.push_back(std::move(set));
    }
    if (sets.size() > kGroupingSetsMax) return TooManySets();
  }
  if (expr.text == "ROLLUP") return Rollup(sets);
  if (expr.text == "CUBE") return Cube(sets);
  return sets;
}

// An expression, or several in parentheses, which count together.
absl::StatusOr<GroupingSet> QueryBinder::BindGroupingSet(const Expr& expr, BindKey bind_key) {
  GroupingSet set;
  if (expr.kind != Expr::Kind::kStruct || !expr.is_tuple) {
    SONDE_TRY_SET(const size_t key, bind_key(expr));
    set.push_back(key);
    return set;
  }
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(const size_t key, bind_key(*child));
    set = Union(set, {key});
  }
  return set;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindGroupingCall(const Expr& expr, const Site& site) {
  SONDE_TRY(RequireExtension(expr.position, "GROUPING"));
  SONDE_TRY(CheckMayAggregate(expr, "GROUPING", site));
  const size_t arguments = expr.call->arguments.size();
  if (arguments != 1 || !expr.call->named.empty()) {
    return absl::InvalidArgumentError(fmt::format("No matching signature for aggregate function GROUPING{}",
                                                  arguments == 0 ? " with no arguments" : ""));
  }
  Site inside = site;
  inside.aggregates = nullptr;
  inside.windows = nullptr;
  inside.clause = "argument of aggregate function";
  GroupingCall call;
  call.position = expr.position;
  SONDE_TRY_SET(call.argument, BindExpression(*expr.call->arguments[0], inside));
  // All rows of a group are of one set, so that any aggregate gives what they have.
  const Function* const function = FindFunction("MAX");
  const std::vector<ArgumentFacts> facts = {FactsOf(*MakeLiteral(Value::Int(0)))};
  const std::optional<ChosenOverload> chosen = ChooseOverload(*function, facts);
  if (!chosen.has_value()) return absl::InternalError("MAX takes no INT64");
  AggregateItem item;
  item.function = function;
  item.overload = chosen->overload;
  item.type = TypeKind::kInt64;
  // Until FinishGroupingCalls, it is like no other aggregate.
  item.limit = MakeLiteral(Value::Int(1));
  call.aggregate = site.aggregates->aggregates.size();
  site.aggregates->aggregates.push_back(std::move(item));
  site.aggregates->groupings.push_back(std::move(call));
  return MakeColumn(kAggregateBase + site.aggregates->aggregates.size() - 1, TypeKind::kInt64);
}

void QueryBinder::ExpandBySets(SelectBlock* block) {
  std::vector<Type::Field> fields = {{"", TypeKind::kInt64}};
  fields.resize(block->keys.size() + 1, {"", TypeKind::kBool});
  const Type element = Type::Struct(std::move(fields));
  std::vector<Value> elements;
  for (size_t number = 0; number < block->sets.size(); ++number) {
    std::vector<Value> values = {Value::Int(static_cast<int64_t>(number))};
    values.resize(block->keys.size() + 1, Value::Bool(false));
    for (const size_t key : block->sets[number]) values[key + 1] = Value::Bool(true);
    elements.push_back(Value::Struct(element, values));
  }
  auto unnest = std::make_unique<Plan>();
  unnest->kind = Plan::Kind::kUnnest;
  unnest->types = block->input.plan->types;
  unnest->types.push_back(element);
  unnest->expressions.push_back(MakeLiteral(Value::Array(element, elements)));
  block->set_column = block->input.plan->types.size();
  unnest->inputs.push_back(std::move(block->input.plan));
  block->input.plan = std::move(unnest);
  block->keys.push_back(FieldOf(MakeColumn(block->set_column, element), 0));
}

ExpressionPtr QueryBinder::GroupExpression(const SelectBlock& block, size_t key) {
  ExpressionPtr expression = CloneDeep(*block.keys[key]);
  const bool is_number = key + 1 == block.keys.size();
  if (block.sets.empty() || is_number) return expression;
  ExpressionPtr null = MakeLiteral(Value::Null(expression->type));
  return MakeIf(HasKey(block, key), std::move(expression), std::move(null));
}

absl::Status QueryBinder::FinishGroupingCalls(SelectBlock* block) const {
  for (GroupingCall& call : block->calls.groupings) {
    const auto same = std::find_if(block->keys.begin(), block->keys.end(),
                                   [&](const ExpressionPtr& key) { return IsSame(*key, *call.argument); });
    if (same == block->keys.end()) {
      return Error(call.position,
                   "GROUPING must have an argument that exists within the group-by expression list.");
    }
    const auto key = static_cast<size_t>(same - block->keys.begin());
    AggregateItem& item = block->calls.aggregates[call.aggregate];
    item.limit = nullptr;
    ExpressionPtr in = MakeLiteral(Value::Int(0));
    if (!block->sets.empty()) {
      in = MakeIf(HasKey(*block, key), std::move(in), MakeLiteral(Value::Int(1)));
    }
    item.arguments.push_back(std::move(in));
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
