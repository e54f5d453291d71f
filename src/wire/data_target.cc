#include "wire/data_target.h"

#include <fmt/format.h>

namespace sonde {

absl::StatusOr<TableSchemaRef> FindDataTable(const Catalog& catalog, std::string_view name) {
  absl::StatusOr<TableSchemaRef> schema = catalog.Find(name);
  if (!absl::IsNotFound(schema.status())) return schema;
  const std::string_view instance = InstanceOfTable(name);
  if (!catalog.List(instance, "", 1).empty()) return schema;
  return absl::NotFoundError(fmt::format("No tables found for instance {}, nor {}", instance, name));
}

}  // namespace sonde
