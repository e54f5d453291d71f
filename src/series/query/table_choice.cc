#include "series/query/table_choice.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/limits.h"
#include "series/known/complete_tables.h"

namespace sonde::series {
namespace {

constexpr double kTagValuesGuessed = 100;  // of a tag that declares no count
constexpr double kPrefixShareGuessed = 0.1;
constexpr int64_t kKeptMicrosGuessed = 365 * kMicrosPerDay;  // of a series without max_age
constexpr double kRowOfPointCost = 5;                        // of a point in a row of many: 1
constexpr double kCostRatioMax = 0.5;
constexpr int64_t kPeriodsReadMax = 100;
// What is this close to being forgotten may be gone in one table and not yet in the other.
constexpr int64_t kForgettingMicros = kMicrosPerMinute;

bool IsBounded(const Selection& selection) {
  return selection.from_micros > kTimeBeginMicros || selection.to_micros < kTimeEndMicros;
}

// Whether it forgets events by their number, and so others than a table with other rows.
bool ForgetsByCount(const SeriesSchema& schema) {
  if (schema.IsRowPerPoint() || schema.layout == Layout::kOffsets) return false;
  return schema.retention.max_versions ||
         std::any_of(schema.family_retention.begin(), schema.family_retention.end(),
                     [](const auto& rule) { return rule.second.max_versions.has_value(); });
}

// Where rows are points: whether points of two times are two rows.
bool HasARowForEachTime(const SeriesSchema& schema) {
  if (!schema.IsRowPerPoint()) return true;
  const BucketWidth resolution{BucketWidth::Kind::kFixed, schema.resolution_micros};
  return schema.FinestTimePart() != nullptr &&
         resolution.IsMultipleOf(TimeFormatUnit(schema.FinestTimePart()->format));
}

// Whether the newest values of the fields say which point is the newest, and what it has.
bool LatestIsNewestPoint(const SeriesSchema& schema, const SeriesSchema& version, const Query& query) {
  if (version.resolution_micros % kMicrosPerMilli != 0 || !HasARowForEachTime(version)) return false;
  // A reading that is corrected stays beside the first one.
  if (version.layout == Layout::kColumns) return false;
  // The newest blob may lack a field, and the one that has it be forgotten.
  if (version.layout == Layout::kBlob && ForgetsByCount(version)) return false;
  return std::ranges::all_of(schema.Families(), [&](const std::string& family) {
    const std::optional<int64_t> age = version.RetentionOf(family).max_age_micros;
    // With corrections, age is counted from when a value was written.
    return age == schema.RetentionOf(family).max_age_micros &&
           (!age || (query.now_micros && !version.keeps_corrections));
  });
}

class Chooser {
 public:
  Chooser(const SeriesSchema& schema, const Query& query, Selection selection)
      : schema_(schema), query_(query), selection_(std::move(selection)) {
    selection_.fields = FieldsOf(schema, query);
  }

  // Nothing when the series' own table is best; `complete`: which copies may be read.
  std::vector<TablePart> Choose(const std::set<std::string>& complete) const;

 private:
  struct Share {
    double of_tags = 1;     // of all points, in the ranges that the tags in front leave
    bool has_time = false;  // time narrows it too
  };
  Share ShareOf(const SeriesSchema& table) const;
  double TimeShare(int64_t granule_micros) const;
  double CostOf(const SeriesSchema& table) const;
  // Without the time that is left out, a question for all of it.
  bool ForgetsAlike(const SeriesSchema& copy) const;
  bool KeepsApartAlike(const SeriesSchema& copy) const;
  std::vector<TablePart> PartsOf(const PeriodTable& period) const;

  const SeriesSchema& schema_;
  const Query& query_;
  Selection selection_;
};

Chooser::Share Chooser::ShareOf(const SeriesSchema& table) const {
  Share share;
  for (const KeyPart& part : table.key) {
    if (part.IsTime()) {
      share.has_time = IsBounded(selection_);
      return share;
    }
    if (part.kind != KeyPart::Kind::kTag) continue;
    const TagFilter filter = part.tag < selection_.tags.size() ? selection_.tags[part.tag] : TagFilter{};
    const auto count = static_cast<double>(table.tags[part.tag].count.value_or(kTagValuesGuessed));
    if (filter.IsAny()) return share;
    share.of_tags *= filter.prefix ? kPrefixShareGuessed
                                   : std::min(1.0, static_cast<double>(filter.values.size()) / count);
    if (filter.prefix) return share;
  }
  return share;
}

double Chooser::TimeShare(int64_t granule_micros) const {
  int64_t end = selection_.to_micros;
  if (query_.now_micros && end > *query_.now_micros)
    end = std::max(*query_.now_micros, selection_.from_micros);
  const int64_t asked = std::max(end - selection_.from_micros, granule_micros);
  const int64_t kept = schema_.retention.max_age_micros.value_or(kKeptMicrosGuessed);
  return std::min(1.0, static_cast<double>(asked) / static_cast<double>(kept));
}

double Chooser::CostOf(const SeriesSchema& table) const {
  const Share share = ShareOf(table);
  const int64_t granule = table.bucket && !table.IsRowPerPoint() ? table.bucket->MicrosMax() : 0;
  return share.of_tags * (share.has_time ? TimeShare(granule) : 1) *
         (table.IsRowPerPoint() ? kRowOfPointCost : 1);
}

bool Chooser::ForgetsAlike(const SeriesSchema& copy) const {
  if (ForgetsByCount(schema_) || ForgetsByCount(copy)) return false;
  for (const std::string& family : schema_.Families()) {
    const std::optional<int64_t> own_age = schema_.RetentionOf(family).max_age_micros;
    const std::optional<int64_t> copy_age = copy.RetentionOf(family).max_age_micros;
    if (own_age == copy_age) continue;
    if (!query_.now_micros) return false;
    const int64_t age = std::min(own_age.value_or(INT64_MAX), copy_age.value_or(INT64_MAX));
    if (selection_.from_micros < *query_.now_micros - age + kForgettingMicros) return false;
  }
  return true;
}

// Points that are written again, or fall into one row or slot, become the same in both.
bool Chooser::KeepsApartAlike(const SeriesSchema& copy) const {
  const auto is_by_field = [](Layout layout) { return layout == Layout::kCells || layout == Layout::kRow; };
  if (copy.layout != schema_.layout &&
      (!is_by_field(copy.layout) || !is_by_field(schema_.layout) || schema_.keeps_corrections)) {
    return false;
  }
  return HasARowForEachTime(copy);
}

// None when there are too many, or some are dropped.
std::vector<TablePart> Chooser::PartsOf(const PeriodTable& period) const {
  std::vector<TablePart> parts;
  const int64_t last = selection_.to_micros - 1;
  if (!IsBounded(selection_) || last < selection_.from_micros) return {};
  if ((last - std::max(selection_.from_micros, kTimeBeginMicros)) / period.every.MicrosMax() >
      kPeriodsReadMax)
    return {};
  for (int64_t start = period.every.Start(std::max(selection_.from_micros, kTimeBeginMicros)); start <= last;
       start = period.every.End(start)) {
    if (period.max_age_micros &&
        (!query_.now_micros ||
         period.every.End(start) < *query_.now_micros - *period.max_age_micros + kForgettingMicros)) {
      return {};
    }
    TablePart& part =
        parts.emplace_back(TablePart{MakePeriodSchema(schema_, period, start), selection_, true});
    part.selection.from_micros = std::max(selection_.from_micros, start);
    part.selection.to_micros = std::min(selection_.to_micros, period.every.End(start));
  }
  return parts;
}

std::vector<TablePart> Chooser::Choose(const std::set<std::string>& complete) const {
  std::vector<TablePart> best;
  double best_cost = CostOf(schema_) * kCostRatioMax;
  const auto offer = [&](double cost, std::vector<TablePart> parts) {
    if (parts.empty() || cost >= best_cost || !ForgetsAlike(parts[0].schema)) return;
    best_cost = cost;
    best = std::move(parts);
  };
  for (const OrderTable& order : schema_.orders) {
    if (!complete.contains(order.table)) continue;
    const SeriesSchema copy = MakeOrderSchema(schema_, order);
    if (KeepsApartAlike(copy)) offer(CostOf(copy), {{copy, selection_, false}});
  }
  for (const PeriodTable& period : schema_.periods) {
    if (!complete.contains(period.Pattern())) continue;
    const Share share = ShareOf(schema_);
    if (share.has_time) continue;  // the same keys already lead there
    std::vector<TablePart> parts = PartsOf(period);
    const double time =
        std::min(1.0, static_cast<double>(parts.size()) * TimeShare(period.every.MicrosMax()));
    offer(share.of_tags * time * (schema_.IsRowPerPoint() ? kRowOfPointCost : 1), std::move(parts));
  }
  return best;
}

}  // namespace

absl::StatusOr<std::vector<TablePart>> ChooseCopies(const SeriesSchema& schema, const QueryPlan& plan,
                                                    const Selection& selection, TableAccess* tables) {
  if (schema.orders.empty() && schema.periods.empty()) return std::vector<TablePart>();
  Selection narrowed = selection;
  plan.conditions.Narrow(schema, &narrowed);
  const Chooser chooser(schema, plan.query, narrowed);
  std::set<std::string> all;
  for (const OrderTable& order : schema.orders) all.insert(order.table);
  for (const PeriodTable& period : schema.periods) all.insert(period.Pattern());
  // The notes are read only for a query that would profit.
  if (chooser.Choose(all).empty()) return std::vector<TablePart>();
  const absl::StatusOr<std::set<std::string>> complete = CompleteTables(schema, tables);
  if (!complete.ok()) return complete.status();
  std::vector<TablePart> parts = chooser.Choose(*complete);
  // The index has the days of the times with which the series' own tables give points.
  const std::vector<VersionSpan> versions = schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros);
  const bool is_indexed = schema.is_indexed && std::ranges::all_of(versions, [](const VersionSpan& version) {
                            return HasARowForEachTime(*version.schema);
                          });
  for (TablePart& part : parts) part.schema.is_indexed = is_indexed;
  return parts;
}

absl::StatusOr<std::optional<LatestTable>> ChooseLatest(const SeriesSchema& schema, const Query& query,
                                                        TableAccess* tables) {
  const std::vector<VersionSpan> versions = schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros);
  if (query.latest != 1 || IsBounded(query.selection) || schema.latest.empty() ||
      !std::ranges::all_of(versions, [&](const VersionSpan& version) {
        return LatestIsNewestPoint(schema, *version.schema, query);
      })) {
    return std::nullopt;
  }
  const absl::StatusOr<std::set<std::string>> complete = CompleteTables(schema, tables);
  if (!complete.ok()) return complete.status();
  for (const LatestTable& latest : schema.latest) {
    if (complete->contains(latest.table)) return latest;
  }
  return std::nullopt;
}

}  // namespace sonde::series
