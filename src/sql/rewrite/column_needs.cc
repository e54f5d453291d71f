#include "sql/rewrite/column_needs.h"

#include <algorithm>

namespace sonde::sql {

size_t Needs::Add(size_t column, const std::optional<Access>& access) {
  const size_t found = Find(column, access);
  if (found < list_.size()) return found;
  list_.push_back({column, access});
  return list_.size() - 1;
}

size_t Needs::Find(size_t column, const std::optional<Access>& access) const {
  for (size_t i = 0; i < list_.size(); ++i) {
    const Need& need = list_[i];
    if (need.column != column || need.access.has_value() != access.has_value()) continue;
    if (!access.has_value() || need.access->IsSameAs(*access)) return i;
  }
  return list_.size();
}

bool IsFamily(const Plan& plan, size_t column) {
  switch (plan.kind) {
    case Plan::Kind::kScan:
      return plan.scan->columns[column].kind == ScanColumn::Kind::kFamily;
    case Plan::Kind::kFilter:
    case Plan::Kind::kSort:
    case Plan::Kind::kLimit:
      return IsFamily(*plan.inputs[0], column);
    case Plan::Kind::kUnnest:
    case Plan::Kind::kWindow:
      return column < plan.inputs[0]->types.size() && IsFamily(*plan.inputs[0], column);
    case Plan::Kind::kJoin: {
      const size_t left = plan.inputs[0]->types.size();
      return column < left ? IsFamily(*plan.inputs[0], column) : IsFamily(*plan.inputs[1], column - left);
    }
    case Plan::Kind::kProject: {
      const Expression& expression = *plan.expressions[column];
      return expression.kind == Expression::Kind::kColumn && IsFamily(*plan.inputs[0], expression.index);
    }
    case Plan::Kind::kUnion:
      return std::all_of(plan.inputs.begin(), plan.inputs.end(),
                         [column](const PlanPtr& input) { return IsFamily(*input, column); });
    default:
      return false;
  }
}

bool IsCellHistory(const Plan& plan, size_t column) {
  if (plan.kind == Plan::Kind::kFilter) return IsCellHistory(*plan.inputs[0], column);
  if (plan.kind != Plan::Kind::kProject) return false;
  const Expression& expression = *plan.expressions[column];
  if (expression.kind == Expression::Kind::kColumn) return IsCellHistory(*plan.inputs[0], expression.index);
  const std::optional<Access> cell = AccessOf(expression);
  return cell.has_value() && cell->kind == ScanColumn::Kind::kCell && cell->type.Is(TypeKind::kArray) &&
         cell->type.element().fields()[1].type.Is(TypeKind::kBytes) &&
         cell->family->kind == Expression::Kind::kColumn && IsFamily(*plan.inputs[0], cell->family->index);
}

bool IsUnpackedCell(const Plan& plan, size_t column) {
  switch (plan.kind) {
    case Plan::Kind::kFilter:
    case Plan::Kind::kSort:
    case Plan::Kind::kLimit:
      return IsUnpackedCell(*plan.inputs[0], column);
    case Plan::Kind::kUnnest:
    case Plan::Kind::kWindow:
      return column < plan.inputs[0]->types.size() && IsUnpackedCell(*plan.inputs[0], column);
    case Plan::Kind::kJoin: {
      const size_t left = plan.inputs[0]->types.size();
      return column < left ? IsUnpackedCell(*plan.inputs[0], column)
                           : IsUnpackedCell(*plan.inputs[1], column - left);
    }
    case Plan::Kind::kProject: {
      const Expression& expression = *plan.expressions[column];
      return expression.kind == Expression::Kind::kColumn &&
             IsUnpackedCell(*plan.inputs[0], expression.index);
    }
    case Plan::Kind::kUnpack:
      return std::ranges::any_of(plan.history,
                                 [column](const Plan::History& history) {
                                   return history.column == column && !history.is_map;
                                 }) &&
             IsCellHistory(*plan.inputs[0], column);
    default:
      return false;
  }
}

bool IsOfInput(const Plan& plan, size_t column, bool (*is)(const Plan& plan, size_t column)) {
  if (plan.inputs.empty()) return false;
  const size_t left = plan.inputs[0]->types.size();
  if (column < left) return is(*plan.inputs[0], column);
  return plan.kind == Plan::Kind::kJoin && is(*plan.inputs[1], column - left);
}

}  // namespace sonde::sql
