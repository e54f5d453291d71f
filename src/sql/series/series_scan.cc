#include "sql/series/series_scan.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "model/row_range.h"
#include "series/query/point_stream.h"
#include "series/query/query.h"
#include "series/query/table_choice.h"
#include "sql/series/point_columns.h"
#include "sql/series/point_selection.h"
#include "table/local_tables.h"
#include "table/range_estimate.h"

namespace sonde::sql {
namespace {

// "2 rows of cpu" and the like, for EXPLAIN.
std::string TablesText(const series::QueryStats& stats) {
  std::string text;
  for (const series::QueryStats::TableRead& read : stats.tables) {
    text += fmt::format("{}{} in {} ranges", text.empty() ? "from " : ", ", read.table, read.ranges);
  }
  return text;
}

std::string RangesOfStats(const series::QueryStats& stats) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(stats.ranges.size(), kShown); ++i) {
    const RowRange& range = stats.ranges[i];
    text +=
        fmt::format(" [{}, {})", Printable(range.start), range.end.empty() ? "..." : Printable(range.end));
  }
  return text;
}

// What both kinds of scans share.
class SeriesOperator : public Operator {
 public:
  SeriesOperator(const QueryScope* scope, const Plan::SeriesScan& scan, PointSelection selection)
      : Operator(scope, "Series"),
        scan_(scan),
        tables_(scope->state->tables, scan.series.instance,
                scope->state->caller ? scope->state->caller() : ""),
        selection_(std::move(selection)),
        columns_(scan_, selection_.query),
        memory_(*scope->state, name()) {
    selection_.query.interrupted = state().interrupted;
    selection_.query.hold = state().hold;
  }

 protected:
  void CountScanned(const series::QueryStats& stats) {
    const auto rows = static_cast<uint64_t>(stats.rows_read);
    state().CountScanned(rows - rows_counted_);
    rows_counted_ = rows;
  }
  std::string DetailsOf(const series::QueryStats& stats, bool has_run) const {
    std::string text = fmt::format("{} {}", scan_.series.known->schema.name, TablesText(stats));
    if (stats.indexed_entities)
      text += fmt::format(", {} of its entities by the index", *stats.indexed_entities);
    if (!has_run) return text + RangesOfStats(stats);
    return text + fmt::format(", {} rows and {} cells read", stats.rows_read, stats.cells_read);
  }

  // About how many rows the ranges have; nothing: nobody knows.
  std::optional<double> EstimateRowsOfTables(const series::QueryStats& stats) const {
    Tables& tables = *state().tables;
    double rows = 0;
    auto next = stats.ranges.begin();
    for (const series::QueryStats::TableRead& read : stats.tables) {
      const std::vector<RowRange> ranges(next, next + static_cast<std::ptrdiff_t>(read.ranges));
      next += static_cast<std::ptrdiff_t>(read.ranges);
      const absl::StatusOr<TableSchemaRef> table =
          tables.catalog().Find(fmt::format("{}/tables/{}", scan_.series.instance, read.table));
      if (!table.ok()) continue;  // nothing has been written to it
      const absl::StatusOr<std::optional<RangeEstimate>> estimate =
          EstimateRanges(&tables.engine(), (*table)->id, NormalizeRanges(ranges));
      if (!estimate.ok() || !estimate->has_value()) return std::nullopt;
      rows += (*estimate)->rows;
    }
    return rows;
  }

  const Plan::SeriesScan& scan_;
  mutable LocalTables tables_;  // readers have no const access
  PointSelection selection_;
  const PointColumns columns_;
  Arena arena_;
  OperatorMemory memory_;
  uint64_t rows_counted_ = 0;
};

// Points one by one.
class PointScan final : public SeriesOperator {
 public:
  using SeriesOperator::SeriesOperator;

  void LimitRows(size_t rows_max) override { rows_max_ = std::min(rows_max_, rows_max); }
  void Restart() override {
    stream_.reset();
    rows_counted_ = 0;
    place_.clear();
  }
  bool HasPlaces() const override { return true; }
  void KeepPlaces() override { keeps_places_ = true; }
  void SavePlace(size_t rows, std::string* place) const override {
    DCHECK(keeps_places_);
    if (stream_ != nullptr) {
      stream_->SavePlace(rows, place);
    } else {
      place->append(place_.empty() ? std::string(1, '\0') : place_);
    }
  }
  bool RestorePlace(std::string_view* place) override {
    // Whether it is one, only the scans of the series say.
    const absl::StatusOr<std::unique_ptr<series::PointStream>> stream = Open();
    if (!stream.ok()) return false;
    const std::string_view before = *place;
    if (!(*stream)->RestorePlace(place)) return false;
    place_ = before.substr(0, before.size() - place->size());
    return true;
  }

 private:
  absl::StatusOr<std::unique_ptr<series::PointStream>> Open() const {
    return series::PointStream::Open(scan_.series.known, selection_.query, &tables_);
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (selection_.is_empty) return false;
    if (stream_ == nullptr) {
      absl::StatusOr<std::unique_ptr<series::PointStream>> stream = Open();
      if (!stream.ok()) return stream.status();
      stream_ = *std::move(stream);
      stream_->LimitRows(rows_max_);
      if (keeps_places_) stream_->KeepPlaces();
      std::string_view place = place_;
      if (!place.empty()) CHECK(stream_->RestorePlace(&place));
      if (state().scan_ranges != nullptr && !stream_->KeepPart(*state().scan_ranges)) {
        return absl::AbortedError("The tables of the series have changed");
      }
    }
    arena_.Clear();
    const absl::StatusOr<bool> more = stream_->Next(&points_);
    CountScanned(stream_->stats());
    if (!more.ok() || !*more) return more;
    if (absl::Status status = columns_.Make(points_, &arena_, batch); !status.ok()) return status;
    if (absl::Status status = memory_.Set(arena_.MemoryBytes()); !status.ok()) return status;
    return true;
  }

  void TakeOwnCounts(Operator* other) override {
    const auto* const part = static_cast<PointScan*>(other);
    if (part->stream_ == nullptr) return;
    const series::QueryStats stats = part->stream_->stats();
    rows_of_parts_ += stats.rows_read;
    cells_of_parts_ += stats.cells_read;
  }
  std::optional<double> EstimateRows() const override;
  std::string Details(bool has_run) const override {
    if (selection_.is_empty) return "no points";
    series::QueryStats stats;
    if (stream_ != nullptr) {
      stats = stream_->stats();
    } else {
      const absl::StatusOr<std::unique_ptr<series::PointStream>> stream = Open();
      if (!stream.ok()) return std::string(stream.status().message());
      stats = (*stream)->stats();
    }
    stats.rows_read += rows_of_parts_;
    stats.cells_read += cells_of_parts_;
    return DetailsOf(stats, has_run);
  }

  std::unique_ptr<series::PointStream> stream_;
  size_t rows_max_ = SIZE_MAX;
  bool keeps_places_ = false;
  std::string place_;  // where it begins; empty: at the start
  rows::Batch points_;
  int64_t rows_of_parts_ = 0;  // of other threads
  int64_t cells_of_parts_ = 0;
};

// The first piece says how many points there are in a row, and the tables how many rows there are.
std::optional<double> PointScan::EstimateRows() const {
  if (selection_.is_empty) return 0;
  const absl::StatusOr<std::unique_ptr<series::PointStream>> stream = Open();
  if (!stream.ok()) return std::nullopt;
  double points = 0;
  series::QueryStats stats;
  for (rows::Batch batch; true; points += static_cast<double>(batch.rows)) {
    const absl::StatusOr<bool> more = (*stream)->Next(&batch);
    if (!more.ok()) return std::nullopt;
    if (!*more) return points;
    if ((*stream)->stats().requests > 1) break;
    stats = (*stream)->stats();
  }
  if (stats.rows_read == 0) return std::nullopt;
  const std::optional<double> rows = EstimateRowsOfTables(stats);
  return rows.has_value() ? std::optional(points * *rows / static_cast<double>(stats.rows_read))
                          : std::nullopt;
}

// The newest points of each series: all are found before the first is given.
class NewestScan final : public SeriesOperator {
 public:
  using SeriesOperator::SeriesOperator;

  void Restart() override {
    held_.clear();
    is_read_ = false;
    given_ = 0;
    rows_counted_ = 0;
    memory_.Clear();
  }

 private:
  absl::Status ReadAll() {
    is_read_ = true;
    size_t bytes = 0;
    const absl::StatusOr<series::QueryStats> stats =
        series::RunQueryInBatches(*scan_.series.known, selection_.query, &tables_,
                                  [&](const rows::Batch& points) -> absl::StatusOr<bool> {
                                    std::vector<ColumnType> types;
                                    for (const ColumnView& column : points.columns)
                                      types.push_back(column.type());
                                    rows::HeldBatch& held = held_.emplace_back(types);
                                    held.Append(points);
                                    for (const rows::Column& column : held.columns)
                                      bytes += column.MemoryBytes();
                                    const absl::Status status = memory_.Set(bytes);
                                    if (!status.ok()) return status;
                                    return true;
                                  });
    if (!stats.ok()) return stats.status();
    stats_ = *stats;
    CountScanned(stats_);
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (selection_.is_empty) return false;
    if (!is_read_) {
      if (absl::Status status = ReadAll(); !status.ok()) return status;
    }
    if (given_ == held_.size()) return false;
    arena_.Clear();
    points_ = {};
    held_[given_++].View(&points_);
    if (absl::Status status = columns_.Make(points_, &arena_, batch); !status.ok()) return status;
    return true;
  }

  // How many series there are is not known.
  std::optional<double> EstimateRows() const override { return std::nullopt; }
  std::string Details(bool has_run) const override {
    std::string text = fmt::format("newest {} of each series, ", *selection_.query.latest);
    if (has_run) return text + DetailsOf(stats_, true);
    const series::SeriesSchema& schema = scan_.series.known->schema;
    const absl::StatusOr<std::optional<series::LatestTable>> latest =
        series::ChooseLatest(schema, selection_.query, &tables_);
    if (!latest.ok()) return text + std::string(latest.status().message());
    return text +
           fmt::format("{} from {}", schema.name, latest->has_value() ? (*latest)->table : schema.table);
  }

  std::vector<rows::HeldBatch> held_;
  bool is_read_ = false;
  size_t given_ = 0;
  rows::Batch points_;
  series::QueryStats stats_;
};

}  // namespace

absl::StatusOr<OperatorPtr> MakeSeriesScan(const QueryScope* scope, const Plan& plan) {
  CHECK(scope->state->tables != nullptr);
  absl::StatusOr<PointSelection> selection =
      SelectPoints(*plan.series, *scope->evaluation(), scope->state->points_from_micros);
  if (!selection.ok()) return selection.status();
  if (selection->query.latest) {
    return std::make_unique<NewestScan>(scope, *plan.series, *std::move(selection));
  }
  return std::make_unique<PointScan>(scope, *plan.series, *std::move(selection));
}

}  // namespace sonde::sql
