#include "sql/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "filter/compiled_filter.h"
#include "model/row_range.h"
#include "sql/scan/number_scan.h"
#include "sql/scan/number_source.h"
#include "sql/scan/scan_cells.h"
#include "sql/scan/scan_columns.h"
#include "sql/scan/scan_ranges.h"
#include "table/row_reader.h"

namespace sonde::sql {
namespace {

constexpr size_t kBatchBytesMax = 1 << 20;
// After so many rows that did not pass the reader looks up.
constexpr int64_t kRowsAtOnce = 256;
// Whoever may interrupt is asked once in so many rows.
constexpr uint32_t kRowsPerQuestion = 16;

bool IsOfKey(const ScanColumn& column) {
  return column.kind == ScanColumn::Kind::kKey || column.kind == ScanColumn::Kind::kKeyField;
}

class Scan final : public Operator {
 public:
  Scan(const QueryScope* scope, const Plan::Scan& scan, CellSelection selection,
       std::unique_ptr<ScanColumns> columns)
      : Operator(scope, "Scan"),
        scan_(scan),
        selection_(selection),
        columns_(std::move(columns)),
        drops_rows_(!scan.needs_all_rows && !ReadsKeysOnly(scan)),
        has_key_(std::ranges::any_of(scan.columns, IsOfKey)),
        memory_(*scope->state, name()) {}

  void LimitRows(size_t rows_max) override { rows_max_ = std::min(rows_max_, rows_max); }
  void Suspend() override {
    if (reader_ != nullptr) reader_->Suspend();
  }
  void Restart() override {
    Close();
    is_open_ = false;
    rows_given_ = 0;
    keys_.clear();
    begin_.reset();
  }

  bool HasPlaces() const override { return true; }
  void KeepPlaces() override { keeps_places_ = true; }
  void SavePlace(size_t rows, std::string* place) const override {
    DCHECK(keeps_places_ && rows <= keys_.size());
    PutScanStart(rows == 0 ? begin_ : ScanStart{std::string(keys_[rows - 1]), false}, place);
  }
  bool RestorePlace(std::string_view* place) override { return GetScanStart(place, &begin_); }
  std::string_view SourceKey(size_t row) const override { return keeps_places_ ? keys_[row] : ""; }

 private:
  absl::Status Open();
  absl::StatusOr<std::vector<RowRange>> Ranges() const;
  absl::StatusOr<ReadRequest> MakeRequest();
  void Close();
  // Tells the statement of the rows that the reader has read since the last call.
  void CountScanned();
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // Reads up to `rows_max` rows into the columns.
  absl::Status ReadRows(size_t rows_max);
  void TakeOwnCounts(Operator* other) override {
    ReadStats& stats = static_cast<Scan*>(other)->stats_;
    taken_.rows_seen += std::exchange(stats.rows_seen, 0);
    taken_.cells_seen += std::exchange(stats.cells_seen, 0);
    value_bytes_ += std::exchange(static_cast<Scan*>(other)->value_bytes_, 0);
  }
  std::optional<double> EstimateRows() const override { return EstimateScan(scan_, state()); }
  std::string Details(bool has_run) const override;

  const Plan::Scan& scan_;
  const CellSelection selection_;
  const std::unique_ptr<ScanColumns> columns_;
  const bool drops_rows_;  // those without a value in the columns
  const bool has_key_;
  bool keeps_places_ = false;
  size_t rows_max_ = std::numeric_limits<size_t>::max();
  std::optional<ScanStart> begin_;  // of the last batch; nothing: it begins with the first row

  bool is_open_ = false;
  std::unique_ptr<RowReader> reader_;  // null: there are no more rows
  size_t rows_given_ = 0;
  size_t batch_rows_ = kRowsOfFirstBatch;
  uint32_t asked_ = 0;
  ReadStats stats_;
  ReadStats taken_;           // of other threads
  int64_t value_bytes_ = 0;   // of the cells that came
  int64_t rows_counted_ = 0;  // of the reader, told to the statement
  Arena arena_;
  std::vector<std::string_view> keys_;  // of the last batch, in the arena
  OperatorMemory memory_;
};

absl::StatusOr<std::vector<RowRange>> Scan::Ranges() const { return ScanRanges(scan_, state(), begin_); }

absl::StatusOr<ReadRequest> Scan::MakeRequest() {
  ReadRequest request;
  absl::StatusOr<std::vector<RowRange>> ranges = Ranges();
  if (!ranges.ok()) return ranges.status();
  request.ranges = *std::move(ranges);
  // Without a filter any cell of a row says that it is there.
  request.keys_only = ReadsKeysOnly(scan_) && selection_.times.IsAll() && selection_.times_further.IsAll();
  const std::optional<FilterSpec> filter = request.keys_only ? std::nullopt : FilterOf(scan_, selection_);
  if (filter.has_value()) {
    absl::StatusOr<std::shared_ptr<const CompiledFilter>> compiled = CompileFilter(*filter);
    if (!compiled.ok()) return compiled.status();
    request.filter = *std::move(compiled);
  }
  request.reversed = scan_.reversed;
  request.deadline = state().deadline;
  if (state().interrupted) {
    // A reader asks for each row; rows may take less than a look at the clock.
    request.interrupted = [this]() -> absl::Status {
      if (asked_++ % kRowsPerQuestion != 0) return absl::OkStatus();
      return state().interrupted();
    };
  }
  request.caller = state().caller;
  if (state().hold) {
    request.take_row_room = [this](size_t bytes) { return memory_.Set(arena_.MemoryBytes() + bytes); };
  }
  return request;
}

absl::Status Scan::Open() {
  is_open_ = true;
  if (!begin_.has_value()) begin_ = StartOfPart(scan_, state());
  batch_rows_ = kRowsOfFirstBatch;
  if (selection_.IsEmpty()) return absl::OkStatus();
  absl::StatusOr<ReadRequest> request = MakeRequest();
  if (!request.ok()) return request.status();
  if (request->ranges.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<RowReader>> reader = state().tables->Read(scan_.table, *std::move(request));
  if (!reader.ok()) return reader.status();
  reader_ = *std::move(reader);
  rows_counted_ = 0;
  return absl::OkStatus();
}

void Scan::Close() {
  CountScanned();
  if (reader_ != nullptr) stats_ = reader_->stats();
  reader_.reset();
}

void Scan::CountScanned() {
  if (reader_ == nullptr) return;
  const int64_t rows = reader_->stats().rows_seen;
  state().CountScanned(static_cast<uint64_t>(rows - rows_counted_));
  rows_counted_ = rows;
}

absl::Status Scan::ReadRows(size_t rows_max) {
  while (columns_->rows() < rows_max && arena_.UsedBytes() < kBatchBytesMax) {
    const absl::StatusOr<RowReader::Step> step = reader_->Next(kRowsAtOnce);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd) {
      Close();
      break;
    }
    if (*step == RowReader::Step::kPaused) continue;  // it asks for itself whether it is interrupted
    DCHECK(*step == RowReader::Step::kRow);
    const bool keeps_key = has_key_ || keeps_places_;
    const std::string_view key = keeps_key ? arena_.Copy(reader_->row_key()) : std::string_view();
    for (const FilterCell& cell : reader_->cells())
      value_bytes_ += static_cast<int64_t>(cell.cell.value.size());
    if (!columns_->Append(key, reader_->cells()) && drops_rows_) {
      columns_->RemoveLast();
      continue;
    }
    if (keeps_places_) keys_.push_back(key);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Scan::Produce(rows::Batch* batch) {
  if (keeps_places_ && !keys_.empty()) begin_ = ScanStart{std::string(keys_.back()), false};
  keys_.clear();
  arena_.Clear();
  if (!is_open_) {
    if (absl::Status status = Open(); !status.ok()) return status;
  }
  if (reader_ == nullptr || rows_given_ >= rows_max_) return false;
  columns_->Clear(&arena_);
  if (absl::Status status = ReadRows(std::min(batch_rows_, rows_max_ - rows_given_)); !status.ok()) {
    return status;
  }
  CountScanned();
  if (columns_->rows() == 0) return reader_ != nullptr;  // true: only rows that do not count so far
  batch_rows_ = std::min(2 * batch_rows_, rows::kBatchRowsMax);
  rows_given_ += columns_->rows();
  if (absl::Status status = columns_->View(batch); !status.ok()) return status;
  if (absl::Status status = memory_.Set(arena_.MemoryBytes()); !status.ok()) return status;
  return true;
}

std::string Scan::Details(bool has_run) const {
  const absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan_, state(), std::nullopt);
  if (!ranges.ok()) return std::string(ranges.status().message());
  if (!has_run) return ScanText(scan_, *ranges, std::nullopt);
  const ReadStats stats = reader_ != nullptr ? reader_->stats() : stats_;
  return ScanText(scan_, *ranges,
                  ScanCounts{.rows = stats.rows_seen + taken_.rows_seen,
                             .cells = stats.cells_seen + taken_.cells_seen,
                             .value_bytes = value_bytes_});
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeScan(const QueryScope* scope, const Plan& plan) {
  CHECK(scope->state->tables != nullptr);
  const absl::StatusOr<CellSelection> selection = SelectCells(*plan.scan, *scope->evaluation());
  if (!selection.ok()) return selection.status();
  if (!plan.scan->temporal.with_history && !selection->IsEmpty() &&
      NumberSource::Fits(*plan.scan, *selection)) {
    return MakeNumberScan(scope, *plan.scan, *selection);
  }
  absl::StatusOr<std::unique_ptr<ScanColumns>> columns = ScanColumns::Create(*plan.scan);
  if (!columns.ok()) return columns.status();
  return std::make_unique<Scan>(scope, *plan.scan, *selection, *std::move(columns));
}

}  // namespace sonde::sql
