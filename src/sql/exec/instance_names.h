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
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/series_finder.h"

namespace sonde::sql {

// Asks `may_write` for the tables of a series that INSERT writes to, and, where the series has tables by periods, which the first
// points of a period make, for the instance.
absl::Status CheckMayWrite(const FoundSeries& series,
                           const std::function<absl::Status(std::string_view resource)>& may_write);

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

  // Says whether the one who asks may write to a table of this full name; of an instance's name, make tables in it.
  using MayWrite = std::function<absl::Status(std::string_view resource)>;
  // What the one who asks may do.
  struct Rights {
    MayRead may_read;
    MayWrite may_write;
  };
  // From now on INSERT is a statement.  `may_write`: null: everything may be written.
  void AllowInserts(MayWrite may_write = {}) {
    allows_inserts_ = true;
    may_write_ = std::move(may_write);
  }

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
  // Needs a right to write as CheckMayWrite says; where there is no such series, as FindSeries.
  absl::StatusOr<FoundSeries> FindSeriesToWrite(std::string_view name) const;

  const Catalog* const catalog_;
  const std::string instance_;
  const MayRead may_read_;
  bool allows_inserts_ = false;
  MayWrite may_write_;
  BindOptions in_views_;
};

}  // namespace sonde::sql
