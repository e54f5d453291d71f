#include "sql/scan/number_unpack.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/varint.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan_tree.h"
#include "sql/scan/number_source.h"
#include "sql/scan/scan_ranges.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {
namespace {

// Rows of at least so many times are batches by themselves, which view the page; of shorter ones many are copied together.
constexpr size_t kTimesOfLongRow = 128;
constexpr size_t kTimesAtOnce = 4 * rows::kBatchRowsMax;

// The scan below, and maybe below a filter.
const Plan::Scan& ScanOf(const Plan& unpack) {
  const Plan& input = *unpack.inputs[0];
  return input.kind == Plan::Kind::kFilter ? *input.inputs[0]->scan : *input.scan;
}

class NumberUnpack final : public Operator {
 public:
  NumberUnpack(const QueryScope* scope, const Plan& plan, std::unique_ptr<NumberSource> source)
      : Operator(scope, "UnpackColumns"),
        scan_(ScanOf(plan)),
        source_(std::move(source)),
        short_rows_(plan.types) {
    const Plan& input = *plan.inputs[0];
    if (input.kind == Plan::Kind::kFilter) condition_.emplace(*input.expressions[0], evaluation());
  }

  void Suspend() override {}
  void Restart() override {
    source_->Close();
    is_open_ = is_over_ = has_row_ = false;
    resumed_.reset();
    given_.clear();
  }

  bool HasPlaces() const override { return true; }
  void SavePlace(size_t rows, std::string* place) const override {
    const std::optional<Within> within = PlaceOf(rows);
    PutVarint(place, within.has_value() ? 1 : 0);
    if (!within.has_value()) return;
    PutBytes(place, within->key);
    PutVarint(place, ZigZag(within->time_micros));
  }
  bool RestorePlace(std::string_view* place) override {
    uint64_t has_place = 0;
    if (!GetVarint(place, &has_place) || has_place > 1) return false;
    if (has_place == 0) return true;
    std::string_view key;
    uint64_t time = 0;
    if (!GetBytes(place, &key) || !GetVarint(place, &time)) return false;
    resumed_ = Within{std::string(key), UnZigZag(time)};
    return true;
  }
  std::string_view SourceKey(size_t row) const override { return given_[PieceOf(row)].key; }

 private:
  // A place within a row of the table.
  struct Within {
    std::string key;
    int64_t time_micros = 0;  // the last that was given of it
  };
  // Rows of the last batch that come from one row of the table: from `first` on.
  struct Piece {
    std::string key;
    size_t first = 0;
  };

  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  absl::Status Open();
  // Whether the row that the source is at passes the filter, which looks at the key alone.
  absl::StatusOr<bool> Passes();
  // Goes to the next row of the table that has times to give; false: there are no more.
  absl::StatusOr<bool> NextRow();
  // Appends the columns of the times [next_time_, next_time_ + count) of the row at hand.
  absl::Status TakeTimes(size_t count, rows::Batch* batch);
  absl::Status GiveShortRows(rows::Batch* batch);
  std::optional<Within> PlaceOf(size_t rows) const;
  size_t PieceOf(size_t row) const {
    const auto behind = std::upper_bound(given_.begin(), given_.end(), row,
                                         [](size_t at, const Piece& piece) { return at < piece.first; });
    return static_cast<size_t>(behind - given_.begin()) - 1;
  }
  void TakeOwnCounts(Operator* other) override {
    auto* const of_other = static_cast<NumberUnpack*>(other);
    counts_taken_ += of_other->source_->TakeCounts();
    counts_taken_ += std::exchange(of_other->counts_taken_, ScanCounts());
  }
  std::string Details(bool has_run) const override;

  const Plan::Scan& scan_;
  const std::unique_ptr<NumberSource> source_;
  std::optional<Evaluator> condition_;  // nothing: all rows pass
  bool is_open_ = false;
  bool is_over_ = false;
  std::optional<Within> resumed_;
  std::optional<Within> before_;  // the place where the last batch began
  ScanCounts counts_taken_;       // of other threads

  bool has_row_ = false;             // of which times are left
  std::vector<ColumnView> columns_;  // of the row at hand, of all its times
  size_t next_time_ = 0;
  std::string_view key_;
  Arena row_arena_;

  RowBuffer short_rows_;
  std::vector<Piece> given_;  // the last batch
  ColumnView given_times_;
};

absl::Status NumberUnpack::Open() {
  is_open_ = true;
  std::optional<ScanStart> start;
  if (resumed_.has_value()) start = ScanStart{resumed_->key, true};
  absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan_, state(), start);
  if (!ranges.ok()) return ranges.status();
  is_over_ = ranges->empty();
  before_ = resumed_;
  if (const std::optional<ScanStart> part = StartOfPart(scan_, state());
      part.has_value() && !start.has_value()) {
    before_ = Within{part->key, std::numeric_limits<int64_t>::max()};  // no time of that row
  }
  return is_over_ ? absl::OkStatus() : source_->Open(*std::move(ranges));
}

absl::StatusOr<bool> NumberUnpack::Passes() {
  if (!condition_.has_value()) return true;
  rows::Batch row{.rows = 1, .columns = std::vector<ColumnView>(scan_.columns.size())};
  const std::string_view key = source_->row_key();
  for (size_t i = 0; i < scan_.columns.size(); ++i) {
    if (scan_.columns[i].kind == ScanColumn::Kind::kKey) row.columns[i] = ColumnView::OfBytes({&key, 1});
  }
  const absl::StatusOr<ColumnView> passes = condition_->Evaluate(row, &row_arena_, outer());
  if (!passes.ok()) return passes.status();
  return passes->IsThere(0) && passes->ints()[passes->PlaceOf(0)] != 0;
}

absl::StatusOr<bool> NumberUnpack::NextRow() {
  while (!is_over_) {
    row_arena_.Clear();
    const absl::StatusOr<bool> more = source_->Next();
    if (!more.ok()) return more;
    if (!*more) break;
    state().CountScanned(1);
    const absl::StatusOr<bool> passes = Passes();
    if (!passes.ok()) return passes;
    if (!*passes) continue;
    const absl::Span<const int64_t> times = source_->Times();
    next_time_ = 0;
    if (resumed_.has_value()) {
      if (source_->row_key() == resumed_->key) {
        while (next_time_ < times.size() && times[next_time_] >= resumed_->time_micros) ++next_time_;
      }
      resumed_.reset();
    }
    if (next_time_ == times.size()) continue;
    key_ = row_arena_.Copy(source_->row_key());
    columns_.clear();
    for (size_t i = 0; i < scan_.columns.size(); ++i) {
      if (scan_.columns[i].kind == ScanColumn::Kind::kKey) {
        columns_.push_back(ColumnView::Constant(&key_, times.size()));
        continue;
      }
      columns_.push_back(source_->Values(i, &row_arena_));
    }
    columns_.push_back(ColumnView::OfInts(times));
    has_row_ = true;
    return true;
  }
  is_over_ = true;
  return false;
}

absl::Status NumberUnpack::TakeTimes(size_t count, rows::Batch* batch) {
  given_.push_back({std::string(key_), batch->rows});
  for (const ColumnView& column : columns_) batch->columns.push_back(column.Part(next_time_, count));
  batch->rows += count;
  next_time_ += count;
  has_row_ = next_time_ < columns_.back().size();
  return absl::OkStatus();
}

// The row at hand, and those behind it as long as they are short.
absl::Status NumberUnpack::GiveShortRows(rows::Batch* batch) {
  short_rows_.Clear();
  while (has_row_ && columns_.back().size() < kTimesOfLongRow &&
         short_rows_.rows() + columns_.back().size() <= rows::kBatchRowsMax) {
    const size_t count = columns_.back().size() - next_time_;
    given_.push_back({std::string(key_), short_rows_.rows()});
    std::vector<ColumnView> parts;
    for (const ColumnView& column : columns_) parts.push_back(column.Part(next_time_, count));
    short_rows_.Append(parts, count);
    has_row_ = false;
    const absl::StatusOr<bool> more = NextRow();
    if (!more.ok()) return more.status();
  }
  batch->rows = short_rows_.rows();
  batch->columns = short_rows_.Views();
  return absl::OkStatus();
}

absl::StatusOr<bool> NumberUnpack::Produce(rows::Batch* batch) {
  if (!given_.empty()) before_ = PlaceOf(given_times_.size());
  given_.clear();
  if (!is_open_) {
    if (absl::Status status = Open(); !status.ok()) return status;
  }
  if (!has_row_) {
    absl::StatusOr<bool> more = NextRow();
    if (!more.ok() || !*more) return more;
  }
  absl::Status status;
  const size_t left = columns_.back().size() - next_time_;
  if (columns_.back().size() < kTimesOfLongRow) {
    status = GiveShortRows(batch);
  } else {
    status = TakeTimes(std::min(left, kTimesAtOnce), batch);
  }
  if (!status.ok()) return status;
  given_times_ = batch->columns.back();
  return true;
}

std::optional<NumberUnpack::Within> NumberUnpack::PlaceOf(size_t rows) const {
  if (rows == 0) return before_;
  return Within{given_[PieceOf(rows - 1)].key, given_times_.ints()[rows - 1]};
}

std::string NumberUnpack::Details(bool has_run) const {
  const absl::StatusOr<std::vector<RowRange>> ranges = ScanRanges(scan_, state(), std::nullopt);
  if (!ranges.ok()) return std::string(ranges.status().message());
  if (!has_run) return ScanText(scan_, *ranges, std::nullopt);
  ScanCounts counts = counts_taken_;
  return ScanText(scan_, *ranges, counts += source_->counts());
}

}  // namespace

bool FitsNumberUnpack(const Plan& plan, const EvaluationContext& evaluation, CellSelection* selection) {
  const Plan* input = plan.inputs[0].get();
  const Expression* condition = nullptr;
  if (input->kind == Plan::Kind::kFilter) {
    condition = input->expressions[0].get();
    input = input->inputs[0].get();
  }
  if (input->kind != Plan::Kind::kScan) return false;
  const std::vector<ScanColumn>& columns = input->scan->columns;
  const auto is_key = [&columns](size_t column) { return columns[column].kind == ScanColumn::Kind::kKey; };
  if (condition != nullptr && !std::ranges::all_of(ReferencesOf(*condition), is_key)) return false;
  const absl::StatusOr<CellSelection> selected = SelectCells(*input->scan, evaluation);
  // Its error is told by the scan.
  if (!selected.ok() || selected->IsEmpty() || !NumberSource::Fits(*input->scan, *selected)) return false;
  *selection = *selected;
  // Each number has a history.
  return std::ranges::all_of(columns, [](const ScanColumn& column) {
    return column.kind == ScanColumn::Kind::kKey || column.type.Is(TypeKind::kArray);
  });
}

OperatorPtr MakeNumberUnpack(const QueryScope* scope, const Plan& plan, const CellSelection& selection) {
  return std::make_unique<NumberUnpack>(scope, plan,
                                        NumberSource::Create(ScanOf(plan), selection, *scope->state));
}

}  // namespace sonde::sql
