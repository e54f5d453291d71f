// GAP_FILL: a table function that gives a row for each bucket of time.
//
// Source: BigQuery's time series functions; range_start, range_end and max_gap are Sonde's.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/constant.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

const NamedArgument* ArgumentNamed(const FromItem& item, std::string_view name) {
  for (const NamedArgument& argument : item.arguments) {
    if (SameName(argument.name, name)) return &argument;
  }
  return nullptr;
}

// The arguments that name columns, which are bound before all others.
constexpr std::string_view kNamesOfColumns[] = {"ts_column", "partitioning_columns", "value_columns"};

bool NamesColumns(const NamedArgument& argument) {
  for (const std::string_view name : kNamesOfColumns) {
    if (SameName(argument.name, name)) return true;
  }
  return false;
}

std::optional<GapFill::Method> MethodOf(std::string_view name) {
  if (SameName(name, "null")) return GapFill::Method::kNull;
  if (SameName(name, "locf")) return GapFill::Method::kLocf;
  if (SameName(name, "linear")) return GapFill::Method::kLinear;
  return std::nullopt;
}

// A column, and what fills it.
struct FilledColumn {
  std::string name;
  GapFill::Method method = GapFill::Method::kNull;
  Position position;
};

// The columns of the input that a call names: the time, partitions, values.
struct ColumnsOfGapFill {
  std::vector<const NamedColumn*> columns;
  std::vector<GapFill::Method> methods;
  size_t partitions = 0;
};

class GapFillColumns {
 public:
  using Fail = absl::FunctionRef<absl::Status(Position position, std::string_view message)>;
  using BindLiteral = absl::FunctionRef<absl::StatusOr<ExpressionPtr>(const Expr& expr)>;

  GapFillColumns(const FromItem& item, const NameList& names, Fail fail, BindLiteral bind)
      : item_(item), names_(names), fail_(fail), bind_(bind) {}

  absl::StatusOr<ColumnsOfGapFill> Find() {
    SONDE_TRY(AddTime());
    SONDE_TRY(AddPartitions());
    SONDE_TRY(AddValues());
    return std::move(found_);
  }

 private:
  absl::StatusOr<Value> LiteralOf(const NamedArgument& argument, const Type& type, std::string_view shown) {
    SONDE_TRY_SET(ExpressionPtr bound, bind_(*argument.value));
    FoldConstants(&bound);
    const bool is_empty = bound->kind == Expression::Kind::kLiteral && bound->type.Is(TypeKind::kArray) &&
                          type.Is(TypeKind::kArray) && !bound->value.is_null() &&
                          bound->value.datum().size == 0;
    if (bound->kind != Expression::Kind::kLiteral ||
        (!(bound->type == type) && !is_empty && !IsPair(bound->type, type)) || bound->value.is_null()) {
      return fail_(argument.value->position, fmt::format("Argument {} of GAP_FILL must be {}",
                                                         absl::AsciiStrToLower(argument.name), shown));
    }
    return bound->value;
  }
  // Whether both are arrays of structs of two strings, whatever the fields are called.
  static bool IsPair(const Type& type, const Type& like) {
    const auto is_pairs = [](const Type& of) {
      return of.Is(TypeKind::kArray) && of.element().Is(TypeKind::kStruct) &&
             of.element().fields().size() == 2 && of.element().fields()[0].type.Is(TypeKind::kString) &&
             of.element().fields()[1].type.Is(TypeKind::kString);
    };
    return is_pairs(type) && is_pairs(like);
  }

  absl::Status Add(const std::string& name, Position position) {
    const NamedColumn* found = nullptr;
    for (const NamedColumn& column : names_.columns) {
      if (!SameName(column.name, name)) continue;
      if (found != nullptr) return fail_(position, fmt::format("Column name {} is ambiguous", name));
      found = &column;
    }
    if (found == nullptr) return fail_(position, fmt::format("The input of GAP_FILL has no column {}", name));
    for (const NamedColumn* other : found_.columns) {
      if (other == found) return fail_(position, fmt::format("GAP_FILL names column {} twice", name));
    }
    found_.columns.push_back(found);
    return absl::OkStatus();
  }

  absl::Status AddTime() {
    const NamedArgument* const argument = ArgumentNamed(item_, "ts_column");
    if (argument == nullptr) return fail_(item_.path.position, "GAP_FILL needs the argument ts_column");
    SONDE_TRY_SET(const Value name, LiteralOf(*argument, TypeKind::kString, "a STRING literal"));
    SONDE_TRY(Add(std::string(name.datum().bytes()), argument->value->position));
    const Type& type = found_.columns[0]->type;
    if (type.Is(TypeKind::kTimestamp) || type.Is(TypeKind::kDate)) return absl::OkStatus();
    return fail_(argument->value->position,
                 fmt::format("Column {} of GAP_FILL must be a TIMESTAMP or DATE, but is {}",
                             found_.columns[0]->name, type.ToString()));
  }

  absl::Status AddPartitions() {
    const NamedArgument* const argument = ArgumentNamed(item_, "partitioning_columns");
    if (argument == nullptr) return absl::OkStatus();
    SONDE_TRY_SET(const Value names,
                  LiteralOf(*argument, Type::Array(TypeKind::kString), "an array of STRING literals"));
    for (const Datum& name : names.datum().list()) {
      SONDE_TRY(Add(std::string(name.bytes()), argument->value->position));
      const Type& type = found_.columns.back()->type;
      if (type.IsGroupable() && type.IsOrderable()) continue;
      return fail_(argument->value->position,
                   fmt::format("Partitioning by expressions of type {} is not allowed", type.ToString()));
    }
    found_.partitions = found_.columns.size() - 1;
    return absl::OkStatus();
  }

  absl::Status AddValues() {
    const NamedArgument* const argument = ArgumentNamed(item_, "value_columns");
    if (argument == nullptr) {
      const std::vector<const NamedColumn*> named = found_.columns;
      for (const NamedColumn& column : names_.columns) {
        bool is_named = !column.in_star;
        for (const NamedColumn* other : named) is_named = is_named || other == &column;
        if (is_named) continue;
        found_.columns.push_back(&column);
        found_.methods.push_back(GapFill::Method::kNull);
      }
      return absl::OkStatus();
    }
    const Type pairs = Type::Array(Type::Struct({{"", TypeKind::kString}, {"", TypeKind::kString}}));
    SONDE_TRY_SET(const Value values,
                  LiteralOf(*argument, pairs, "an array of pairs of STRING literals, a column and a method"));
    for (const Datum& pair : values.datum().list()) {
      const absl::Span<const Datum> parts = pair.list();
      SONDE_TRY(Add(std::string(parts[0].bytes()), argument->value->position));
      const std::optional<GapFill::Method> method = MethodOf(parts[1].bytes());
      if (!method.has_value()) {
        return fail_(
            argument->value->position,
            fmt::format("GAP_FILL has no method {}; there are locf, linear and null", parts[1].bytes()));
      }
      const NamedColumn& column = *found_.columns.back();
      if (*method == GapFill::Method::kLinear && !column.type.IsNumeric()) {
        return fail_(argument->value->position,
                     fmt::format("GAP_FILL fills column {} of type {} not by linear", column.name,
                                 column.type.ToString()));
      }
      found_.methods.push_back(*method);
    }
    return absl::OkStatus();
  }

  const FromItem& item_;
  const NameList& names_;
  const Fail fail_;
  const BindLiteral bind_;
  ColumnsOfGapFill found_;
};

}  // namespace

absl::Status QueryBinder::BindIntervalArgument(const NamedArgument& argument, const Site& site,
                                               IntervalArgument* to) {
  const Expr& expr = *argument.value;
  if (expr.kind != Expr::Kind::kInterval) {
    return Error(expr.position, fmt::format("Argument {} of GAP_FILL must be an INTERVAL",
                                            absl::AsciiStrToLower(argument.name)));
  }
  SONDE_TRY_SET(ExpressionPtr count, BindExpression(*expr.children[0], site));
  SONDE_TRY_SET(to->count, Coerce(std::move(count), TypeKind::kInt64, expr.children[0]->position));
  to->part = expr.text;
  return absl::OkStatus();
}

absl::Status QueryBinder::BindGapFillArgument(const NamedArgument& argument, const Type& time,
                                              GapFill* fill) {
  const NameList none;
  const Scope scope{&none, nullptr, false};
  Site site;
  site.scope = &scope;
  site.clause = "argument of GAP_FILL";
  const std::string name = absl::AsciiStrToLower(argument.name);
  if (name == "bucket_width") return BindIntervalArgument(argument, site, &fill->width);
  if (name == "max_gap") return BindIntervalArgument(argument, site, &fill->gap_max);
  if (name == "ignore_null_values") {
    if (argument.value->kind != Expr::Kind::kBool) {
      return Error(argument.value->position,
                   "Argument ignore_null_values of GAP_FILL must be a BOOL literal");
    }
    fill->ignores_nulls = argument.value->boolean;
    return absl::OkStatus();
  }
  ExpressionPtr* const place = name == "origin"        ? &fill->origin
                               : name == "range_start" ? &fill->range_start
                               : name == "range_end"   ? &fill->range_end
                                                       : nullptr;
  if (place == nullptr) return Error(argument.position, fmt::format("GAP_FILL has no argument {}", name));
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(*argument.value, site));
  if (!CoercionCost(FactsOf(*value), time).has_value()) {
    return Error(argument.value->position,
                 fmt::format("Argument {} of GAP_FILL must be of type {}, but is {}", name, time.ToString(),
                             value->type.ToString()));
  }
  SONDE_TRY_SET(*place, Coerce(std::move(value), time, argument.value->position));
  return absl::OkStatus();
}

absl::StatusOr<Relation> QueryBinder::BindGapFill(const FromItem& item, Relation* piped, const Scope* outer) {
  SONDE_TRY(RequireExtension(item.path.position, "GAP_FILL"));
  const size_t tables = piped == nullptr ? 1 : 0;
  if (item.tables.size() != tables || !item.positional.empty()) {
    return Error(item.path.position,
                 "GAP_FILL takes TABLE t or a query in parentheses, and then arguments with names");
  }
  for (size_t i = 0; i < item.arguments.size(); ++i) {
    const NamedArgument& argument = item.arguments[i];
    if (ArgumentNamed(item, argument.name) == &argument) continue;
    return Error(argument.position,
                 fmt::format("Argument {} is given twice", absl::AsciiStrToLower(argument.name)));
  }
  Relation input;
  if (piped != nullptr) {
    input = std::move(*piped);
  } else {
    SONDE_TRY_SET(input, BindQuery(*item.tables[0], outer));
  }
  const NameList none;
  const Scope scope{&none, nullptr, false};
  Site site;
  site.scope = &scope;
  site.clause = "argument of GAP_FILL";
  const auto fail = [this](Position position, std::string_view message) { return Error(position, message); };
  const auto bind = [this, &site](const Expr& expr) { return BindExpression(expr, site); };
  SONDE_TRY_SET(const ColumnsOfGapFill found, GapFillColumns(item, input.names, fail, bind).Find());
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kGapFill;
  plan->gap_fill = std::make_unique<GapFill>();
  plan->gap_fill->partition_columns = found.partitions;
  plan->gap_fill->methods = found.methods;
  for (const NamedArgument& argument : item.arguments) {
    if (NamesColumns(argument)) continue;
    SONDE_TRY(BindGapFillArgument(argument, found.columns[0]->type, plan->gap_fill.get()));
  }
  if (plan->gap_fill->width.count == nullptr) {
    return Error(item.path.position, "GAP_FILL needs the argument bucket_width");
  }
  std::vector<ExpressionPtr> columns;
  std::vector<SortKey> sort;
  NameList names;
  for (const NamedColumn* const column : found.columns) {
    names.columns.push_back({column->name, columns.size(), column->type});
    columns.push_back(MakeColumn(column->index, column->type));
  }
  for (size_t i = 1; i <= found.partitions; ++i) sort.push_back({MakeColumn(i, names.columns[i].type)});
  sort.push_back({MakeColumn(0, names.columns[0].type)});
  plan->inputs.push_back(MakeSort(MakeProject(std::move(input.plan), std::move(columns)), std::move(sort)));
  plan->types = plan->inputs[0]->types;
  Relation relation{std::move(plan), std::move(names)};
  SetAlias(item.alias, &relation.names);
  return relation;
}

}  // namespace sonde::sql
