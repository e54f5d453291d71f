#include "sql/view/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "model/limits.h"
#include "model/names.h"
#include "sql/bind/names.h"
#include "sql/bind/view_sources.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/try.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/printer.h"
#include "sql/syntax/syntax_error.h"
#include "sql/view/refusals.h"

namespace sonde::sql {
namespace {

absl::Status BadView(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("A materialized view {}", what));
}

// The item of the select list that a key of GROUP BY or ORDER BY is: by alias, by number, or as the same expression.
std::optional<size_t> ItemOfKey(const Query& query, const Expr& key) {
  if (key.kind == Expr::Kind::kInt) {
    for (size_t i = 0; i < query.items.size(); ++i) {
      if (key.text == std::to_string(i + 1)) return i;
    }
    return std::nullopt;
  }
  for (size_t i = 0; key.kind == Expr::Kind::kName && i < query.items.size(); ++i) {
    if (SameName(query.items[i].alias, key.text)) return i;
  }
  const std::string text = Print(key);
  for (size_t i = 0; i < query.items.size(); ++i) {
    if (Print(*query.items[i].expr) == text) return i;
  }
  return std::nullopt;
}

// The items that are keys, in their order, each once.
absl::StatusOr<std::vector<size_t>> KeyItems(const Query& query, std::string_view text) {
  std::vector<const Expr*> keys;
  for (const ExprPtr& key : query.group_by) keys.push_back(key.get());
  for (const OrderItem& key : query.order_by) keys.push_back(key.expr.get());
  std::vector<size_t> items;
  for (const Expr* const key : keys) {
    const std::optional<size_t> item = ItemOfKey(query, *key);
    if (!item.has_value()) {
      return ErrorAt(text, key->position,
                     fmt::format("A materialized view must select each key of its {}: {} is not selected",
                                 query.group_by.empty() ? "ORDER BY" : "GROUP BY", Print(*key)));
    }
    if (std::ranges::find(items, *item) == items.end()) items.push_back(*item);
  }
  return items;
}

absl::Status CheckColumnName(const std::string& name) {
  if (name.size() <= kRowKeyFieldNameBytesMax) return absl::OkStatus();
  return BadView(fmt::format("has a column name of {} bytes; at most {} are allowed", name.size(),
                             kRowKeyFieldNameBytesMax));
}

std::optional<RowKeyField::Kind> KeyKindOf(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBytes:
      return RowKeyField::Kind::kBytes;
    case TypeKind::kString:
      return RowKeyField::Kind::kString;
    case TypeKind::kInt64:
      return RowKeyField::Kind::kInt64;
    case TypeKind::kTimestamp:
      return RowKeyField::Kind::kTimestamp;
    default:
      return std::nullopt;
  }
}

// A whole family of the table.  Its cells are handed on, so it is a column of an index only.
absl::Status CheckMap(const ViewColumn& column, ViewDefinition::Kind kind) {
  if (kind == ViewDefinition::Kind::kGroups) {
    return BadView(fmt::format("with GROUP BY cannot have columns of type MAP: column {}", column.name));
  }
  const bool is_family = column.type.key().Is(TypeKind::kBytes) && column.type.value().Is(TypeKind::kBytes);
  if (is_family) return absl::OkStatus();
  return absl::UnimplementedError(
      fmt::format("Materialized views with columns of type {} are not built: column {}",
                  column.type.ToString(), column.name));
}

absl::Status CheckValueType(const ViewColumn& column, ViewDefinition::Kind kind) {
  switch (column.type.kind()) {
    case TypeKind::kBool:
    case TypeKind::kInt64:
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kTimestamp:
      return absl::OkStatus();
    case TypeKind::kMap:
      return CheckMap(column, kind);
    case TypeKind::kProto:
    case TypeKind::kEnum:
      return absl::UnimplementedError(
          fmt::format("Materialized views with columns of type {} are not built: column {}",
                      column.type.ToString(), column.name));
    case TypeKind::kDate:
    case TypeKind::kArray:
    case TypeKind::kStruct:
      break;
  }
  return BadView(
      fmt::format("cannot have columns of type {}: column {}", column.type.ToString(), column.name));
}

// Where the cells of a column that is a map go.
absl::Status PlaceMap(ViewColumn* column) {
  column->family = column->name;
  const absl::Status status = CheckFamilyName(column->family);
  if (status.ok() && column->family != kViewFamily) return absl::OkStatus();
  return BadView(fmt::format(
      "cannot have a column of type MAP with the name {}, which no family of it may have: {}", column->name,
      status.ok() ? "each row has a cell of its own there" : std::string(status.message())));
}

// Where the cells of a value column go.
absl::Status PlaceValue(ViewDefinition::Kind kind, ViewColumn* column) {
  SONDE_TRY(CheckValueType(*column, kind));
  if (column->IsFamily()) return PlaceMap(column);
  const size_t dot = column->name.find('.');
  column->family = dot == std::string::npos ? std::string(kViewFamily) : column->name.substr(0, dot);
  column->qualifier = dot == std::string::npos ? column->name : column->name.substr(dot + 1);
  if (const absl::Status status = CheckFamilyName(column->family); !status.ok()) {
    return BadView(fmt::format("has a column {}, which begins with no name of a family: {}", column->name,
                               std::string(status.message())));
  }
  if (!column->qualifier.empty()) return absl::OkStatus();
  return BadView(fmt::format("has a column {} without a name behind its dot", column->name));
}

class Definer {
 public:
  Definer(std::string_view text, BindOptions options) : text_(text), options_(std::move(options)) {
    options_.rewrite.numbers =
        false;  // what it was computed from is asked of each row (SourceKey), and one row is no page
  }

  absl::StatusOr<std::shared_ptr<const ViewDefinition>> Define() {
    SONDE_TRY_SET(const std::unique_ptr<Statement> statement, ParseStatement(text_));
    SONDE_TRY(RefuseInView(*statement, text_));
    Query& query = *statement->query;
    SONDE_TRY(TakeLifetime(&query));
    view_->kind = query.group_by.empty() ? ViewDefinition::Kind::kIndex : ViewDefinition::Kind::kGroups;
    SONDE_TRY_SET(const std::vector<size_t> keys, KeyItems(query, text_));
    SONDE_TRY_SET(BoundQuery with_order, Bind(*statement, text_, options_));
    query.order_by.clear();
    SONDE_TRY_SET(view_->query, Bind(*statement, text_, options_));
    if (view_->query.tables.size() != 1) return BadView("must read from exactly one table");
    LogicalViewRecord sources{.query = std::string(text_)};
    SetSources(&view_->query, &sources);
    view_->source_needs = std::move(sources.tables.front());
    SONDE_TRY(NameColumns());
    SONDE_TRY(TakeSourceColumns());
    SONDE_TRY(TakeKeys(keys));
    SONDE_TRY(PlaceColumns());
    if (view_->kind == ViewDefinition::Kind::kGroups) {
      SONDE_TRY(FindAggregate());
    } else {
      for (const size_t key : view_->keys) view_->key_sources.push_back({key, {}});
    }
    if (view_->lifetime.retain_micros.has_value() && !view_->time.has_value())
      return BadView("with retain must have a column _timestamp, the time that its rows are forgotten by");
    return view_;
  }

 private:
  absl::Status TakeLifetime(Query* query) {
    SONDE_TRY_SET(view_->lifetime, LifetimeOf(*query, text_));
    if (!query->hints.empty() && options_.dialect == Dialect::kProduction) {
      return ErrorAt(
          text_, query->hints.front().name.position,
          absl::UnimplementedError("Hints of materialized views are not in production's language"));
    }
    query->hints.clear();
    if (!view_->lifetime.outlives_source) return absl::OkStatus();
    options_.find_table =
        [find = std::move(options_.find_table)](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
      SONDE_TRY_SET(const TableSchemaRef table, find(id));
      TableSchema without_rules = *table;
      for (FamilySchema& family : without_rules.families) family.gc_rule = {};
      return std::make_shared<const TableSchema>(std::move(without_rules));
    };
    return absl::OkStatus();
  }

  absl::Status TakeSourceColumns() {
    if (!view_->lifetime.outlives_source) return absl::OkStatus();
    const Plan* plan = view_->query.plan.get();
    bool is_unpacked = false;
    for (; plan->kind != Plan::Kind::kScan; plan = plan->inputs[0].get()) {
      is_unpacked |= plan->kind == Plan::Kind::kUnpack;
      if (plan->inputs.empty())
        return absl::UnimplementedError("Materialized views with a plan of this form are not built");
    }
    for (const ScanColumn& column : plan->scan->columns) {
      if (column.kind == ScanColumn::Kind::kKey || column.kind == ScanColumn::Kind::kKeyField) continue;
      const bool is_family = column.kind == ScanColumn::Kind::kFamily;
      view_->source_columns.push_back(
          {column.family, is_family ? std::nullopt : std::optional(column.qualifier)});
    }
    if (!is_unpacked) {
      return absl::UnimplementedError(
          "Materialized views that outlive their source are built over UNPACK only, whose rows are of one "
          "time "
          "each and expire as a whole");
    }
    if (plan->scan->temporal.latest_n != nullptr || plan->scan->temporal.as_of != nullptr)
      return BadView("that outlives its source cannot have latest_n or as_of");
    return absl::OkStatus();
  }

  absl::Status NameColumns() {
    for (const OutputColumn& output : view_->query.columns) {
      SONDE_TRY(CheckColumnName(output.name));
      for (const ViewColumn& other : view_->columns) {
        if (SameName(other.name, output.name))
          return BadView(fmt::format("has two columns named {}", output.name));
      }
      view_->columns.push_back({.name = output.name, .type = output.type});
    }
    return absl::OkStatus();
  }

  absl::Status TakeKeys(const std::vector<size_t>& keys) {
    for (const size_t key : keys) {
      ViewColumn& column = view_->columns[key];
      const bool is_time = SameName(column.name, kViewTimeColumn);
      column.role = is_time ? ViewColumn::Role::kTime : ViewColumn::Role::kKey;
      if (is_time) {
        view_->time = key;
      } else {
        view_->keys.push_back(key);
      }
    }
    SONDE_TRY(CheckTime());
    if (view_->keys.empty()) return BadView("must have a key column besides _timestamp");
    const bool has_row_key = std::ranges::any_of(
        view_->keys, [this](size_t key) { return SameName(view_->columns[key].name, kViewKeyColumn); });
    return has_row_key ? CheckRowKey() : MakeSchema();
  }

  absl::Status CheckTime() {
    for (const ViewColumn& column : view_->columns) {
      if (!SameName(column.name, kViewTimeColumn)) continue;
      if (view_->kind == ViewDefinition::Kind::kIndex)
        return BadView("with ORDER BY cannot have a column _timestamp");
      if (!view_->time.has_value()) return BadView("must group by its column _timestamp");
      if (!column.type.Is(TypeKind::kTimestamp)) {
        return BadView(
            fmt::format("must have a column _timestamp of type TIMESTAMP, not {}", column.type.ToString()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRowKey() {
    if (view_->keys.size() > 1) return BadView("with the key column _key cannot have another one");
    const Type& type = view_->columns[view_->keys[0]].type;
    if (type.IsText()) return absl::OkStatus();
    return BadView(fmt::format("must have a column _key of type BYTES, not {}", type.ToString()));
  }

  absl::Status MakeSchema() {
    if (view_->keys.size() > kRowKeyFieldsMax) {
      return BadView(
          fmt::format("has {} key columns; at most {} are allowed", view_->keys.size(), kRowKeyFieldsMax));
    }
    RowKeySchema& schema = view_->schema.emplace();
    schema.encoding = RowKeySchema::Encoding::kOrderedCode;
    for (const size_t key : view_->keys) {
      const ViewColumn& column = view_->columns[key];
      const std::optional<RowKeyField::Kind> kind = KeyKindOf(column.type);
      if (!kind.has_value()) {
        return BadView(fmt::format("cannot have a key column of type {}: column {}", column.type.ToString(),
                                   column.name));
      }
      schema.fields.push_back(
          {.name = column.name, .kind = *kind, .number_encoding = RowKeyField::NumberEncoding::kOrderedCode});
    }
    return absl::OkStatus();
  }

  absl::Status PlaceColumns() {
    std::set<std::string, std::less<>> families = {std::string(kViewFamily)};
    std::set<std::string, std::less<>> lower = {std::string(kViewFamily)};
    for (ViewColumn& column : view_->columns) {
      if (column.role != ViewColumn::Role::kValue) continue;
      if (SameName(column.name, kViewKeyColumn)) return BadView("must have its column _key as its key");
      SONDE_TRY(PlaceValue(view_->kind, &column));
      families.insert(column.family);
      lower.insert(absl::AsciiStrToLower(column.family));
    }
    for (const ViewColumn& column : view_->columns) {
      if (column.role != ViewColumn::Role::kValue || !column.IsFamily()) continue;
      const auto is_in_it = [&column](const ViewColumn& other) {
        return &other != &column && other.family == column.family;
      };
      if (std::ranges::any_of(view_->columns, is_in_it))
        return BadView(fmt::format("has a column {} of type MAP and another one in its family", column.name));
    }
    if (lower.size() < families.size())
      return BadView("has columns of two families whose names differ only in case");
    if (families.size() > kFamiliesPerTableMax) {
      return BadView(
          fmt::format("has {} families; at most {} are allowed", families.size(), kFamiliesPerTableMax));
    }
    for (const size_t key : view_->keys) {
      if (lower.contains(absl::AsciiStrToLower(view_->columns[key].name))) {
        return BadView(
            fmt::format("has a key column {} and a family of this name", view_->columns[key].name));
      }
    }
    return absl::OkStatus();
  }

  // The plan is projections over the node that groups.
  absl::Status FindAggregate() {
    const Plan* plan = view_->query.plan.get();
    for (; plan->kind == Plan::Kind::kProject; plan = plan->inputs[0].get()) {
      view_->projections.insert(view_->projections.begin(), plan);
    }
    if (plan->kind != Plan::Kind::kAggregate) {
      return absl::UnimplementedError("Materialized views with a plan of this form are not built");
    }
    view_->aggregate = plan;
    for (const size_t key : view_->keys) {
      SONDE_TRY_SET(ViewDefinition::Source source, SourceOf(key));
      view_->key_sources.push_back(std::move(source));
    }
    if (view_->time.has_value()) {
      SONDE_TRY_SET(view_->time_source, SourceOf(*view_->time));
    }
    return FindGroupKeys();
  }

  // Where the value of a column comes from: a key of the aggregate, which projections hand on, or a constant.
  absl::StatusOr<ViewDefinition::Source> SourceOf(size_t column) const {
    for (size_t i = view_->projections.size(); i-- > 0;) {
      const Expression& expression = *view_->projections[i]->expressions[column];
      if (expression.kind == Expression::Kind::kColumn) {
        column = expression.index;
        continue;
      }
      if (!IsConstant(expression)) {
        return absl::UnimplementedError(fmt::format(
            "Materialized views with a key of this form are not built: {}", ToString(expression)));
      }
      SONDE_TRY_SET(Value constant, EvaluateConstant(expression, {}));
      return ViewDefinition::Source{std::nullopt, std::move(constant)};
    }
    if (column < view_->aggregate->expressions.size()) return ViewDefinition::Source{column, {}};
    return BadView("cannot have an aggregate as a key");
  }

  absl::Status FindGroupKeys() {
    const size_t count = view_->aggregate->expressions.size();
    view_->group_keys.resize(count);
    view_->group_constants.resize(count);
    std::vector<bool> is_known(count, false);
    const auto note = [&](const ViewDefinition::Source& source, size_t place) {
      if (!source.column.has_value()) return;
      view_->group_keys[*source.column] = place;
      is_known[*source.column] = true;
    };
    for (size_t i = 0; i < view_->keys.size(); ++i) note(view_->key_sources[i], i);
    if (view_->time.has_value()) note(view_->time_source, view_->keys.size());
    for (size_t i = 0; i < count; ++i) {
      if (is_known[i]) continue;
      const Expression& key = *view_->aggregate->expressions[i];
      if (!IsConstant(key)) return BadView("must select each key of its GROUP BY");
      SONDE_TRY_SET(view_->group_constants[i], EvaluateConstant(key, {}));
    }
    return absl::OkStatus();
  }

  const std::string_view text_;
  BindOptions options_;
  const std::shared_ptr<ViewDefinition> view_ = std::make_shared<ViewDefinition>();
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ViewDefinition>> DefineView(std::string_view text, BindOptions options) {
  return Definer(text, std::move(options)).Define();
}

}  // namespace sonde::sql
