#include "series/metric/metric_delete.h"

#include <memory>
#include <optional>
#include <utility>

#include "series/metric/declared_delete.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_scan.h"
#include "series/metric/row_delete.h"
#include "series/query/query_plan.h"
#include "series/query/scan_choice.h"

namespace sonde::series {
namespace {

// Before anything is deleted.
absl::Status CheckScans(const std::vector<KnownSeriesRef>& known, const MetricDelete& what) {
  for (const std::vector<promql::Matcher>& matchers : what.sets) {
    const absl::Status status = ForEachMetricScan(known, matchers, [](const MetricScan& scan) {
      return scan.series.is_open() ? absl::OkStatus() : CheckDeclaredDelete(scan);
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Deletes what one scan of an open series means.
class ScanDelete {
 public:
  ScanDelete(MetricScan scan, const MetricDelete& what, TableAccess* tables, DeletedCounts* counts)
      : scan_(std::move(scan)), what_(what), tables_(tables), counts_(counts) {}

  absl::Status Run() {
    const absl::StatusOr<QueryPlan> plan = PlanDelete(what_, &scan_);
    if (!plan.ok()) return plan.status();
    const absl::StatusOr<Scans> scans = PlanScans(scan_.series.schema, &scan_.series, *plan, tables_);
    if (!scans.ok()) return scans.status();
    for (const auto& rows : *scans) {
      if (absl::Status status = DeleteRows(rows.get()); !status.ok()) return status;
    }
    if (entity_) ended_.push_back(*std::move(entity_));
    return TellOfEnded();
  }

 private:
  absl::Status DeleteRows(SeriesScan* rows) {
    const RowDelete deleted{.fields = scan_.query.fields,
                            .row =
                                [this](const SeriesScan& row, RowWrite*) {
                                  NoteRow(row.tags());
                                  return absl::OkStatus();
                                },
                            .before_write = [this] { return TellOfFirst(); },
                            .after_write = [this] { return TellOfEnded(); }};
    const absl::StatusOr<int64_t> count = DeleteRowsOf(rows, deleted, tables_);
    if (!count.ok()) return count.status();
    counts_->rows += *count;
    return absl::OkStatus();
  }

  // Rows of an entity lie one behind the other.
  void NoteRow(const std::vector<std::string>& labels) {
    if (entity_ == labels) return;
    if (entity_) ended_.push_back(*std::move(entity_));
    entity_ = labels;
    ++counts_->entities;
  }

  absl::Status TellOfFirst() {
    if (!what_.deleting || std::exchange(has_told_, true)) return absl::OkStatus();
    return what_.deleting(scan_.series);
  }

  absl::Status TellOfEnded() {
    for (const std::vector<std::string>& labels : std::exchange(ended_, {})) {
      if (!what_.deleted) break;
      if (absl::Status status = what_.deleted(scan_.series, labels); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  MetricScan scan_;
  const MetricDelete& what_;
  TableAccess* const tables_;
  DeletedCounts* const counts_;
  bool has_told_ = false;
  std::optional<std::vector<std::string>> entity_;  // the labels of the one at hand
  std::vector<std::vector<std::string>> ended_;     // entities whose rows are all gone or going
};

}  // namespace

absl::StatusOr<DeletedCounts> DeleteMetrics(const std::vector<KnownSeriesRef>& known,
                                            const MetricDelete& what, TableAccess* tables) {
  if (absl::Status status = CheckScans(known, what); !status.ok()) return status;
  DeletedCounts counts;
  for (const std::vector<promql::Matcher>& matchers : what.sets) {
    const absl::Status status = ForEachMetricScan(known, matchers, [&](MetricScan scan) {
      if (!scan.series.is_open()) return DeleteDeclared(std::move(scan), what, tables, &counts);
      return ScanDelete(std::move(scan), what, tables, &counts).Run();
    });
    if (!status.ok()) return status;
  }
  return counts;
}

}  // namespace sonde::series
