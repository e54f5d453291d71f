#include "sql/view/keep/view_definitions.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sql/plan/try.h"
#include "sql/view/definition.h"
#include "sql/view/group_state.h"
#include "sql/view/shown_rows.h"
#include "sql/view/state/state_rows.h"

namespace sonde::sql {

BindOptions BindOptionsOfView(Catalog* catalog, BundleFinder* bundles, std::string_view instance) {
  BindOptions options;
  options.find_table = [catalog, prefix = fmt::format("{}/tables/", instance)](std::string_view id) {
    return catalog->Find(prefix + std::string(id));
  };
  options.find_bundle = [bundles](const TableSchema& table, std::string_view id) {
    return bundles->Find(table, id);
  };
  options.find_view =
      [catalog, instance = std::string(instance)](std::string_view id) -> absl::StatusOr<LogicalViewRef> {
    const bool is_view =
        catalog->FindLogicalView(fmt::format("{}/logicalViews/{}", instance, id)).ok() ||
        catalog->FindMaterializedView(fmt::format("{}/materializedViews/{}", instance, id)).ok();
    if (!is_view) return absl::NotFoundError("");
    return absl::InvalidArgumentError(fmt::format("A materialized view cannot read from a view: {}", id));
  };
  options.find_series = [](std::string_view name) -> absl::StatusOr<FoundSeries> {
    return absl::UnimplementedError(
        fmt::format("A materialized view that reads from a series is not built: series.{}", name));
  };
  return options;
}

absl::StatusOr<MaterializedViewFacts> CheckedDefinitions::Check(std::string_view instance,
                                                                std::string_view query,
                                                                MayReadTable may_read) {
  BindOptions options = BindOptionsOfView(catalog_, &bundles_, instance);
  options.dialect = dialect_;
  options.find_table = [find = std::move(options.find_table), prefix = fmt::format("{}/tables/", instance),
                        may_read](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
    SONDE_TRY(may_read(prefix + std::string(id)));
    return find(id);
  };
  SONDE_TRY_SET(const std::shared_ptr<const ViewDefinition> definition,
                DefineView(query, std::move(options)));
  SONDE_TRY(GroupMerger::Create(*definition).status());
  return MaterializedViewFacts{.source = definition->source_needs,
                               .shown_columns = ShownColumns(*definition),
                               .unpacked_columns = UnpackedColumns(*definition),
                               .storage = StorageOf(*definition),
                               .workings = StateTableSchema()};
}

}  // namespace sonde::sql
