#include "sql/scan/number_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sql/expression/node.h"
#include "sql/scan/number_source.h"
#include "sql/scan/scan_ranges.h"

namespace sonde::sql {
namespace {

constexpr size_t kBatchBytesOfNumbersMax = 1 << 20;

class NumberScan final : public Operator {
 public:
  NumberScan(const QueryScope* scope, const Plan::Scan& scan, std::unique_ptr<NumberSource> source)
      : Operator(scope, "ScanColumns"),
        scan_(scan),
        source_(std::move(source)),
        values_(scan.columns.size()),
        memory_(*scope->state, name()),
        needs_keys_(std::ranges::any_of(
            scan.columns, [](const ScanColumn& column) { return column.kind == ScanColumn::Kind::kKey; })) {}

  void LimitRows(size_t rows_max) override { rows_max_ = std::min(rows_max_, rows_max); }
  void Restart() override {
    source_->Close();
    is_open_ = is_over_ = false;
    rows_given_ = 0;
    keys_.clear();
    begin_.reset();
  }

  bool HasPlaces() const override { return true; }
  void KeepPlaces() override { needs_keys_ = true; }
  void SavePlace(size_t rows, std::string* place) const override {
    PutScanStart(rows == 0 ? begin_ : ScanStart{std::string(keys_[rows - 1]), false}, place);
  }
  bool RestorePlace(std::string_view* place) override { return GetScanStart(place, &begin_); }
  std::string_view SourceKey(size_t row) const override { return keys_[row]; }

 private:
  absl::Status Open() {
    is_open_ = true;
    batch_rows_ = kRowsOfFirstBatch;
    if (!begin_.has_value()) begin_ = StartOfPart(scan_, state());
    absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan_, state(), begin_);
    if (!ranges.ok()) return ranges.status();
    is_over_ = ranges->empty();
    return is_over_ ? absl::OkStatus() : source_->Open(*std::move(ranges));
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (!keys_.empty()) begin_ = ScanStart{std::string(keys_.back()), false};
    keys_.clear();
    arena_.Clear();
    for (std::vector<Datum>& values : values_) values.clear();
    if (!is_open_) {
      if (absl::Status status = Open(); !status.ok()) return status;
    }
    const size_t wanted = std::min(batch_rows_, rows_max_ - std::min(rows_max_, rows_given_));
    while (!is_over_ && keys_.size() < wanted && arena_.UsedBytes() < kBatchBytesOfNumbersMax) {
      if (absl::Status status = TakeRow(); !status.ok()) return status;
    }
    state().CountScanned(keys_.size());
    if (absl::Status status = memory_.Set(arena_.MemoryBytes()); !status.ok()) return status;
    if (keys_.empty()) return false;
    batch_rows_ = std::min(2 * batch_rows_, rows::kBatchRowsMax);
    batch->rows = keys_.size();
    rows_given_ += batch->rows;
    for (size_t i = 0; i < scan_.columns.size(); ++i) {
      const bool is_key = scan_.columns[i].kind == ScanColumn::Kind::kKey;
      batch->columns.push_back(is_key ? ColumnView::OfBytes(keys_)
                                      : ColumnOfData(scan_.columns[i].type, values_[i], &arena_));
    }
    return true;
  }

  absl::Status TakeRow() {
    const absl::StatusOr<bool> more = source_->Next();
    if (!more.ok()) return more.status();
    is_over_ = !*more;
    if (is_over_) return absl::OkStatus();
    keys_.push_back(needs_keys_ ? arena_.Copy(source_->row_key()) : std::string_view());
    for (size_t i = 0; i < scan_.columns.size(); ++i) {
      if (scan_.columns[i].kind == ScanColumn::Kind::kKey) continue;
      values_[i].push_back(source_->Newest(i, &arena_));
    }
    return absl::OkStatus();
  }

  void TakeOwnCounts(Operator* other) override {
    auto* const of_other = static_cast<NumberScan*>(other);
    counts_taken_ += of_other->source_->TakeCounts();
    counts_taken_ += std::exchange(of_other->counts_taken_, ScanCounts());
  }

  ScanCounts AllCounts() const {
    ScanCounts counts = counts_taken_;
    return counts += source_->counts();
  }
  std::optional<double> EstimateRows() const override { return EstimateScan(scan_, state()); }
  std::string Details(bool has_run) const override {
    const absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan_, state(), std::nullopt);
    if (!ranges.ok()) return std::string(ranges.status().message());
    return ScanText(scan_, *ranges, has_run ? std::optional(AllCounts()) : std::nullopt);
  }

  const Plan::Scan& scan_;
  const std::unique_ptr<NumberSource> source_;
  size_t rows_max_ = std::numeric_limits<size_t>::max();
  std::optional<ScanStart> begin_;  // of the last batch; nothing: it begins with the first row
  bool is_open_ = false;
  bool is_over_ = false;
  size_t rows_given_ = 0;
  ScanCounts counts_taken_;  // of other threads
  size_t batch_rows_ = kRowsOfFirstBatch;
  std::vector<std::string_view> keys_;      // of the last batch, in arena_
  std::vector<std::vector<Datum>> values_;  // by column
  Arena arena_;
  OperatorMemory memory_;
  bool needs_keys_;  // as a column, or for places
};

}  // namespace

OperatorPtr MakeNumberScan(const QueryScope* scope, const Plan::Scan& scan, const CellSelection& selection) {
  return std::make_unique<NumberScan>(scope, scan, NumberSource::Create(scan, selection, *scope->state));
}

}  // namespace sonde::sql
