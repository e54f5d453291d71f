// The definition of a materialized view: which queries may be one, and what the view's rows are made of.
//
//   SELECT key AS alias, SUM(x) AS alias, ... FROM table | UNPACK(...) | table, UNNEST(...)  [WHERE ...]  GROUP BY key, ...
//   SELECT key AS alias, x AS alias, ...      FROM ...                                       [WHERE ...]  ORDER BY key, ...
//
// Shape: a row of the view has a row key, made of the key columns in the order of GROUP BY or ORDER BY, and a cell for each
//   other column.  A column `f.q` is family f, qualifier q; a column without a dot is in family "default"; a MAP is a family.  A column
//   `_key` is the row key itself; a column `_timestamp` is the time of the row's cells.
// Threads: a definition is immutable.
// Source: sql.md 3.3 and 3.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/record/sql_views.h"
#include "model/table_schema.h"
#include "sql/bind/binder.h"
#include "sql/plan/plan.h"
#include "sql/value/value.h"
#include "sql/view/lifetime.h"

namespace sonde::sql {

// The family of columns without a dot, and of the cell that every row has.
inline constexpr std::string_view kViewFamily = "default";
inline constexpr std::string_view kViewKeyColumn = "_key";
inline constexpr std::string_view kViewTimeColumn = "_timestamp";

struct ViewColumn {
  enum class Role : uint8_t { kKey, kTime, kValue };

  std::string name;
  Type type;
  Role role = Role::kValue;
  std::string family;  // of kValue, as is the qualifier
  std::string qualifier;

  // A column of type MAP has all cells of its family.
  bool IsFamily() const { return type.Is(TypeKind::kMap); }
};

struct ViewDefinition {
  enum class Kind : uint8_t {
    kGroups,  // GROUP BY
    kIndex,   // ORDER BY: an asynchronous secondary index
  };

  Kind kind = Kind::kGroups;
  BoundQuery query;  // without its ORDER BY
  std::vector<ViewColumn> columns;
  std::vector<size_t> keys;            // the key columns, in the order of the row key
  std::optional<size_t> time;          // the column `_timestamp`
  std::optional<RowKeySchema> schema;  // of the view's row keys; nothing: `_key` is the row key
  // Of kGroups: the node that groups, and the projections above it, the lowest first.  Both are parts of the query's plan.
  const Plan* aggregate = nullptr;
  std::vector<const Plan*> projections;

  // Where a value stands in the rows that contributions are made of: those of the aggregate, or of the query of an index.
  struct Source {
    std::optional<size_t> column;
    Value constant;  // if there is no column
  };
  std::vector<Source> key_sources;  // one for each of `keys`
  Source time_source;               // if there is a time
  // Of kGroups, for each key of the aggregate: the number of the key column that has its value, or the number of key columns for the time;
  // nothing: it is a constant.
  std::vector<std::optional<size_t>> group_keys;
  std::vector<Value> group_constants;  // one a key of the aggregate

  ViewLifetime lifetime;
  // If it outlives its source: the columns of the source that count, those of a family or one of it.
  struct SourceColumn {
    std::string family;
    std::optional<std::string> qualifier;  // nothing: all
  };
  std::vector<SourceColumn> source_columns;

  ViewSource source_needs;  // the source and the families that the query needs
  // Of a view that outlives its source: without the rules of its families, so that what they forget is seen until it is collected.
  const TableSchemaRef& source() const { return query.tables.front(); }
};

// `options.find_table` finds tables only: a view is no source of a view.
// Errors: those of ParseAndBind.  INVALID_ARGUMENT: the query is none of these; the text names the construct.  UNIMPLEMENTED: production
// takes it, and it is not built here.
absl::StatusOr<std::shared_ptr<const ViewDefinition>> DefineView(std::string_view text, BindOptions options);

}  // namespace sonde::sql
