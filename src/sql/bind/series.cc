// Declared and open series as relations: series.NAME.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/known/known_series.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

Type TypeOf(const series::Field& field) {
  switch (field.type) {
    case series::FieldType::kInt:
      return TypeKind::kInt64;
    case series::FieldType::kDouble:
      return TypeKind::kFloat64;
    case series::FieldType::kString:
      break;
  }
  return TypeKind::kString;
}

class SeriesColumns {
 public:
  SeriesColumns(Plan::SeriesScan* scan, NameList* names) : scan_(scan), names_(names) {}

  void Add(std::string name, SeriesColumn::Kind kind, size_t index, Type type, bool in_star = true) {
    names_->columns.push_back({std::move(name), scan_->columns.size(), type, /*is_value=*/false, in_star});
    scan_->columns.push_back({kind, index, std::move(type)});
  }

 private:
  Plan::SeriesScan* const scan_;
  NameList* const names_;
};

}  // namespace

void AddColumnsOfSeries(const series::KnownSeries& known, Plan::SeriesScan* scan, NameList* names) {
  using Kind = SeriesColumn::Kind;
  SeriesColumns columns(scan, names);
  const series::SeriesSchema view = series::LabelsAsTags(known);
  for (size_t i = 0; i < view.tags.size(); ++i) {
    const bool is_int = view.tags[i].type == series::TagType::kInt;
    columns.Add(view.tags[i].name, Kind::kTag, i, is_int ? TypeKind::kInt64 : TypeKind::kString);
  }
  columns.Add("time", Kind::kTime, 0, TypeKind::kTimestamp);
  for (size_t i = 0; i < view.fields.size(); ++i) {
    columns.Add(view.fields[i].name, Kind::kField, i, TypeOf(view.fields[i]));
  }
  if (!known.is_open()) return;
  columns.Add("labels", Kind::kLabels, 0, Type::Map(TypeKind::kString, TypeKind::kString), /*in_star=*/false);
}

absl::Status QueryBinder::CheckTemporalOfSeries(const FromItem& item,
                                                const TemporalArguments& temporal) const {
  if (item.arguments.empty()) return absl::OkStatus();
  const Position position = item.arguments[0].position;
  if (temporal.with_history) {
    return Error(position, "Argument with_history is for tables; a series has a row for each point");
  }
  if (temporal.as_of != nullptr && item.arguments.size() > 1) {
    return Error(position, "Argument as_of of a series cannot be used with other temporal arguments");
  }
  return CheckBounds(position, temporal);
}

void QueryBinder::AddSeries(const FoundSeries& series) {
  for (const FoundSeries& other : series_) {
    if (other.known == series.known) return;
  }
  series_.push_back(series);
}

absl::StatusOr<Relation> QueryBinder::BindSeries(const FromItem& item) {
  const std::string& name = item.path.parts[1];
  SONDE_TRY(RequireExtension(item.path.position, "series." + name));
  if (!options_.defines.empty()) {
    return absl::UnimplementedError("A view that reads from a series is not built");
  }
  absl::StatusOr<FoundSeries> series =
      options_.find_series == nullptr ? absl::NotFoundError("") : options_.find_series(name);
  if (absl::IsNotFound(series.status())) {
    return ErrorAt(text_, item.path.position, absl::NotFoundError(fmt::format("Series not found: {}", name)));
  }
  if (!series.ok()) return series.status();
  AddSeries(*series);
  for (const std::string& table : series->tables) AddNamed(table);
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kSeries;
  plan->series = std::make_unique<Plan::SeriesScan>();
  plan->series->series = *std::move(series);
  SONDE_TRY(BindTemporal(item, &plan->series->temporal));
  SONDE_TRY(CheckTemporalOfSeries(item, plan->series->temporal));
  std::vector<std::string> hints;
  SONDE_TRY(BindHints(item.hints, &hints));
  Relation relation;
  AddColumnsOfSeries(*plan->series->series.known, plan->series.get(), &relation.names);
  for (const SeriesColumn& column : plan->series->columns) plan->types.push_back(column.type);
  relation.plan = std::move(plan);
  SetAlias(item.alias.empty() ? name : item.alias, &relation.names);
  return relation;
}

}  // namespace sonde::sql
