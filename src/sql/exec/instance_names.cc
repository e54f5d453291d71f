#include "sql/exec/instance_names.h"

#include <fmt/format.h>

#include <utility>

#include "series/known/declaration_store.h"

namespace sonde::sql {

InstanceNames::InstanceNames(const Catalog* catalog, BundleFinder* bundles, SeriesFinder* series,
                             std::string instance, Dialect dialect, MayRead may_read)
    : catalog_(catalog), instance_(std::move(instance)), may_read_(std::move(may_read)) {
  in_views_.dialect = dialect;
  in_views_.find_table = [this](std::string_view id) { return catalog_->Find(TableNamed(id)); };
  in_views_.find_view = [this](std::string_view id) { return catalog_->FindLogicalView(ViewNamed(id)); };
  in_views_.find_bundle = [bundles](const TableSchema& table, std::string_view id) {
    return bundles->Find(table, id);
  };
  if (series == nullptr) return;
  in_views_.find_series = [this, series](std::string_view name) { return series->Find(instance_, name); };
}

std::string InstanceNames::TableNamed(std::string_view id) const {
  return fmt::format("{}/tables/{}", instance_, id);
}

std::string InstanceNames::ViewNamed(std::string_view id) const {
  return fmt::format("{}/logicalViews/{}", instance_, id);
}

absl::StatusOr<TableSchemaRef> InstanceNames::FindTable(std::string_view id) const {
  absl::StatusOr<TableSchemaRef> table = catalog_->Find(TableNamed(id));
  // A name that is a view's is FindView's to let pass.
  if (absl::IsNotFound(table.status()) && catalog_->FindLogicalView(ViewNamed(id)).ok()) return table;
  if (absl::Status status = Check(TableNamed(id)); !status.ok()) return status;
  return table;
}

absl::StatusOr<FoundSeries> InstanceNames::FindSeries(std::string_view name) const {
  absl::StatusOr<FoundSeries> series = in_views_.find_series(name);
  if (absl::IsNotFound(series.status())) {
    if (absl::Status status = Check(TableNamed(series::kDeclarationsTable)); !status.ok()) return status;
  }
  if (!series.ok()) return series;
  for (const std::string& table : series->tables) {
    if (absl::Status status = Check(table); !status.ok()) return status;
  }
  return series;
}

BindOptions InstanceNames::Options(std::vector<QueryParameter> parameters) const {
  BindOptions options = in_views_;
  options.find_table = [this](std::string_view id) { return FindTable(id); };
  options.find_view = [this](std::string_view id) -> absl::StatusOr<LogicalViewRef> {
    absl::StatusOr<LogicalViewRef> view = catalog_->FindLogicalView(ViewNamed(id));
    if (!view.ok()) return view;
    if (Check((*view)->name).ok()) return view;
    // To those who may not read tables of the name either the answer does not tell that there is a view.
    if (absl::Status status = Check(TableNamed(id)); !status.ok()) return status;
    return Check((*view)->name);
  };
  if (in_views_.find_series) {
    options.find_series = [this](std::string_view name) { return FindSeries(name); };
  }
  options.in_views = &in_views_;
  options.parameters = std::move(parameters);
  return options;
}

}  // namespace sonde::sql
