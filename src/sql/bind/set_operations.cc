// UNION, INTERSECT, EXCEPT.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/function/signature.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

std::string CountText(size_t count) { return fmt::format("{} column{}", count, count == 1 ? "" : "s"); }

// What is known of a column: literals of a select list coerce as literals.
ArgumentFacts FactsOfColumn(const Plan& plan, size_t column) {
  if (plan.kind == Plan::Kind::kProject) return FactsOf(*plan.expressions[column]);
  ArgumentFacts facts;
  facts.type = plan.types[column];
  return facts;
}

PlanPtr Combine(std::string_view operation, std::vector<PlanPtr> inputs) {
  auto plan = std::make_unique<Plan>();
  plan->types = inputs[0]->types;
  if (operation.starts_with("UNION")) {
    plan->kind = Plan::Kind::kUnion;
    plan->inputs = std::move(inputs);
    return operation == "UNION ALL" ? std::move(plan) : MakeDistinct(std::move(plan));
  }
  PlanPtr left = std::move(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) {
    auto both = std::make_unique<Plan>();
    both->kind = Plan::Kind::kSetOperation;
    both->types = left->types;
    both->set_is_except = operation.starts_with("EXCEPT");
    both->set_is_distinct = operation.ends_with("DISTINCT");
    both->inputs.push_back(std::move(left));
    both->inputs.push_back(std::move(inputs[i]));
    left = std::move(both);
  }
  return left;
}

}  // namespace

absl::StatusOr<Relation> QueryBinder::BindSetOperation(std::string_view operation,
                                                       std::vector<Relation> inputs,
                                                       const std::vector<Position>& positions) {
  for (Relation& input : inputs) input = Compact(std::move(input));
  const size_t width = inputs[0].plan->types.size();
  for (size_t i = 1; i < inputs.size(); ++i) {
    const size_t other = inputs[i].plan->types.size();
    if (other == width) continue;
    return Error(positions[i],
                 fmt::format("Queries in {} have mismatched column count; query 1 has {}, query {} has {}",
                             operation, CountText(width), i + 1, CountText(other)));
  }
  std::vector<Type> types;
  for (size_t column = 0; column < width; ++column) {
    std::vector<ArgumentFacts> facts;
    std::string shown;
    for (const Relation& input : inputs) {
      facts.push_back(FactsOfColumn(*input.plan, column));
      shown += (shown.empty() ? "" : ", ") + ShownType(facts.back());
    }
    const std::optional<Type> common = CommonSupertype(facts);
    if (!common.has_value()) {
      return Error(positions[1],
                   fmt::format("Column {} in {} has incompatible types: {}", column + 1, operation, shown));
    }
    if (operation != "UNION ALL" && !common->IsGroupable()) {
      return Error(positions[0],
                   fmt::format("Column {} in {} has type that does not support set operation comparisons: {}",
                               column + 1, operation, common->ToString()));
    }
    types.push_back(*common);
  }
  std::vector<PlanPtr> plans;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PlanPtr plan = std::move(inputs[i].plan);
    if (plan->types != types) {
      if (plan->kind != Plan::Kind::kProject) {
        std::vector<ExpressionPtr> columns;
        for (size_t column = 0; column < width; ++column)
          columns.push_back(MakeColumn(column, plan->types[column]));
        plan = MakeProject(std::move(plan), std::move(columns));
      }
      for (size_t column = 0; column < width; ++column) {
        SONDE_TRY_SET(plan->expressions[column],
                      Coerce(std::move(plan->expressions[column]), types[column], positions[i]));
      }
      plan->types = types;
    }
    plans.push_back(std::move(plan));
  }
  Relation relation;
  relation.names.columns = inputs[0].names.columns;
  for (size_t column = 0; column < width; ++column) relation.names.columns[column].type = types[column];
  relation.plan = Combine(operation, std::move(plans));
  return relation;
}

}  // namespace sonde::sql
