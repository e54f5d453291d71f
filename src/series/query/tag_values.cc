#include "series/query/tag_values.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "base/bytes.h"
#include "model/row_range.h"
#include "series/query/query_header.h"
#include "series/query/query_plan.h"
#include "series/query/scan_choice.h"
#include "series/query/series_prefix.h"
#include "series/query/series_scan.h"

namespace sonde::series {
namespace {

class Search {
 public:
  Search(const KnownSeries& series, size_t tag, std::string prefix, size_t values_max)
      : series_(series), tag_(tag), prefix_(std::move(prefix)), values_max_(values_max) {}

  absl::Status Run(SeriesScan* scan) {
    std::vector<RowRange> ranges = scan->ranges();
    while (!ranges.empty() && !is_full_) {
      RowRead read = scan->MakeRead(ranges);
      // Whether a row has a point is all that is wanted of it.
      if (scan->schema().layout != Layout::kBlob) read.cells_per_column_max = 1;
      std::string skip_from;
      const absl::Status status = scan->Read(read, [&]() -> absl::StatusOr<bool> {
        if (scan->points().Count() == 0) return true;
        const std::string& value = scan->tags()[tag_];
        if (!value.empty() && value.starts_with(prefix_)) Take(value);
        if (is_full_) return false;
        absl::StatusOr<std::string> known = PrefixOf(*scan, value);
        if (!known.ok()) return known.status();
        if (known->empty()) return true;
        skip_from = PrefixEnd(*known);
        return false;
      });
      if (!status.ok() || skip_from.empty()) return status;
      ranges = ClipRanges(ranges, RowRange{skip_from, ""});
    }
    return absl::OkStatus();
  }

  TagValues Finish() {
    TagValues found;
    found.values.assign(std::make_move_iterator(values_.begin()), std::make_move_iterator(values_.end()));
    found.has_more = is_full_;
    return found;
  }

 private:
  void Take(const std::string& value) {
    if (values_.contains(value)) return;
    is_full_ = values_.size() == values_max_;
    if (!is_full_) values_.insert(value);
  }

  // What the rows begin with that say nothing new.
  absl::StatusOr<std::string> PrefixOf(const SeriesScan& scan, const std::string& value) const {
    if (!scan.is_open()) return SeriesPrefix(scan.codec(), scan.key().tags, tag_);
    // Without the label: the rest of this series.
    if (value.empty()) return SeriesPrefix(scan.codec(), scan.key().tags);
    return OpenSeriesPrefix(scan.codec(), series_, scan.tags(), tag_);
  }

  const KnownSeries& series_;
  const size_t tag_;
  const std::string prefix_;
  const size_t values_max_;
  std::set<std::string> values_;
  bool is_full_ = false;
};

}  // namespace

absl::StatusOr<TagValues> ListTagValues(const KnownSeries& series, Query query, size_t tag,
                                        const std::string& prefix, size_t values_max, TableAccess* tables) {
  const SeriesSchema view = LabelsAsTags(series);
  query.takes_any_value = true;
  if (!prefix.empty() && view.tags[tag].type == TagType::kString) {
    query.selection.tags.resize(view.tags.size());
    TagFilter& filter = query.selection.tags[tag];
    if (filter.IsAny()) filter.prefix = prefix;
  }
  absl::StatusOr<ResultHeader> header = HeaderOf(view, query);
  if (!header.ok()) return header.status();
  const absl::StatusOr<QueryPlan> plan = QueryPlan::Make(view, query, *std::move(header));
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<Scans> scans =
      PlanScans(series.schema, series.is_open() ? &series : nullptr, *plan, tables);
  if (!scans.ok()) return scans.status();
  Search search(series, tag, prefix, values_max);
  bool is_late = false;
  for (const std::unique_ptr<SeriesScan>& scan : *scans) {
    const absl::Status status = search.Run(scan.get());
    is_late = absl::IsDeadlineExceeded(status);
    if (is_late) break;
    if (!status.ok()) return status;
  }
  TagValues found = search.Finish();
  found.has_more |= is_late;
  for (const std::unique_ptr<SeriesScan>& scan : *scans) found.rows_read += scan->stats().rows_read;
  return found;
}

}  // namespace sonde::series
