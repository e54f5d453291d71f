#include "sql/relation/row_sorter.h"

#include <algorithm>
#include <utility>

namespace sonde::sql {
namespace {

// With a limit: rows beyond it are held until there are so many.
constexpr size_t kRowsBeyondLimitMin = 4 * rows::kBatchRowsMax;
// What blocks of the runs take that are merged, about.
constexpr size_t kMergeBytes = 2 << 20;

template <typename ViewOf>
std::vector<SortColumn> KeyColumnsOf(const std::vector<RowKey>& keys, const ViewOf& view_of) {
  std::vector<SortColumn> columns;
  for (const RowKey& key : keys) columns.push_back({view_of(key.column), key.descending, key.nulls_first});
  return columns;
}

}  // namespace

RowSorter::RowSorter(const ExecutionState& state, std::string_view operator_name,
                     std::vector<ColumnType> types, std::vector<RowKey> keys)
    : state_(state),
      operator_name_(operator_name),
      types_(std::move(types)),
      keys_(std::move(keys)),
      check_(state.interrupted),
      memory_(state, operator_name),
      held_(types_) {}

void RowSorter::Clear() {
  merge_.reset();
  runs_.clear();
  on_disk_.clear();
  held_ = RowBuffer(types_);
  has_bound_ = false;
  run_bytes_ = rows_ = given_ = 0;
  memory_.Clear();
}

size_t RowSorter::HeldBytes() const {
  return run_bytes_ + held_.MemoryBytes() + kOrderBytesOfRow * held_.rows();
}

absl::Status RowSorter::Add(absl::Span<const ColumnView> columns, size_t rows) {
  if (rows_max_ == 0) return absl::OkStatus();
  rows_ += rows;
  if (has_bound_) {
    HoldThoseBeforeBound(columns, rows);
  } else {
    held_.Append(columns, rows);
  }
  const bool is_limited = rows_max_ != std::numeric_limits<size_t>::max();
  if (is_limited && rows_max_ < held_.rows() &&
      held_.rows() - rows_max_ >= std::max(rows_max_, kRowsBeyondLimitMin)) {
    if (absl::Status status = Shrink(); !status.ok()) return status;
  }
  if (!is_limited && (held_.rows() >= kRunRows || held_.MemoryBytes() >= kRunBytes)) {
    if (absl::Status status = CloseRun(); !status.ok()) return status;
  }
  return TellMemory();
}

absl::Status RowSorter::TellMemory() {
  const size_t bytes = HeldBytes();
  const absl::Status refused = memory_.Set(bytes + std::min(bytes, kMergeBytes));
  if (refused.ok() || !state_.SpillsAfter(refused)) return refused;
  if (absl::Status status = SpillRuns(); !status.ok()) return status;
  memory_.Clear();
  // Others may have the rest of the memory: then it is asked for when the runs are merged.
  memory_.Set(kMergeBytes).IgnoreError();
  return absl::OkStatus();
}

// Most rows are not among the first: they come behind the last of those so far.
void RowSorter::HoldThoseBeforeBound(absl::Span<const ColumnView> columns, size_t rows) {
  const std::vector<SortColumn> keys =
      KeyColumnsOf(keys_, [&columns](size_t column) { return columns[column]; });
  const std::vector<SortColumn> held =
      KeyColumnsOf(keys_, [this](size_t column) { return held_.View(column); });
  std::vector<size_t> places;
  for (size_t row = 0; row < rows; ++row) {
    if (CompareRows(keys, row, held, rows_max_ - 1) < 0) places.push_back(row);
  }
  if (!places.empty()) held_.AppendPlaces(columns, places);
}

absl::StatusOr<std::vector<size_t>> RowSorter::Order() {
  const std::vector<SortColumn> columns =
      KeyColumnsOf(keys_, [this](size_t column) { return held_.View(column); });
  absl::StatusOr<std::vector<size_t>> order = SortOrder(columns, held_.rows(), &check_);
  if (order.ok() && order->size() > rows_max_) order->resize(rows_max_);
  return order;
}

// Keeps the first rows_max_ of the rows in held_.
absl::Status RowSorter::Shrink() {
  const absl::StatusOr<std::vector<size_t>> order = Order();
  if (!order.ok()) return order.status();
  // Rows whose keys are equal stay in their order.
  RowBuffer kept(types_);
  kept.AppendPlaces(held_.Views(), *order);
  held_.Swap(kept);
  has_bound_ = true;
  return absl::OkStatus();
}

absl::Status RowSorter::CloseRun() {
  if (held_.rows() == 0) return absl::OkStatus();
  absl::StatusOr<std::vector<size_t>> order = Order();
  if (!order.ok()) return order.status();
  runs_.push_back(std::make_unique<HeldRun>(std::exchange(held_, RowBuffer(types_)), *std::move(order)));
  run_bytes_ += runs_.back()->MemoryBytes();
  has_bound_ = false;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SpilledRows>> RowSorter::Write(RunMerge* merge) {
  absl::StatusOr<std::unique_ptr<SpillFile>> file = SpillFile::Create(state_.spill, operator_name_);
  if (!file.ok()) return file.status();
  auto rows = std::make_unique<SpilledRows>(types_, *std::move(file));
  rows::Batch batch;
  while (rows->rows() < rows_max_) {
    const absl::StatusOr<bool> more = merge->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = rows->Append(batch.columns, batch.rows); !status.ok()) return status;
    if (absl::Status status = check_.Step(8 * batch.rows); !status.ok()) return status;
  }
  if (absl::Status status = rows->Finish(); !status.ok()) return status;
  bytes_on_disk_ += rows->bytes();
  return rows;
}

absl::Status RowSorter::SpillRuns() {
  if (absl::Status status = CloseRun(); !status.ok()) return status;
  if (runs_.empty()) return absl::OkStatus();
  RunMerge merge(std::exchange(runs_, {}), keys_, &check_);
  absl::StatusOr<std::unique_ptr<SpilledRows>> rows = Write(&merge);
  if (!rows.ok()) return rows.status();
  run_bytes_ = 0;
  on_disk_.push_back({*std::move(rows), 0});
  return MergeLevels(/*is_last=*/false);
}

absl::Status RowSorter::MergeLevels(bool is_last) {
  while (on_disk_.size() >= kRunsMax + (is_last ? 1 : 0)) {
    const auto first = on_disk_.end() - kRunsMax;
    const int level = first->level;
    if (level != on_disk_.back().level && !is_last) return absl::OkStatus();
    std::vector<std::unique_ptr<SortedRun>> runs;
    for (auto run = first; run != on_disk_.end(); ++run)
      runs.push_back(std::make_unique<DiskRun>(std::move(run->rows)));
    on_disk_.erase(first, on_disk_.end());
    RunMerge merge(std::move(runs), keys_, &check_);
    absl::StatusOr<std::unique_ptr<SpilledRows>> rows = Write(&merge);
    if (!rows.ok()) return rows.status();
    on_disk_.push_back({*std::move(rows), level + 1});
  }
  return absl::OkStatus();
}

absl::Status RowSorter::Finish() {
  // With rows on disk the last ones go there, too: blocks of all runs need the memory.
  const bool is_on_disk = !on_disk_.empty();
  if (absl::Status status = is_on_disk ? SpillRuns() : CloseRun(); !status.ok()) return status;
  if (absl::Status status = MergeLevels(/*is_last=*/true); !status.ok()) return status;
  std::vector<std::unique_ptr<SortedRun>> runs;
  for (RunOnDisk& run : std::exchange(on_disk_, {}))
    runs.push_back(std::make_unique<DiskRun>(std::move(run.rows)));
  for (std::unique_ptr<SortedRun>& run : std::exchange(runs_, {})) runs.push_back(std::move(run));
  run_bytes_ = 0;
  merge_.emplace(std::move(runs), keys_, &check_);
  return memory_.Set(merge_->MemoryBytes());
}

absl::Status RowSorter::PutOnDisk() {
  absl::StatusOr<std::unique_ptr<SpilledRows>> rows = Write(&*merge_);
  if (!rows.ok()) return rows.status();
  std::vector<std::unique_ptr<SortedRun>> runs;
  runs.push_back(std::make_unique<DiskRun>(*std::move(rows)));
  merge_.emplace(std::move(runs), keys_, &check_);
  memory_.Clear();
  return memory_.Set(merge_->MemoryBytes());
}

absl::StatusOr<bool> RowSorter::Next(rows::Batch* batch) {
  if (given_ >= rows_max_) return false;
  const absl::StatusOr<bool> more = merge_->Next(batch);
  if (!more.ok() || !*more) return more;
  if (batch->rows > rows_max_ - given_) batch->Cut(0, rows_max_ - given_);
  given_ += batch->rows;
  if (absl::Status status = memory_.Set(merge_->MemoryBytes()); !status.ok()) return status;
  return true;
}

}  // namespace sonde::sql
