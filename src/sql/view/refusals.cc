#include "sql/view/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sql/library/library.h"
#include "sql/plan/try.h"
#include "sql/syntax/syntax_error.h"
#include "sql/view/lifetime.h"

namespace sonde::sql {
namespace {

constexpr std::array<std::string_view, 11> kViewAggregates = {"ANY_VALUE",
                                                              "AVG",
                                                              "BIT_AND",
                                                              "BIT_OR",
                                                              "BIT_XOR",
                                                              "COUNT",
                                                              "HLL_COUNT.INIT",
                                                              "HLL_COUNT.MERGE",
                                                              "HLL_COUNT.MERGE_PARTIAL",
                                                              "MAX",
                                                              "MIN"};

bool IsViewAggregate(std::string_view name) {
  return name == "SUM" || std::ranges::find(kViewAggregates, name) != kViewAggregates.end();
}

class Refusals {
 public:
  explicit Refusals(std::string_view text) : text_(text) {}

  absl::Status CheckView(const Query& query) const {
    if (query.kind == Query::Kind::kSet) return Refuse(query.position, query.set_operation);
    if (query.kind == Query::Kind::kNested) return Refuse(query.position, "a query in parentheses");
    if (query.kind == Query::Kind::kFrom || !query.pipes.empty())
      return NotBuilt(query.position, "pipe syntax");
    SONDE_TRY(CheckSelect(query));
    if (query.group_by_all) return Refuse(query.position, "GROUP BY ALL");
    if (query.group_by.empty() == query.order_by.empty()) {
      return ErrorAt(text_, query.position,
                     query.group_by.empty() ? "A materialized view must have GROUP BY or ORDER BY"
                                            : "A materialized view cannot have both GROUP BY and ORDER BY");
    }
    for (const ExprPtr& key : query.group_by) SONDE_TRY(Check(key.get()));
    for (const OrderItem& item : query.order_by) {
      if (item.descending) return Refuse(item.expr->position, "DESC");
      SONDE_TRY(Check(item.expr.get()));
    }
    for (const SelectItem& item : query.items) SONDE_TRY(CheckItem(item));
    return absl::OkStatus();
  }

 private:
  absl::Status Refuse(Position position, std::string_view construct) const {
    return ErrorAt(text_, position, fmt::format("A materialized view cannot have {}", construct));
  }
  absl::Status NotBuilt(Position position, std::string_view construct) const {
    return ErrorAt(
        text_, position,
        absl::UnimplementedError(fmt::format("Materialized views with {} are not built", construct)));
  }

  absl::Status CheckHint(const Hint& hint) const {
    return Refuse(hint.name.position, fmt::format("the hint {} of a table", NameOf(hint.name)));
  }

  // The clauses that no SELECT of a definition has, that of UNPACK included; and its FROM and WHERE.
  absl::Status CheckSelect(const Query& query) const {
    if (!query.with.empty()) return Refuse(query.with[0].position, "WITH");
    if (query.distinct) return Refuse(query.position, "SELECT DISTINCT");
    if (query.as_struct) return Refuse(query.position, "SELECT AS STRUCT");
    if (query.as_value) return Refuse(query.position, "SELECT AS VALUE");
    if (query.having != nullptr) return Refuse(query.having->position, "HAVING");
    if (query.qualify != nullptr) return Refuse(query.qualify->position, "QUALIFY");
    if (!query.windows.empty()) return Refuse(query.position, "WINDOW");
    if (query.limit != nullptr) return Refuse(query.limit->position, "LIMIT");
    if (query.offset != nullptr) return Refuse(query.offset->position, "OFFSET");
    if (query.from == nullptr)
      return ErrorAt(text_, query.position, "A materialized view must have a FROM clause");
    SONDE_TRY(CheckFrom(*query.from));
    return Check(query.where.get());
  }

  absl::Status CheckUnpacked(const Query& query) const {
    if (query.kind != Query::Kind::kSelect || !query.pipes.empty() || !query.group_by.empty() ||
        query.group_by_all || !query.order_by.empty()) {
      return ErrorAt(text_, query.position,
                     "UNPACK of a materialized view must have a SELECT with FROM and WHERE only");
    }
    SONDE_TRY(CheckSelect(query));
    for (const SelectItem& item : query.items) {
      if (!item.star) SONDE_TRY(Check(item.expr.get()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckFrom(const FromItem& from) const {
    switch (from.kind) {
      case FromItem::Kind::kTable:
        if (!from.hints.empty()) return CheckHint(from.hints.front());
        for (const NamedArgument& argument : from.arguments) SONDE_TRY(Check(argument.value.get()));
        return absl::OkStatus();
      case FromItem::Kind::kUnnest:
        return Check(from.array.get());
      case FromItem::Kind::kUnpack:
        return CheckUnpacked(*from.query);
      case FromItem::Kind::kQuery:
        return Refuse(from.position, "a subquery");
      case FromItem::Kind::kFunction:
        return Refuse(from.position, NameOf(from.path));
      case FromItem::Kind::kJoin:
        break;
    }
    if (from.asof || !from.using_columns.empty()) return Refuse(from.position, "JOIN of tables");
    const bool is_array =
        from.right->kind == FromItem::Kind::kUnnest || from.right->kind == FromItem::Kind::kTable;
    if (!is_array) return Refuse(from.position, "JOIN of tables");
    SONDE_TRY(CheckFrom(*from.left));
    SONDE_TRY(CheckFrom(*from.right));
    return Check(from.on.get());
  }

  absl::Status CheckItem(const SelectItem& item) const {
    if (item.star) return Refuse(item.position, "SELECT *");
    const bool has_name =
        !item.alias.empty() || item.expr->kind == Expr::Kind::kName || item.expr->kind == Expr::Kind::kField;
    if (!has_name) {
      return ErrorAt(text_, item.position,
                     "Every column of a materialized view must have a name: expression AS name");
    }
    return Check(item.expr.get());
  }

  absl::Status CheckCall(const Expr& expr) const {
    const Expr::Call& call = *expr.call;
    std::string name = NameOf(call.name);
    const std::string_view bare =
        name.starts_with("SAFE.") ? std::string_view(name).substr(5) : std::string_view(name);
    if (call.over != nullptr) return Refuse(expr.position, "OVER");
    const bool is_of_now = bare.starts_with("CURRENT_") || bare == "VIEW_PARAMETERS";
    const Function* const function = FindFunction(bare);
    if (is_of_now || (function != nullptr && function->is_volatile)) return Refuse(expr.position, bare);
    if (function != nullptr && function->kind == Function::Kind::kAggregate) {
      const std::string_view meant = function->alias_of.empty() ? bare : std::string_view(function->alias_of);
      if (!IsViewAggregate(meant)) return Refuse(expr.position, bare);
    }
    if (call.distinct) return Refuse(expr.position, fmt::format("{}(DISTINCT ...)", bare));
    if (call.having_max != nullptr || call.having_min != nullptr) {
      return Refuse(expr.position, fmt::format("{}(... HAVING ...)", bare));
    }
    if (!call.order_by.empty()) return Refuse(expr.position, fmt::format("{}(... ORDER BY ...)", bare));
    if (call.limit != nullptr) return Refuse(expr.position, fmt::format("{}(... LIMIT ...)", bare));
    for (const ExprPtr& argument : call.arguments) SONDE_TRY(Check(argument.get()));
    for (const NamedArgument& argument : call.named) SONDE_TRY(Check(argument.value.get()));
    return absl::OkStatus();
  }

  // `expr` may be null.
  absl::Status Check(const Expr* expr) const {
    if (expr == nullptr) return absl::OkStatus();
    switch (expr->kind) {
      case Expr::Kind::kParameter:
        return Refuse(expr->position, "query parameters");
      case Expr::Kind::kArray:
        return Refuse(expr->position, "ARRAY");
      case Expr::Kind::kStruct:
        return Refuse(expr->position, "STRUCT");
      case Expr::Kind::kGrouping:
        return Refuse(expr->position, expr->text == "()" ? "GROUP BY ()" : expr->text);
      case Expr::Kind::kScalarQuery:
      case Expr::Kind::kArrayQuery:
      case Expr::Kind::kExistsQuery:
      case Expr::Kind::kInQuery:
        return Refuse(expr->position, "a subquery");
      case Expr::Kind::kCall:
        SONDE_TRY(CheckCall(*expr));
        break;
      default:
        break;
    }
    for (const ExprPtr& child : expr->children) SONDE_TRY(Check(child.get()));
    return absl::OkStatus();
  }

  const std::string_view text_;
};

}  // namespace

absl::Status RefuseInView(const Statement& statement, std::string_view text) {
  if (statement.explain != Statement::Explain::kNo) {
    const Position at = statement.insert != nullptr ? statement.insert->position : statement.query->position;
    return ErrorAt(text, at, "A materialized view cannot have EXPLAIN");
  }
  if (statement.insert != nullptr) {
    return ErrorAt(text, statement.insert->position, "Statement not supported: InsertStatement");
  }
  return Refusals(text).CheckView(*statement.query);
}

}  // namespace sonde::sql
