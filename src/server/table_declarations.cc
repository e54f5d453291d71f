#include "server/table_declarations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/time/clock.h"
#include "model/names.h"
#include "series/advise/cure.h"
#include "series/index/index_table.h"
#include "series/known/declaration_store.h"
#include "series/known/rollup_marks.h"
#include "series/schema/schema_parser.h"
#include "server/declared_rows.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

// Reading declarations takes at most one part in this many of the time.
constexpr int kReadShare = 50;
constexpr uint64_t kSeed = 1;

series::DeclarationChange ChangeOf(CureKind kind) {
  static constexpr std::array<series::DeclarationChange, 7> kChanges = {
      series::DeclarationChange::kPromoteTags, series::DeclarationChange::kSalt,
      series::DeclarationChange::kSaltByTime,  series::DeclarationChange::kShorterBucket,
      series::DeclarationChange::kRowPerPoint, series::DeclarationChange::kLatestTable,
      series::DeclarationChange::kSecondTable};
  return kChanges[static_cast<size_t>(kind)];
}

// Its newest values, or the points of a period: whoever asks for them asks for all.
bool IsReadWhole(const series::SeriesSchema& schema, std::string_view table) {
  return std::any_of(schema.latest.begin(), schema.latest.end(),
                     [&](const series::LatestTable& latest) { return latest.table == table; }) ||
         std::any_of(schema.periods.begin(), schema.periods.end(),
                     [&](const series::PeriodTable& period) { return period.PeriodOf(table).has_value(); });
}

}  // namespace

bool TableDeclarations::IsOwnTable(std::string_view table_name) {
  const std::string_view table = IdOfTable(table_name);
  return table == series::kDeclarationsTable || table == series::kMarksTable ||
         table == series::kIndexTable || table.starts_with(series::kCopiedTablePrefix);
}

TableDeclarations::TableDeclarations(Tables* tables)
    : tables_(&tables->engine(), &tables->catalog(), &tables->clock(), kSeed) {}

const std::vector<TableDeclarations::SchemaRef>& TableDeclarations::DeclaredIn(const std::string& instance) {
  OfInstance& known = instances_[instance];
  const absl::Time start = absl::Now();
  if (start < known.read_again) return known.schemas;
  LocalTables local(&tables_, instance);
  const absl::StatusOr<std::vector<series::StoredSeries>> stored = series::ListDeclarations(&local);
  known.schemas.clear();
  if (stored.ok()) {
    for (const series::StoredSeries& declaration : *stored) {
      absl::StatusOr<series::SeriesSchema> schema = series::ParseSchema(declaration.text, declaration.series);
      if (schema.ok()) {
        known.schemas.push_back(std::make_shared<const series::SeriesSchema>(*std::move(schema)));
      }
    }
  }
  const absl::Time end = absl::Now();
  known.read_again = end + std::max(kDeclarationsFor, kReadShare * (end - start));
  return known.schemas;
}

std::optional<TableDeclarations::Found> TableDeclarations::FindSchema(std::string_view table_name) {
  const std::string instance(InstanceOfTable(table_name));
  const std::string_view table = IdOfTable(table_name);
  const absl::MutexLock lock(&mutex_);
  // No table is made for a question: only an instance that has declarations is remembered.
  if (!tables_.catalog().Find(instance + "/tables/" + series::kDeclarationsTable).ok()) return std::nullopt;
  for (const SchemaRef& schema : DeclaredIn(instance)) {
    const bool is_own = schema->table == table;
    if (is_own || series::SchemaOfTable(*schema, table).has_value()) return Found{schema, is_own};
  }
  return std::nullopt;
}

std::optional<DeclaredSeries> TableDeclarations::Find(std::string_view table_name) {
  const std::optional<Found> found = FindSchema(table_name);
  if (!found) return std::nullopt;
  const SchemaRef& schema = found->schema;
  DeclaredSeries declared{.name = schema->name,
                          .is_read_whole = IsReadWhole(*schema, IdOfTable(table_name)),
                          .find_cure = nullptr};
  // A table that follows another cannot be declared otherwise.
  if (found->is_own) {
    declared.find_cure = [schema, now_micros = tables_.clock().NowMicros()](CureKind kind) {
      std::optional<Cure> cure;
      if (auto cured = series::CureDeclaration(*schema, ChangeOf(kind), now_micros); cured.has_value()) {
        cure = Cure{std::move(cured->change), std::move(cured->schema.text)};
      }
      return cure;
    };
  }
  return declared;
}

std::unique_ptr<RowMeaning> TableDeclarations::MeaningOf(std::string_view table_name) {
  const std::optional<Found> found = FindSchema(table_name);
  if (!found) return nullptr;
  if (found->is_own) return MakeDeclaredRows(found->schema->name, *found->schema);
  return MakeDeclaredRows(found->schema->name, *series::SchemaOfTable(*found->schema, IdOfTable(table_name)));
}

}  // namespace sonde
