#include "series/metric/metric_batch.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "series/schema/calendar.h"

namespace sonde::series {

void PrepareQuery(const MetricRead& read, Query* query) {
  constexpr int64_t kBeginMillis = kTimeBeginMicros / 1'000;
  constexpr int64_t kEndMillis = kTimeEndMicros / 1'000;
  query->selection.from_micros = std::clamp(read.start_millis, kBeginMillis, kEndMillis) * 1'000;
  query->selection.to_micros = std::clamp(read.end_millis, kBeginMillis - 1, kEndMillis - 1) * 1'000 + 1'000;
  query->now_micros = read.now_micros;
  query->interrupted = read.interrupted;
  query->hold = read.hold;
  query->idle_workers = read.idle_workers;
  query->index = read.index;
}

void PrepareForSamples(const MetricRead& read, MetricScan* scan) {
  PrepareQuery(read, &scan->query);
  scan->query.takes_numbers = true;
  if (scan->stale) scan->query.fields.push_back(scan->stale->second);
}

std::string_view TagOf(const ColumnView& column, size_t row) {
  return column.IsThere(row) ? column.bytes()[column.PlaceOf(row)] : std::string_view();
}

// The first row from `begin` on with other tags.
size_t EndOfTags(const rows::Batch& batch, size_t tags, size_t begin) {
  size_t end = batch.rows;
  for (size_t tag = 0; tag < tags; ++tag) {
    const ColumnView& column = batch.columns[tag];
    if (column.is_constant()) continue;
    size_t row = begin + 1;
    while (row < end && TagOf(column, row) == TagOf(column, begin)) ++row;
    end = row;
  }
  return end;
}

std::string TagsText(const rows::Batch& batch, size_t tags, size_t row) {
  std::string text;
  for (size_t tag = 0; tag < tags; ++tag) {
    const std::string_view value = TagOf(batch.columns[tag], row);
    text.append(std::to_string(value.size())).append(1, ':').append(value);
  }
  return text;
}

promql::Labels LabelsOf(const MetricScan& scan, size_t metric, const rows::Batch& batch, size_t row) {
  promql::Labels labels = {{kNameLabel, scan.metrics[metric]}};
  for (size_t tag = 0; tag < scan.view.tags.size(); ++tag) {
    const std::string& name = scan.view.tags[tag].name;
    const std::string_view value = TagOf(batch.columns[tag], row);
    if (!value.empty() && name != kNameLabel) labels.emplace_back(name, value);
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

}  // namespace sonde::series
