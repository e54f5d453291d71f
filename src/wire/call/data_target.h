// The target of a request of the data API: a table, an authorized view of one, or a materialized view, which is read as a table.
#pragma once

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "model/names.h"

namespace sonde {

// The payload of a status that says that the request's table does not exist.
constexpr char kNoTablePayload[] = "sonde/no-table";

// Finds a table of the data API.  NOT_FOUND, with kNoTablePayload: there is none.
absl::StatusOr<TableSchemaRef> FindDataTable(const Catalog& catalog, std::string_view name);

// Returns `status`, which says that a view does not exist.  Adds kNoTablePayload if the view's table does not
// exist either.
absl::Status WithoutTable(const Catalog& catalog, std::string_view table_name, absl::Status status);

// Finds the table that a materialized view shows.  NOT_FOUND, with kNoTablePayload: there is no such view.  FAILED_PRECONDITION: its rows are not all in it yet.
// INVALID_ARGUMENT: it is no name of a view.
absl::StatusOr<TableSchemaRef> FindShownTable(const Catalog& catalog, std::string_view view_name);

struct DataTarget {
  TableSchemaRef schema;
  AuthorizedViewRef view;  // null: the whole table
};

// INVALID_ARGUMENT: the request names neither a table nor a view, or both, or a bad name.  NOT_FOUND: there
// is no such table or view.  FAILED_PRECONDITION: as FindShownTable.
template <typename Request>
absl::StatusOr<DataTarget> FindTarget(const Catalog& catalog, const Request& request) {
  DataTarget target;
  std::string_view table_name = request.table_name();
  const std::string& view_name = request.authorized_view_name();
  if constexpr (requires { request.materialized_view_name(); }) {
    if (const std::string& shown = request.materialized_view_name(); !shown.empty()) {
      if (!table_name.empty() || !view_name.empty()) {
        return absl::InvalidArgumentError(
            "Only one of table_name, authorized_view_name and materialized_view_name may be set");
      }
      absl::StatusOr<TableSchemaRef> schema = FindShownTable(catalog, shown);
      if (!schema.ok()) return schema.status();
      target.schema = *std::move(schema);
      return target;
    }
  }
  if (!view_name.empty()) {
    if (!table_name.empty()) {
      return absl::InvalidArgumentError("Only one of table_name and authorized_view_name may be set");
    }
    if (absl::Status status = CheckAuthorizedViewName(view_name); !status.ok()) return status;
    absl::StatusOr<AuthorizedViewRef> view = catalog.FindView(view_name);
    table_name = TableOfAuthorizedView(view_name);
    if (!view.ok()) return WithoutTable(catalog, table_name, view.status());
    target.view = *std::move(view);
  } else if (absl::Status status = CheckTableName(table_name); !status.ok()) {
    return status;
  }
  absl::StatusOr<TableSchemaRef> schema = FindDataTable(catalog, table_name);
  if (!schema.ok()) return schema.status();
  target.schema = *std::move(schema);
  return target;
}

}  // namespace sonde
