// What the names in the FROM clauses of a query stand for: tables, logical and materialized views, and series of an instance, for the binder.
//
// A materialized view is to the binder as a logical one, whose query shows its rows (MaterializedViewRecord::shown_columns).
//
//   const InstanceNames names(&catalog, &bundles, &series, instance, Dialect::kSonde, may_read);
//   absl::StatusOr<BoundQuery> query = ParseAndBind(text, names.Options(parameters));
//
// Rights: whoever asks needs a right to read what the query names.  What the query of a view reads from is read with the right of those
//   who defined the view: they needed it then.
// Errors: those of `may_read`, which come before it is known whether there is a table of the name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/series_finder.h"

namespace sonde::sql {

class InstanceNames {
 public:
  // Says whether the one who asks may read a table or view of this full name.
  using MayRead = std::function<absl::Status(std::string_view resource)>;

  // `instance`: projects/P/instances/I.  `series`: null: there are none.  `may_read`: null: everything may be read.  Pointers must
  // outlive this.
  InstanceNames(const Catalog* catalog, BundleFinder* bundles, SeriesFinder* series, std::string instance,
                Dialect dialect, MayRead may_read = {});
  InstanceNames(const InstanceNames&) = delete;
  InstanceNames& operator=(const InstanceNames&) = delete;

  // This must outlive the binding.
  BindOptions Options(std::vector<QueryParameter> parameters = {}) const;

 private:
  absl::Status Check(std::string_view resource) const {
    return may_read_ == nullptr ? absl::OkStatus() : may_read_(resource);
  }
  std::string TableNamed(std::string_view id) const;
  absl::StatusOr<LogicalViewRef> FindView(std::string_view id) const;
  absl::Status CheckIsComplete(std::string_view view_name) const;
  absl::StatusOr<TableSchemaRef> FindTable(std::string_view id) const;
  // Needs a right to read the tables of the series; where there is no such series, those that have the declarations.
  absl::StatusOr<FoundSeries> FindSeries(std::string_view name) const;

  const Catalog* const catalog_;
  const std::string instance_;
  const MayRead may_read_;
  BindOptions in_views_;
};

}  // namespace sonde::sql
