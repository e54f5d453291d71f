// Checks definitions of materialized views for the administration (catalog/view_definitions.h).
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/view_definitions.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"

namespace sonde::sql {

// How definitions of an instance's views are bound.  Tables are found; a view or a series is refused by its name.  Both must outlive
// the options.
BindOptions BindOptionsOfView(Catalog* catalog, BundleFinder* bundles, std::string_view instance);

class CheckedDefinitions final : public ViewDefinitions {
 public:
  // `catalog` must outlive this.
  explicit CheckedDefinitions(Catalog* catalog, Dialect dialect = Dialect::kSonde)
      : catalog_(catalog), dialect_(dialect), bundles_(catalog) {}

  absl::StatusOr<MaterializedViewFacts> Check(std::string_view instance, std::string_view query,
                                              MayReadTable may_read) override;

 private:
  Catalog* const catalog_;
  const Dialect dialect_;  // in production's, what production does not have is refused
  BundleFinder bundles_;
};

}  // namespace sonde::sql
