// Select lists: stars, names of columns, AS STRUCT.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// The name that an expression gives to its column; empty: none.
std::string InferredName(const Expr& expr) {
  return expr.kind == Expr::Kind::kName || expr.kind == Expr::Kind::kField ? expr.text : "";
}

}  // namespace

absl::Status QueryBinder::CheckNamedWindows(const NamedWindows& windows) const {
  for (size_t i = 0; i < windows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (SameName(windows[i].first, windows[j].first)) {
        return Error(WordBefore(windows[i].second->position, windows[i].first),
                     fmt::format("Duplicate window alias {}", windows[i].first));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::BindSelectItem(const SelectItem& item, const Site& site, SelectBlock* block) {
  BoundItem bound;
  SONDE_TRY_SET(bound.expr, BindExpression(*item.expr, site));
  bound.has_alias = !item.alias.empty();
  bound.name = bound.has_alias ? item.alias : InferredName(*item.expr);
  bound.position = item.expr->position;
  block->items.push_back(std::move(bound));
  return absl::OkStatus();
}

absl::Status QueryBinder::BindSelectItems(const std::vector<SelectItem>& items, const Site& site,
                                          SelectBlock* block) {
  for (const SelectItem& item : items) {
    if (item.star) {
      SONDE_TRY(BindStar(item, site, block));
      continue;
    }
    SONDE_TRY(BindSelectItem(item, site, block));
  }
  constexpr size_t kColumnsMax = 10'000;
  if (block->items.size() > kColumnsMax) {
    return absl::InvalidArgumentError(fmt::format("A query has at most {} columns", kColumnsMax));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::AppendStarColumn(const NamedColumn& column, size_t depth, Position position,
                                           std::vector<BoundItem>* items) {
  if (!column.in_star) return absl::OkStatus();
  const auto append = [&](ExpressionPtr expr, std::string name) {
    BoundItem item;
    item.expr = std::move(expr);
    item.name = std::move(name);
    item.position = position;
    item.from_star = true;
    items->push_back(std::move(item));
  };
  if (!column.is_value || !column.type.Is(TypeKind::kStruct)) {
    append(Reference(column, depth, position, fmt::format("column {}", column.name)), column.name);
    return absl::OkStatus();
  }
  const std::vector<Type::Field>& fields = column.type.fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    append(FieldOf(Reference(column, depth, position, fields[i].name), i), fields[i].name);
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::BindStar(const SelectItem& item, const Site& site, SelectBlock* block) {
  std::vector<BoundItem> items;
  if (item.expr == nullptr) {
    for (const NamedColumn& column : block->input.names.columns) {
      SONDE_TRY(AppendStarColumn(column, 0, item.position, &items));
    }
  } else {
    FoundName found;
    if (item.expr->kind == Expr::Kind::kName) {
      absl::StatusOr<FoundName> name = FindName(*site.scope, item.expr->text);
      if (!name.ok()) return Error(item.expr->position, name.status().message().data());
      found = *name;
    }
    if (found.kind == FoundName::Kind::kVariable && !found.variable->is_value) {
      for (const NamedColumn& column : found.variable->columns) {
        SONDE_TRY(AppendStarColumn(column, found.depth, item.position, &items));
      }
    } else {
      SONDE_TRY_SET(const ExpressionPtr value, BindExpression(*item.expr, site));
      if (!value->type.Is(TypeKind::kStruct)) {
        return Error(item.expr->position,
                     fmt::format("Dot-star is not supported for type {}", value->type.ToString()));
      }
      for (size_t i = 0; i < value->type.fields().size(); ++i) {
        BoundItem field;
        field.expr = FieldOf(CloneDeep(*value), i);
        field.name = value->type.fields()[i].name;
        field.position = item.position;
        field.from_star = true;
        items.push_back(std::move(field));
      }
    }
  }
  SONDE_TRY(ApplyExceptAndReplace(item, site, &items));
  for (BoundItem& bound : items) block->items.push_back(std::move(bound));
  return absl::OkStatus();
}

absl::Status QueryBinder::ApplyExceptAndReplace(const SelectItem& item, const Site& site,
                                                std::vector<BoundItem>* items) {
  for (const std::string& name : item.except) {
    const size_t removed =
        std::erase_if(*items, [&name](const BoundItem& bound) { return SameName(bound.name, name); });
    if (removed == 0) {
      return Error(WordFrom(WordFrom(item.position, "EXCEPT"), name),
                   fmt::format("Column {} in SELECT * EXCEPT list does not exist", name));
    }
  }
  if (items->empty() && !item.except.empty()) {
    return Error(item.position, "SELECT * expands to zero columns after applying EXCEPT");
  }
  for (const SelectItem::Replacement& replacement : item.replace) {
    SONDE_TRY_SET(const ExpressionPtr expr, BindExpression(*replacement.expr, site));
    bool is_found = false;
    for (BoundItem& bound : *items) {
      if (!SameName(bound.name, replacement.name)) continue;
      bound.expr = CloneDeep(*expr);
      bound.from_star = false;
      is_found = true;
    }
    if (!is_found) {
      return Error(replacement.expr->position,
                   fmt::format("Column {} in SELECT * REPLACE list does not exist", replacement.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
