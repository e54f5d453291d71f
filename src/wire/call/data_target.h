// What a request of the data API is for: a table, or an authorized view of one.
#pragma once

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "model/names.h"

namespace sonde {

// On a status: it is that of a request for a table which is not there.
constexpr char kNoTablePayload[] = "sonde/no-table";

// A table of the data API.  NOT_FOUND, with kNoTablePayload.
absl::StatusOr<TableSchemaRef> FindDataTable(const Catalog& catalog, std::string_view name);

// `status`, of a view that is not there: with kNoTablePayload if its table is not there either.
absl::Status WithoutTable(const Catalog& catalog, std::string_view table_name, absl::Status status);

struct DataTarget {
  TableSchemaRef schema;
  AuthorizedViewRef view;  // null: the whole table
};

// INVALID_ARGUMENT: not exactly one of them is named, or not by a name.  NOT_FOUND.
template <typename Request>
absl::StatusOr<DataTarget> FindTarget(const Catalog& catalog, const Request& request) {
  DataTarget target;
  std::string_view table_name = request.table_name();
  const std::string& view_name = request.authorized_view_name();
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
