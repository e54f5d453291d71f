// The schema bundles of tables, for the binder of queries.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "sql/bind/binder.h"
#include "sql/descriptor/bundle_cache.h"

namespace sonde::sql {

// Threads: all functions may be called at once.
class BundleFinder {
 public:
  // `catalog` must outlive this.
  explicit BundleFinder(const Catalog* catalog) : catalog_(catalog) {}

  // NOT_FOUND: the table has no bundle of this id.
  absl::StatusOr<FoundBundle> Find(const TableSchema& table, std::string_view id);

 private:
  const Catalog* const catalog_;
  BundleCache cache_;
};

}  // namespace sonde::sql
