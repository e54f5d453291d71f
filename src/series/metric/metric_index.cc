#include "series/metric/metric_index.h"

#include "absl/status/status.h"
#include "series/metric/metric_batch.h"

namespace sonde::series {

absl::StatusOr<std::optional<EntityAnswer>> AskIndex(MetricScan* scan, const MetricRead& read,
                                                     TableAccess* tables) {
  if (read.index == nullptr || !scan->series.is_open()) return std::nullopt;
  PrepareQuery(read, &scan->query);
  if (scan->stale) scan->query.fields.push_back(scan->stale->second);
  EntityQuestion question;
  for (const promql::Matcher& matcher : read.matchers) {
    if (matcher.name() != kNameLabel) question.matchers.push_back(matcher);
  }
  question.from_micros = scan->query.selection.from_micros;
  question.to_micros = scan->query.selection.to_micros;
  for (const size_t field : scan->query.fields)
    question.fields.push_back(scan->series.schema.fields[field].name);
  question.interrupted = read.interrupted;
  absl::StatusOr<std::optional<EntityAnswer>> answer = read.index->Select(scan->series, question, tables);
  // Who may read the series need not be one who may read its index.
  if (absl::IsPermissionDenied(answer.status())) return std::nullopt;
  if (answer.ok() && answer->has_value() && (*answer)->has_deleted) return std::nullopt;
  return answer;
}

PositionSet PositionsOf(const MetricScan& scan, const EntityAnswer::Part& part, size_t metric) {
  PositionSet positions = part.of_fields[metric];
  if (scan.stale && scan.stale->first == metric) positions.Or(part.of_fields.back());
  return positions;
}

}  // namespace sonde::series
