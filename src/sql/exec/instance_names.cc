#include "sql/exec/instance_names.h"

#include <fmt/format.h>

#include <utility>

#include "model/names.h"
#include "series/known/declaration_store.h"
#include "sql/syntax/literal.h"

namespace sonde::sql {
namespace {

std::string QueryOf(const MaterializedViewRecord& view) {
  const std::string rows = QuotedName(view.name);
  if (view.unpacked_columns.empty()) return fmt::format("SELECT {} FROM {}", view.shown_columns, rows);
  return fmt::format("SELECT {} FROM UNPACK((SELECT {} FROM {}(with_history => TRUE)))", view.shown_columns,
                     view.unpacked_columns, rows);
}

}  // namespace

InstanceNames::InstanceNames(const Catalog* catalog, BundleFinder* bundles, SeriesFinder* series,
                             std::string instance, Dialect dialect, MayRead may_read)
    : catalog_(catalog), instance_(std::move(instance)), may_read_(std::move(may_read)) {
  in_views_.dialect = dialect;
  // The query of a materialized view reads from the table that the view owns, by the view's full name, which is no id of a table.
  in_views_.find_table = [this](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
    if (!CheckMaterializedViewName(id).ok()) return catalog_->Find(TableNamed(id));
    const absl::StatusOr<MaterializedViewRef> view = catalog_->FindMaterializedView(id);
    if (!view.ok()) return view.status();
    return (*view)->storage;
  };
  in_views_.find_view = [this](std::string_view id) { return FindView(id); };
  in_views_.check_is_complete = [this](std::string_view name) { return CheckIsComplete(name); };
  in_views_.find_bundle = [bundles](const TableSchema& table, std::string_view id) {
    return bundles->Find(table, id);
  };
  if (series == nullptr) return;
  in_views_.find_series = [this, series](std::string_view name) { return series->Find(instance_, name); };
}

std::string InstanceNames::TableNamed(std::string_view id) const {
  return fmt::format("{}/tables/{}", instance_, id);
}

absl::StatusOr<LogicalViewRef> InstanceNames::FindView(std::string_view id) const {
  absl::StatusOr<LogicalViewRef> logical =
      catalog_->FindLogicalView(fmt::format("{}/logicalViews/{}", instance_, id));
  if (!absl::IsNotFound(logical.status())) return logical;
  const absl::StatusOr<MaterializedViewRef> view =
      catalog_->FindMaterializedView(fmt::format("{}/materializedViews/{}", instance_, id));
  if (!view.ok()) return view.status();
  return std::make_shared<const LogicalViewRecord>(
      LogicalViewRecord{.name = (*view)->name, .query = QueryOf(**view)});
}

absl::Status InstanceNames::CheckIsComplete(std::string_view view_name) const {
  if (!CheckMaterializedViewName(view_name).ok()) return absl::OkStatus();
  const absl::StatusOr<MaterializedViewRef> view = catalog_->FindMaterializedView(view_name);
  if (!view.ok()) return view.status();
  if ((*view)->state == MaterializedViewRecord::State::kReady) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("Materialized view {} does not have all rows of its table yet; the hint "
                  "@{{allow_incomplete_view=true}} reads "
                  "those that it has",
                  view_name));
}

absl::StatusOr<TableSchemaRef> InstanceNames::FindTable(std::string_view id) const {
  absl::StatusOr<TableSchemaRef> table = catalog_->Find(TableNamed(id));
  // A name that is a view's is FindView's to let pass.
  if (absl::IsNotFound(table.status()) && FindView(id).ok()) return table;
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

absl::Status CheckMayWrite(const FoundSeries& series,
                           const std::function<absl::Status(std::string_view resource)>& may_write) {
  if (may_write == nullptr) return absl::OkStatus();
  for (const std::string& table : series.tables) {
    if (absl::Status status = may_write(table); !status.ok()) return status;
  }
  return series.known->schema.periods.empty() ? absl::OkStatus() : may_write(series.instance);
}

absl::StatusOr<FoundSeries> InstanceNames::FindSeriesToWrite(std::string_view name) const {
  absl::StatusOr<FoundSeries> series = in_views_.find_series(name);
  if (absl::IsNotFound(series.status()) && may_write_ != nullptr) {
    if (absl::Status status = may_write_(TableNamed(series::kDeclarationsTable)); !status.ok()) return status;
  }
  if (!series.ok()) return series;
  if (absl::Status status = CheckMayWrite(*series, may_write_); !status.ok()) return status;
  return series;
}

BindOptions InstanceNames::Options(std::vector<QueryParameter> parameters) const {
  BindOptions options = in_views_;
  options.find_table = [this](std::string_view id) { return FindTable(id); };
  options.find_view = [this](std::string_view id) -> absl::StatusOr<LogicalViewRef> {
    absl::StatusOr<LogicalViewRef> view = FindView(id);
    if (!view.ok()) return view;
    if (Check((*view)->name).ok()) return view;
    // To those who may not read tables of the name either the answer does not tell that there is a view.
    if (absl::Status status = Check(TableNamed(id)); !status.ok()) return status;
    return Check((*view)->name);
  };
  if (in_views_.find_series) {
    options.find_series = [this](std::string_view name) { return FindSeries(name); };
  }
  if (allows_inserts_ && in_views_.find_series) {
    options.find_series_to_write = [this](std::string_view name) { return FindSeriesToWrite(name); };
  }
  options.in_views = &in_views_;
  options.parameters = std::move(parameters);
  return options;
}

}  // namespace sonde::sql
