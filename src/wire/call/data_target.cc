#include "wire/call/data_target.h"

#include <fmt/format.h>

namespace sonde {

absl::StatusOr<TableSchemaRef> FindDataTable(const Catalog& catalog, std::string_view name) {
  absl::StatusOr<TableSchemaRef> schema = catalog.Find(name);
  if (!absl::IsNotFound(schema.status())) return schema;
  const std::string_view instance = InstanceOfTable(name);
  absl::Status missing = schema.status();
  if (catalog.List(instance, "", 1).empty()) {
    missing = absl::NotFoundError(fmt::format("No tables found for instance {}, nor {}", instance, name));
  }
  missing.SetPayload(kNoTablePayload, absl::Cord());
  return missing;
}

absl::StatusOr<TableSchemaRef> FindShownTable(const Catalog& catalog, std::string_view view_name) {
  if (absl::Status status = CheckMaterializedViewName(view_name); !status.ok()) return status;
  const absl::StatusOr<MaterializedViewRef> view = catalog.FindMaterializedView(view_name);
  if (!view.ok()) {
    absl::Status missing = view.status();
    missing.SetPayload(kNoTablePayload, absl::Cord());
    return missing;
  }
  if ((*view)->state == MaterializedViewRecord::State::kReady) return (*view)->storage;
  return absl::FailedPreconditionError(
      fmt::format("Materialized view {} does not have all rows of its table yet", view_name));
}

absl::Status WithoutTable(const Catalog& catalog, std::string_view table_name, absl::Status status) {
  if (!catalog.Find(table_name).ok()) status.SetPayload(kNoTablePayload, absl::Cord());
  return status;
}

}  // namespace sonde
