// Tables as relations, their temporal arguments, and UNPACK.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "model/table_schema.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

Type ValueTypeOf(const FamilySchema& family) {
  const bool is_number = family.aggregate == AggregateKind::kSum || family.aggregate == AggregateKind::kMin ||
                         family.aggregate == AggregateKind::kMax;
  return is_number ? TypeKind::kInt64 : TypeKind::kBytes;
}

Type TypeOf(const RowKeyField& field) {
  switch (field.kind) {
    case RowKeyField::Kind::kBytes:
      return TypeKind::kBytes;
    case RowKeyField::Kind::kString:
      return TypeKind::kString;
    case RowKeyField::Kind::kInt64:
      return TypeKind::kInt64;
    case RowKeyField::Kind::kTimestamp:
      break;
  }
  return TypeKind::kTimestamp;
}

// The key, which * gives unless it gives its fields.
void AddKeyColumns(const TableSchema& table, Plan::Scan* scan, NameList* names) {
  ScanColumn key;
  key.type = TypeKind::kBytes;
  scan->columns.push_back(key);
  names->columns.push_back({"_key", 0, key.type, /*is_value=*/false, !table.row_key_schema.has_value()});
  if (!table.row_key_schema.has_value()) return;
  for (const RowKeyField& field : table.row_key_schema->fields) {
    ScanColumn column;
    column.kind = ScanColumn::Kind::kKeyField;
    column.index = &field - table.row_key_schema->fields.data();
    column.type = TypeOf(field);
    names->columns.push_back({field.name, scan->columns.size(), column.type});
    scan->columns.push_back(std::move(column));
  }
}

Type HistoryOf(Type value) {
  return Type::Array(Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"value", std::move(value)}}));
}

// The type of the values of a history, ARRAY<STRUCT<timestamp TIMESTAMP, value V>>; null: the type is none.
const Type* HistoryValue(const Type& type) {
  if (!type.Is(TypeKind::kArray) || !type.element().Is(TypeKind::kStruct)) return nullptr;
  const std::vector<Type::Field>& fields = type.element().fields();
  const bool is_history = fields.size() == 2 && fields[0].name == "timestamp" &&
                          fields[0].type.Is(TypeKind::kTimestamp) && fields[1].name == "value";
  return is_history ? &fields[1].type : nullptr;
}

bool IsSeriesPath(const Path& path) { return path.parts.size() == 2 && SameName(path.parts[0], "series"); }

std::string PathText(const Path& path) {
  std::string text;
  for (const std::string& part : path.parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

}  // namespace

absl::Status QueryBinder::BindHints(const std::vector<Hint>& hints, std::vector<std::string>* names) const {
  for (const Hint& hint : hints) {
    const std::string name = PathText(hint.name);
    if (!SameName(name, "allow_incomplete_view"))
      return Error(hint.name.position, fmt::format("Unknown hint: {}", name));
    if (hint.value->kind != Expr::Kind::kBool) {
      return Error(hint.value->position, fmt::format("Hint {} must have a BOOL literal", name));
    }
    if (hint.value->boolean) names->push_back("allow_incomplete_view");
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::TableNotFound(const FromItem& item, std::string_view name) const {
  return ErrorAt(text_, item.path.position, absl::NotFoundError(fmt::format("Table not found: {}", name)));
}

bool QueryBinder::IsUnknown(std::string_view name) const {
  if (options_.find_table == nullptr || !absl::IsNotFound(options_.find_table(name).status())) return false;
  return options_.find_view == nullptr || absl::IsNotFound(options_.find_view(name).status());
}

absl::StatusOr<Relation> QueryBinder::BindTable(const FromItem& item, const Scope* /*outer*/) {
  const std::string name = PathText(item.path);
  if (item.path.parts.size() == 1) {
    for (size_t i = with_.size(); i-- > 0;) {
      if (!SameName(with_[i].name, name)) continue;
      if (!item.arguments.empty()) {
        return Error(item.arguments[0].position, "Only tables have temporal arguments");
      }
      Relation relation{ClonePlan(*with_[i].relation.plan), with_[i].relation.names};
      SetAlias(item.alias.empty() ? name : item.alias, &relation.names);
      return relation;
    }
  }
  absl::StatusOr<TableSchemaRef> table =
      options_.find_table == nullptr ? absl::NotFoundError("") : options_.find_table(name);
  // A table or a view may have such a name, too; whoever may not read these may read the series.
  const bool is_other = absl::IsNotFound(table.status()) || absl::IsPermissionDenied(table.status());
  if (IsSeriesPath(item.path) && is_other &&
      (options_.find_view == nullptr || !options_.find_view(name).ok())) {
    return BindSeries(item);
  }
  if (absl::IsNotFound(table.status())) return BindView(item, name);
  if (!table.ok()) return table.status();
  AddTable(*table, &tables_);
  AddNamed((*table)->name);
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kScan;
  plan->scan = std::make_unique<Plan::Scan>();
  plan->scan->table = *table;
  plan->scan->hints = hints_;
  SONDE_TRY(BindHints(item.hints, &plan->scan->hints));
  SONDE_TRY(BindTemporal(item, &plan->scan->temporal));
  SONDE_TRY(CheckTemporal(item, plan->scan->temporal));
  Relation relation;
  AddKeyColumns(**table, plan->scan.get(), &relation.names);
  for (const FamilySchema& family : (*table)->families) {
    ScanColumn column;
    column.kind = ScanColumn::Kind::kFamily;
    column.family = family.name;
    Type value = ValueTypeOf(family);
    if (plan->scan->temporal.with_history) value = HistoryOf(std::move(value));
    column.type = Type::Map(TypeKind::kBytes, std::move(value));
    relation.names.columns.push_back({family.name, plan->scan->columns.size(), column.type});
    plan->scan->columns.push_back(std::move(column));
  }
  for (const ScanColumn& column : plan->scan->columns) plan->types.push_back(column.type);
  relation.plan = std::move(plan);
  SetAlias(item.alias.empty() ? item.path.parts.back() : item.alias, &relation.names);
  return relation;
}

namespace {

// Where an argument of this name goes; null: nowhere.
ExpressionPtr* TemporalPlace(std::string_view name, TemporalArguments* temporal) {
  if (name == "as_of") return &temporal->as_of;
  if (name == "after") return &temporal->after;
  if (name == "after_or_equal") return &temporal->after_or_equal;
  if (name == "before") return &temporal->before;
  if (name == "before_or_equal") return &temporal->before_or_equal;
  if (name == "latest_n") return &temporal->latest_n;
  return nullptr;
}

}  // namespace

absl::Status QueryBinder::BindTemporal(const FromItem& item, TemporalArguments* temporal) {
  const NameList none;
  const Scope scope{&none, nullptr, false};
  Site site;
  site.scope = &scope;
  site.clause = "temporal argument";
  std::vector<std::string> seen;
  for (const NamedArgument& argument : item.arguments) {
    const std::string name = absl::AsciiStrToLower(argument.name);
    for (const std::string& other : seen) {
      if (other == name) return Error(argument.position, fmt::format("Argument {} is given twice", name));
    }
    seen.push_back(name);
    if (name == "with_history") {
      if (argument.value->kind != Expr::Kind::kBool) {
        return Error(argument.value->position, "Argument with_history must be a BOOL literal");
      }
      temporal->with_history = argument.value->boolean;
      continue;
    }
    ExpressionPtr* const place = TemporalPlace(name, temporal);
    if (place == nullptr) return Error(argument.position, fmt::format("Unknown temporal argument: {}", name));
    const Type wanted = name == "latest_n" ? TypeKind::kInt64 : TypeKind::kTimestamp;
    SONDE_TRY_SET(ExpressionPtr value, BindExpression(*argument.value, site));
    if (value->kind == Expression::Kind::kLiteral && value->value.is_null()) {
      return Error(argument.value->position, fmt::format("Argument {} must not be NULL", name));
    }
    if (!CoercionCost(FactsOf(*value), wanted).has_value()) {
      return Error(argument.value->position, fmt::format("Argument {} must be of type {}, but is {}", name,
                                                         wanted.ToString(), value->type.ToString()));
    }
    SONDE_TRY_SET(*place, Coerce(std::move(value), wanted, argument.value->position));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::CheckTemporal(const FromItem& item, const TemporalArguments& temporal) const {
  if (item.arguments.empty()) return absl::OkStatus();
  const Position position = item.arguments[0].position;
  if (temporal.with_history && temporal.as_of != nullptr) {
    return Error(position, "Argument as_of cannot be used with with_history => TRUE");
  }
  const std::pair<std::string_view, const ExpressionPtr*> of_history[] = {
      {"after", &temporal.after},       {"after_or_equal", &temporal.after_or_equal},
      {"before", &temporal.before},     {"before_or_equal", &temporal.before_or_equal},
      {"latest_n", &temporal.latest_n},
  };
  for (const auto& [name, value] : of_history) {
    if (*value != nullptr && !temporal.with_history) {
      return Error(position, fmt::format("Argument {} needs with_history => TRUE", name));
    }
  }
  return CheckBounds(position, temporal);
}

absl::Status QueryBinder::CheckBounds(Position position, const TemporalArguments& temporal) const {
  if (temporal.after != nullptr && temporal.after_or_equal != nullptr) {
    return Error(position, "Arguments after and after_or_equal cannot be used together");
  }
  if (temporal.before != nullptr && temporal.before_or_equal != nullptr) {
    return Error(position, "Arguments before and before_or_equal cannot be used together");
  }
  const Expression* const latest = temporal.latest_n.get();
  if (latest != nullptr && latest->kind == Expression::Kind::kLiteral && latest->value.datum().integer < 0) {
    return Error(position, "Argument latest_n must not be negative");
  }
  return absl::OkStatus();
}

absl::StatusOr<Relation> QueryBinder::BindUnpack(Relation input, std::string_view alias, Position position) {
  input = Compact(std::move(input));
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kUnpack;
  plan->types = input.plan->types;
  for (size_t i = 0; i < plan->types.size(); ++i) {
    const Type type = plan->types[i];
    const bool is_map = type.Is(TypeKind::kMap);
    const Type* const value = HistoryValue(is_map ? type.value() : type);
    if (value == nullptr) continue;
    plan->history.push_back({i, is_map});
    plan->types[i] = is_map ? Type::Map(type.key(), *value) : *value;
    input.names.columns[i].type = plan->types[i];
  }
  if (plan->history.empty()) {
    return Error(position, "UNPACK needs a column with history, of a table with with_history => TRUE");
  }
  input.names.variables.clear();
  input.names.columns.push_back({"_timestamp", plan->types.size(), TypeKind::kTimestamp});
  plan->types.emplace_back(TypeKind::kTimestamp);
  plan->inputs.push_back(std::move(input.plan));
  input.plan = std::move(plan);
  SetAlias(alias, &input.names);
  return input;
}

}  // namespace sonde::sql
