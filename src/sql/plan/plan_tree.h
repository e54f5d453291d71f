// Walks plans and their expressions, subqueries included; and copies them.
//
// References to columns: in an expression of an operator, kColumn; in a subquery of that expression, kOuter whose
//   depth is the number of queries in between.  The functions here treat both as references to the operator's input.
// Lambdas: until a plan is finished, the parameters of lambdas are columns from kLambdaBase on, each number used once
//   in a query, so that columns can be moved freely.  FinishPlan puts them behind the columns of the input.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "sql/expression/expression.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

constexpr size_t kLambdaBase = size_t{1} << 40;

// Calls `visit` for each node, parents first; `level` counts the subqueries that it lies in.  True: what is inside the
// node is left out.  Plans of subqueries that others share are copied first.
using VisitNode = absl::FunctionRef<bool(ExpressionPtr* node, size_t level)>;
void VisitNodes(ExpressionPtr* expression, VisitNode visit, size_t level = 0);
// For each expression of an operator; `visit` gets those that are there.
void ForEachExpression(Plan* plan, absl::FunctionRef<void(ExpressionPtr*)> visit);

// For each subquery in the expressions of an operator, but not those inside of other subqueries; `visit` may replace it.
void ForEachSubquery(Plan* plan, absl::FunctionRef<void(Expression::Kind kind, PlanPtr* subquery)> visit);

// Whether a node is a reference to the columns at level 0.
bool IsReference(const Expression& node, size_t level);
// The columns that an expression and its subqueries refer to, ascending, each once.
std::vector<size_t> ReferencesOf(const Expression& expression);
// Whether there is a reference to a query further out, at level 0.
bool HasOuter(const Expression& expression);
bool HasSubquery(const Expression& expression);
// Whether some part of an expression gives something else each time (RAND, ERROR).
bool HasVolatile(const Expression& expression);
// Replaces the index of each reference by to(index).
void MapReferences(ExpressionPtr* expression, absl::FunctionRef<size_t(size_t)> to);
// Replaces each reference by a copy of with(index); null: it stays.
void Substitute(ExpressionPtr* expression, absl::FunctionRef<const Expression*(size_t)> with);

// Copies, subqueries included.
ExpressionPtr CloneDeep(const Expression& expression);
PlanPtr ClonePlan(const Plan& plan);

// Sets what the executor reads of finished plans: numbers of lambdas' parameters, is_correlated.
void FinishPlan(Plan* plan);

// --- Operators over an input.
PlanPtr MakeSingleRow();
PlanPtr MakeFilter(PlanPtr input, ExpressionPtr condition);
PlanPtr MakeProject(PlanPtr input, std::vector<ExpressionPtr> expressions);
// Each different row once.
PlanPtr MakeDistinct(PlanPtr input);
PlanPtr MakeSort(PlanPtr input, std::vector<SortKey> sort);
// AND of them, in order; null: there are none.
ExpressionPtr MakeAnd(std::vector<ExpressionPtr> conditions);
// The operands of AND, however deep.
void SplitAnd(ExpressionPtr condition, std::vector<ExpressionPtr>* conjuncts);

}  // namespace sonde::sql
