#include "series/metric/declared_delete.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "series/key/field_codec.h"
#include "series/metric/metric_batch.h"
#include "series/metric/row_delete.h"
#include "series/query/query.h"
#include "series/query/query_plan.h"
#include "series/query/series_scan.h"
#include "series/write/rollup_keeper.h"

namespace sonde::series {
namespace {

const SystemClock kMachineClock;

class DeclaredDelete {
 public:
  DeclaredDelete(MetricScan scan, const MetricDelete& what, TableAccess* tables, DeletedCounts* counts)
      : scan_(std::move(scan)),
        schema_(scan_.series.schema),
        what_(what),
        tables_(tables),
        clock_(what.clock == nullptr ? &kMachineClock : what.clock),
        counts_(counts) {}

  absl::Status Run() {
    absl::StatusOr<QueryPlan> plan = PlanDelete(what_, &scan_);
    if (!plan.ok()) return plan.status();
    plan_.emplace(*std::move(plan));
    if (absl::Status status = DeleteCopies(); !status.ok()) return status;
    for (const LatestTable& latest : schema_.latest) {
      if (absl::Status status = DeleteNewest(MakeLatestSchema(schema_, latest)); !status.ok()) return status;
    }
    return DeleteOwn();
  }

 private:
  absl::StatusOr<std::unique_ptr<SeriesScan>> Plan(const SeriesSchema& table, int64_t from_micros,
                                                   int64_t to_micros) {
    Selection selection = scan_.query.selection;
    selection.from_micros = std::max(selection.from_micros, from_micros);
    selection.to_micros = std::min(selection.to_micros, to_micros);
    return SeriesScan::Plan(table, nullptr, *plan_, std::move(selection), tables_);
  }

  absl::Status DeleteOf(const SeriesSchema& table, int64_t from_micros, int64_t to_micros, RowDelete rows) {
    const absl::StatusOr<std::unique_ptr<SeriesScan>> scan = Plan(table, from_micros, to_micros);
    if (!scan.ok()) return scan.status();
    rows.fields = scan_.query.fields;
    const absl::StatusOr<int64_t> count = DeleteRowsOf(scan->get(), rows, tables_);
    if (!count.ok()) return count.status();
    counts_->rows += *count;
    return absl::OkStatus();
  }

  absl::Status DeleteCopies() {
    const RowDelete rows{.fields = {}, .row = [](const SeriesScan&, RowWrite*) { return absl::OkStatus(); }};
    for (const OrderTable& order : schema_.orders) {
      const absl::Status status =
          DeleteOf(MakeOrderSchema(schema_, order), kTimeBeginMicros, kTimeEndMicros, rows);
      if (!status.ok()) return status;
    }
    if (schema_.periods.empty()) return absl::OkStatus();
    const absl::StatusOr<std::vector<std::string>> all = tables_->ListTables();
    if (!all.ok()) return all.status();
    for (const PeriodTable& period : schema_.periods) {
      for (const std::string& table : *all) {
        const std::optional<int64_t> start = period.PeriodOf(table);
        if (!start) continue;
        const absl::Status status =
            DeleteOf(MakePeriodSchema(schema_, period, *start), *start, period.every.End(*start), rows);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status DeleteNewest(const SeriesSchema& latest) {
    return DeleteOf(latest, kTimeBeginMicros, kTimeEndMicros,
                    {.fields = {}, .row = [&](const SeriesScan& rows, RowWrite* write) {
                       return AddNewestBefore(latest, rows.tags(), write);
                     }});
  }

  // The newest value of each field from before the time that is deleted.
  absl::Status AddNewestBefore(const SeriesSchema& latest, const std::vector<std::string>& tags,
                               RowWrite* write) {
    if (scan_.query.selection.from_micros <= kTimeBeginMicros) return absl::OkStatus();
    for (const size_t place : scan_.query.fields) {
      Query query;
      for (const std::string& tag : tags) query.selection.tags.push_back({{tag}, {}});
      query.selection.to_micros = scan_.query.selection.from_micros;
      query.fields = {place};
      query.latest = 1;
      query.interrupted = what_.interrupted;
      const Field& field = latest.fields[place];
      const auto take = [&](const ResultRow& row) {
        std::string text;
        if (const auto* integer = std::get_if<int64_t>(&row.values[0])) text = fmt::format("{}", *integer);
        if (const auto* number = std::get_if<double>(&row.values[0])) text = fmt::format("{}", *number);
        std::string value;
        if (text.empty() || !EncodeValue(field, text, &value)) return true;
        write->cells.push_back(
            {field.family, field.qualifier, latest.TimestampOf(row.time_micros), std::move(value)});
        return true;
      };
      const absl::Status status = RunQuery(schema_, query, tables_, take).status();
      if (!status.ok() && !absl::IsNotFound(status)) return status;
    }
    return absl::OkStatus();
  }

  absl::Status DeleteOwn() {
    std::unique_ptr<RollupKeeper> rollups;
    if (!schema_.rollups.empty()) rollups = std::make_unique<RollupKeeper>(schema_, tables_, clock_);
    std::vector<std::string> last_tags;
    RowDelete rows;
    rows.row = [&](const SeriesScan& row, RowWrite*) {
      if (last_tags != row.tags()) ++counts_->entities;
      last_tags = row.tags();
      const std::vector<std::string_view> tags(last_tags.begin(), last_tags.end());
      for (size_t p = 0; rollups != nullptr && p < row.points().Count(); ++p) {
        const int64_t time_micros = row.points().Get(p).time_micros;
        if (rollups->Check(tags, time_micros).ok()) rollups->Touch(tags, time_micros);
      }
      return absl::OkStatus();
    };
    if (rollups != nullptr) {
      rows.tells_all_points = true;
      rows.before_write = [&] { return rollups->BeforeWrite(); };
      rows.after_write = [&] { return rollups->IsFull() ? rollups->Refresh() : absl::OkStatus(); };
    }
    absl::Status result;
    const Selection& asked = scan_.query.selection;
    for (const VersionSpan& span : schema_.VersionsIn(asked.from_micros, asked.to_micros)) {
      SeriesSchema version = *span.schema;
      version.is_indexed = schema_.is_indexed;
      result = DeleteOf(version, span.from_micros, span.to_micros, rows);
      if (!result.ok()) break;
    }
    // Whatever became of it, what has marks is to be refreshed.
    const absl::Status refreshed = rollups == nullptr ? absl::OkStatus() : rollups->Refresh();
    return result.ok() ? refreshed : result;
  }

  MetricScan scan_;
  const SeriesSchema& schema_;
  const MetricDelete& what_;
  TableAccess* const tables_;
  const Clock* const clock_;
  DeletedCounts* const counts_;
  std::optional<QueryPlan> plan_;
};

bool HasBlobs(const SeriesSchema& schema) {
  const auto is_blob = [](const auto& table) { return table.layout == Layout::kBlob; };
  return is_blob(schema) || std::any_of(schema.earlier.begin(), schema.earlier.end(), is_blob) ||
         std::any_of(schema.orders.begin(), schema.orders.end(), is_blob);
}

}  // namespace

absl::Status CheckDeclaredDelete(const MetricScan& scan) {
  const SeriesSchema& schema = scan.series.schema;
  if (schema.text.empty()) {
    return absl::UnimplementedError(fmt::format(
        "the selector means '{}', of a derived table, which follows its series; name a metric of the series",
        Printable(scan.metrics[0])));
  }
  const auto numbers =
      static_cast<size_t>(std::count_if(schema.fields.begin(), schema.fields.end(),
                                        [](const Field& field) { return field.type != FieldType::kString; }));
  if (!HasBlobs(schema) || scan.metrics.size() == numbers) return absl::OkStatus();
  return absl::UnimplementedError(fmt::format(
      "the selector means {} of the {} metrics of series '{}', which has all fields of a point in one value "
      "(layout blob): single ones are not deleted; name all: {{__name__=~\"{}(_.*)?\"}}",
      scan.metrics.size(), numbers, Printable(schema.name), Printable(schema.name)));
}

absl::Status DeleteDeclared(MetricScan scan, const MetricDelete& what, TableAccess* tables,
                            DeletedCounts* counts) {
  return DeclaredDelete(std::move(scan), what, tables, counts).Run();
}

}  // namespace sonde::series
