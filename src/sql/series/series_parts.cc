#include "sql/series/series_parts.h"

#include <string>
#include <utility>

#include "series/query/point_stream.h"
#include "sql/series/point_selection.h"
#include "table/local_tables.h"

namespace sonde::sql {
namespace {

class SeriesParts final : public DividedSource {
 public:
  SeriesParts(const QueryScope* scope, const Plan::SeriesScan& scan)
      : tables_(scope->state->tables, scan.series.instance,
                scope->state->caller ? scope->state->caller() : "") {}

  // False: it cannot be divided.
  absl::StatusOr<bool> Open(const Plan::SeriesScan& scan, PointSelection selection) {
    absl::StatusOr<std::unique_ptr<series::PointStream>> stream =
        series::PointStream::Open(scan.series.known, std::move(selection.query), &tables_);
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
    ranges_ = stream_->stats().ranges;
    return stream_->CanDivide();
  }

  const std::vector<RowRange>& ranges() const override { return ranges_; }
  absl::StatusOr<DividedRanges> Divide(const std::vector<RowRange>& ranges) const override {
    return stream_->Divide(ranges);
  }
  void NoteDivided(uint64_t rows) override { stream_->NoteDivided(static_cast<int64_t>(rows)); }

 private:
  LocalTables tables_;
  std::unique_ptr<series::PointStream> stream_;
  std::vector<RowRange> ranges_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DividedSource>> DivideSeries(const QueryScope* scope,
                                                            const Plan::SeriesScan& scan) {
  absl::StatusOr<PointSelection> selection =
      SelectPoints(scan, *scope->evaluation(), scope->state->points_from_micros);
  if (!selection.ok()) return selection.status();
  if (selection->is_empty || selection->query.latest) return nullptr;
  auto parts = std::make_unique<SeriesParts>(scope, scan);
  const absl::StatusOr<bool> can_divide = parts->Open(scan, *std::move(selection));
  if (!can_divide.ok()) return can_divide.status();
  if (!*can_divide) return nullptr;
  return parts;
}

}  // namespace sonde::sql
