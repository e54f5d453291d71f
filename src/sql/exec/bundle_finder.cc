#include "sql/exec/bundle_finder.h"

#include <fmt/format.h>

namespace sonde::sql {

absl::StatusOr<FoundBundle> BundleFinder::Find(const TableSchema& table, std::string_view id) {
  const absl::StatusOr<SchemaBundleRef> bundle =
      catalog_->FindBundle(fmt::format("{}/schemaBundles/{}", table.name, id));
  if (!bundle.ok()) return bundle.status();
  absl::StatusOr<BundleTypesRef> types =
      cache_.Find((*bundle)->name, id, (*bundle)->etag, (*bundle)->descriptors);
  if (!types.ok()) return types.status();
  return FoundBundle{{(*bundle)->name, (*bundle)->etag}, *std::move(types)};
}

}  // namespace sonde::sql
