#include "sql/relation/run_merge.h"

#include <numeric>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace sonde::sql {

HeldRun::HeldRun(RowBuffer rows, std::vector<size_t> order) : buffer_(std::move(rows)) {
  rows_ = order.size();
  columns_ = buffer_.Views();
  order_ = std::move(order);
}

absl::StatusOr<bool> HeldRun::NextBlock() { return !std::exchange(is_given_, true) && rows_ > 0; }

absl::StatusOr<bool> DiskRun::NextBlock() {
  rows::Batch batch;
  const absl::StatusOr<bool> more = spilled_->Next(&batch);
  if (!more.ok() || !*more) return more;
  rows_ = batch.rows;
  columns_ = std::move(batch.columns);
  return true;
}

RunMerge::RunMerge(std::vector<std::unique_ptr<SortedRun>> runs, const std::vector<RowKey>& keys,
                   rows::WorkCheck* check)
    : runs_(std::move(runs)),
      keys_(keys),
      check_(*check),
      key_columns_(runs_.size()),
      needs_block_(runs_.size()) {
  std::iota(needs_block_.begin(), needs_block_.end(), 0);
}

size_t RunMerge::MemoryBytes() const {
  size_t bytes = arena_.MemoryBytes();
  for (const auto& run : runs_) bytes += run == nullptr ? 0 : run->MemoryBytes();
  return bytes;
}

bool RunMerge::IsBefore(const Head& a, const Head& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = CompareRows(key_columns_[a.run], runs_[a.run]->RowOf(a.place), key_columns_[b.run],
                                runs_[b.run]->RowOf(b.place));
  return order != 0 ? order < 0 : a.run < b.run;
}

void RunMerge::SiftDown() {
  size_t at = 0;
  while (true) {
    size_t first = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heads_.size(); ++child) {
      if (IsBefore(heads_[child], heads_[first])) first = child;
    }
    if (first == at) return;
    std::swap(heads_[at], heads_[first]);
    at = first;
  }
}

void RunMerge::Push(Head head) {
  heads_.push_back(head);
  for (size_t at = heads_.size() - 1; at > 0;) {
    const size_t parent = (at - 1) / 2;
    if (!IsBefore(heads_[at], heads_[parent])) return;
    std::swap(heads_[at], heads_[parent]);
    at = parent;
  }
}

absl::Status RunMerge::TakeBlocks() {
  for (const size_t number : std::exchange(needs_block_, {})) {
    SortedRun& run = *runs_[number];
    const absl::StatusOr<bool> more = run.NextBlock();
    if (!more.ok()) return more.status();
    if (!*more) {
      runs_[number].reset();
      continue;
    }
    std::vector<SortColumn>& columns = key_columns_[number];
    columns.clear();
    for (const RowKey& key : keys_)
      columns.push_back({run.columns()[key.column], key.descending, key.nulls_first});
    Push({columns.empty() ? 0 : PrefixOf(columns[0], run.RowOf(0)), 0, number});
  }
  return absl::OkStatus();
}

bool RunMerge::Take() {
  Head& head = heads_[0];
  const SortedRun& run = *runs_[head.run];
  picks_.push_back({head.run, run.RowOf(head.place)});
  if (++head.place < run.rows()) {
    const std::vector<SortColumn>& columns = key_columns_[head.run];
    head.prefix = columns.empty() ? 0 : PrefixOf(columns[0], run.RowOf(head.place));
    SiftDown();
    return true;
  }
  needs_block_.push_back(head.run);
  head = heads_.back();
  heads_.pop_back();
  if (!heads_.empty()) SiftDown();
  return false;
}

ColumnView RunMerge::GatherColumn(size_t column) {
  const ColumnView& first = runs_[picks_[0].run]->columns()[column];
  uint8_t* const there = arena_.New<uint8_t>(picks_.size());
  bool all_there = true;
  for (size_t i = 0; i < picks_.size(); ++i) {
    there[i] = runs_[picks_[i].run]->columns()[column].IsThere(picks_[i].row) ? 1 : 0;
    all_there &= there[i] != 0;
  }
  const auto gather = [&](auto no_value, auto values_of, auto make) {
    using T = decltype(no_value);
    T* const to = arena_.New<T>(picks_.size());
    for (size_t i = 0; i < picks_.size(); ++i) {
      const ColumnView& from = runs_[picks_[i].run]->columns()[column];
      to[i] = values_of(from)[from.PlaceOf(picks_[i].row)];
    }
    return make(absl::Span<const T>(to, picks_.size()), all_there ? nullptr : there);
  };
  switch (first.type()) {
    case ColumnType::kInt64:
      return gather(int64_t{}, [](const ColumnView& from) { return from.ints(); }, ColumnView::OfInts);
    case ColumnType::kTime:
      return gather(int64_t{}, [](const ColumnView& from) { return from.ints(); }, ColumnView::OfTimes);
    case ColumnType::kDouble:
      return gather(double{}, [](const ColumnView& from) { return from.doubles(); }, ColumnView::OfDoubles);
    case ColumnType::kBytes:
      return gather(
          std::string_view{}, [](const ColumnView& from) { return from.bytes(); }, ColumnView::OfBytes);
    case ColumnType::kList:
      return gather(Datum{}, [](const ColumnView& from) { return from.lists(); }, ColumnView::OfLists);
    case ColumnType::kInt128:
      break;
  }
  return gather(
      absl::int128{}, [](const ColumnView& from) { return from.wide_ints(); }, ColumnView::OfWideInts);
}

absl::StatusOr<bool> RunMerge::Next(rows::Batch* batch) {
  batch->rows = 0;
  batch->columns.clear();
  if (absl::Status status = TakeBlocks(); !status.ok()) return status;
  if (heads_.empty()) return false;
  arena_.Clear();
  picks_.clear();
  // The rows of a block are given before the next one takes its place.
  while (picks_.size() < rows::kBatchRowsMax && !heads_.empty() && Take()) {
  }
  if (absl::Status status = check_.Step(4 * picks_.size()); !status.ok()) return status;
  batch->rows = picks_.size();
  const size_t columns = runs_[picks_[0].run]->columns().size();
  for (size_t i = 0; i < columns; ++i) batch->columns.push_back(GatherColumn(i));
  return true;
}

}  // namespace sonde::sql
