#include "series/metric/metric_delete.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_scan.h"
#include "series/query/query_plan.h"
#include "series/query/scan_choice.h"

namespace sonde::series {
namespace {

constexpr size_t kRowsAWrite = 1'000;

absl::Status RefuseDeclared(const std::vector<KnownSeriesRef>& known, const MetricDelete& what) {
  for (const std::vector<promql::Matcher>& matchers : what.sets) {
    const absl::Status status =
        ForEachMetricScan(known, matchers, [](const MetricScan& scan) -> absl::Status {
          if (scan.series.is_open()) return absl::OkStatus();
          return absl::UnimplementedError(fmt::format(
              "the selector means '{}', of a declared series: samples of declared series are not deleted by "
              "selectors; name the series that came by line protocol or Prometheus",
              Printable(scan.metrics[0])));
        });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Deletes what one scan means.
class ScanDelete {
 public:
  ScanDelete(MetricScan scan, const MetricDelete& what, TableAccess* tables, DeletedCounts* counts)
      : scan_(std::move(scan)), what_(what), tables_(tables), counts_(counts) {}

  absl::Status Run() {
    MetricRead read;
    read.start_millis = what_.start_millis;
    read.end_millis = what_.end_millis;
    read.interrupted = what_.interrupted;
    read.index = what_.index;
    PrepareQuery(read, &scan_.query);
    scan_.query.now_micros.reset();  // what is forgotten is deleted, too
    if (scan_.stale) scan_.query.fields.push_back(scan_.stale->second);
    absl::StatusOr<ResultHeader> header = HeaderOf(scan_.view, scan_.query);
    if (!header.ok()) return header.status();
    const absl::StatusOr<QueryPlan> plan = QueryPlan::Make(scan_.view, scan_.query, *std::move(header));
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
  // Reads and deletes in turns, so that no read is open for long.
  absl::Status DeleteRows(SeriesScan* rows) {
    std::vector<RowRange> rest = NormalizeRanges(rows->ranges());
    while (!rest.empty()) {
      std::vector<RowWrite> writes;
      RowRead read = rows->MakeRead(rest);
      read.cells_per_column_max = 1;
      const absl::Status status = rows->Read(read, [&]() -> absl::StatusOr<bool> {
        if (rows->points().Count() == 0) return true;
        NoteRow(rows->tags());
        writes.push_back(WriteFor(rows->row_key(), read));
        return writes.size() < kRowsAWrite;
      });
      if (!status.ok()) return absl::IsNotFound(status) ? absl::OkStatus() : status;  // no point has come yet
      const bool is_end = writes.size() < kRowsAWrite;
      const std::string last = writes.empty() ? "" : writes.back().row_key;
      if (absl::Status written = Write(rows->stats().table, writes); !written.ok()) return written;
      if (absl::Status told = TellOfEnded(); !told.ok()) return told;
      if (is_end) break;
      rest = Behind(last, rest);
    }
    return absl::OkStatus();
  }

  // What of `ranges` lies behind `key`.
  static std::vector<RowRange> Behind(const std::string& key, const std::vector<RowRange>& ranges) {
    std::vector<RowRange> rest;
    const std::string next = key + '\0';
    for (RowRange range : ranges) {
      if (!range.end.empty() && range.end <= next) continue;
      if (range.start < next) range.start = next;
      rest.push_back(std::move(range));
    }
    return rest;
  }

  RowWrite WriteFor(const std::string& row_key, const RowRead& read) const {
    RowWrite write;
    write.row_key = row_key;
    for (const size_t place : scan_.query.fields) {
      const Field& field = scan_.series.schema.fields[place];
      write.delete_times.push_back({field.family, field.qualifier, read.start_micros, read.end_micros});
    }
    return write;
  }

  absl::Status Write(const std::string& table, const std::vector<RowWrite>& writes) {
    if (writes.empty()) return absl::OkStatus();
    const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(table, writes);
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
    counts_->rows += std::ssize(writes);
    return absl::OkStatus();
  }

  // Rows of an entity lie one behind the other.
  void NoteRow(const std::vector<std::string>& labels) {
    if (entity_ == labels) return;
    if (entity_) ended_.push_back(*std::move(entity_));
    entity_ = labels;
    ++counts_->entities;
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
  std::optional<std::vector<std::string>> entity_;  // the labels of the one at hand
  std::vector<std::vector<std::string>> ended_;     // entities whose rows are all gone or going
};

}  // namespace

absl::StatusOr<DeletedCounts> DeleteMetrics(const std::vector<KnownSeriesRef>& known,
                                            const MetricDelete& what, TableAccess* tables) {
  if (absl::Status status = RefuseDeclared(known, what); !status.ok()) return status;
  DeletedCounts counts;
  for (const std::vector<promql::Matcher>& matchers : what.sets) {
    const absl::Status status = ForEachMetricScan(known, matchers, [&](MetricScan scan) {
      return ScanDelete(std::move(scan), what, tables, &counts).Run();
    });
    if (!status.ok()) return status;
  }
  return counts;
}

}  // namespace sonde::series
