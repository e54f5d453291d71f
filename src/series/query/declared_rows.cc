#include "series/query/declared_rows.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "series/known/indexed_series.h"
#include "series/query/open_rows.h"

namespace sonde::series {
namespace {

const TagFilter* FilterOf(const Selection& selection, size_t tag) {
  return tag < selection.tags.size() ? &selection.tags[tag] : nullptr;
}

bool IsFixed(const Selection& selection, size_t tag) {
  const TagFilter* const filter = FilterOf(selection, tag);
  return filter != nullptr && !filter->values.empty() && !filter->prefix;
}

// Whether there are conditions on tags that do not lead the key, so that its ranges do not say them.
bool IsWorthAsking(const SeriesSchema& schema, const Query& query, const Selection& selection) {
  std::vector<bool> leads(schema.tags.size());
  for (const KeyPart& part : schema.key) {
    if (part.kind != KeyPart::Kind::kTag) continue;
    if (!IsFixed(selection, part.tag)) break;
    leads[part.tag] = true;
  }
  for (size_t tag = 0; tag < schema.tags.size(); ++tag) {
    const TagFilter* const filter = FilterOf(selection, tag);
    if (filter != nullptr && !filter->IsAny() && !leads[tag]) return true;
  }
  return std::any_of(query.conditions.begin(), query.conditions.end(),
                     [&](const TagCondition& condition) { return !leads[condition.tag]; });
}

// As keys and the index have it.
std::string ShortestInt(std::string value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? std::to_string(number) : value;
}

// The conditions of the query, of the labels of the index.
Query ConditionsOf(const SeriesSchema& schema, const KnownSeries& view, const Query& query) {
  Query asked;
  asked.index = query.index;
  asked.interrupted = query.interrupted;
  std::vector<size_t> label_of(schema.tags.size());
  for (size_t tag = 0; tag < schema.tags.size(); ++tag) {
    const auto label = std::find(view.labels.begin(), view.labels.end(), schema.tags[tag].name);
    label_of[tag] = static_cast<size_t>(label - view.labels.begin());
  }
  asked.selection.tags.resize(view.labels.size());
  for (size_t tag = 0; tag < schema.tags.size(); ++tag) {
    const TagFilter* const filter = FilterOf(query.selection, tag);
    if (filter == nullptr) continue;
    TagFilter& of_label = asked.selection.tags[label_of[tag]] = *filter;
    if (schema.tags[tag].type != TagType::kInt) continue;
    for (std::string& value : of_label.values) value = ShortestInt(std::move(value));
  }
  for (TagCondition condition : query.conditions) {
    condition.tag = label_of[condition.tag];
    asked.conditions.push_back(std::move(condition));
  }
  return asked;
}

}  // namespace

absl::StatusOr<std::optional<IndexedRows>> PlanIndexedRows(const KeyCodec& codec, const Query& query,
                                                           const Selection& selection, TableAccess* tables) {
  const std::optional<IndexedRows> by_keys;
  const SeriesSchema& schema = codec.schema();
  if (!schema.is_indexed || query.index == nullptr || !IsWorthAsking(schema, query, selection))
    return by_keys;
  const KnownSeries view = IndexedView(schema);
  Selection of_entities = selection;
  const absl::StatusOr<std::optional<std::vector<std::string>>> texts =
      ChooseEntities(view, ConditionsOf(schema, view, query), selection, /*fields=*/{}, tables);
  if (!texts.ok()) return texts.status();
  if (!texts->has_value()) return by_keys;
  const EntityTexts entity_texts(schema);
  std::vector<std::vector<std::string>>& entities = of_entities.entities.emplace();
  entities.reserve((*texts)->size());
  for (const std::string& text : **texts) {
    // What the index has besides is of no declaration with these tags.
    if (!entity_texts.Parse(text, &entities.emplace_back())) entities.pop_back();
  }
  of_entities.ranges_max = tables->numbers() == nullptr ? kScanRangesMax : kEntityRangesMax;
  absl::StatusOr<ScanPlan> plan = PlanScan(codec, of_entities);
  if (absl::IsInvalidArgument(plan.status())) return by_keys;
  if (!plan.ok()) return plan.status();
  return IndexedRows{*std::move(plan), static_cast<int64_t>(entities.size())};
}

}  // namespace sonde::series
