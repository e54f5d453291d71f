#include "copy/table_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "model/limits.h"

namespace sonde {
namespace {

// Of one request, which the API bounds to kMutationsPerRequestMax.
constexpr size_t kSendBytes = size_t{4} << 20;
constexpr size_t kSendMutations = kMutationsPerRequestMax / 2;
constexpr int kLooksMax = 3;
// Cells that will be forgotten within this time are not compared.  The places' clocks may differ by some of it.
constexpr int64_t kSoonMicros = int64_t{10} * 60 * 1'000'000;
constexpr absl::Duration kWaitFirst = absl::Milliseconds(500);

// Whether the same call may succeed later.  Cells have times, so a change that may have been made can be made again.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsUnknown(status) ||
         absl::IsAborted(status);
}

std::string Text(const RangeSum& sum) { return fmt::format("{} rows, {} cells", sum.rows, sum.cells); }

std::string Text(const RowRange& range) {
  return fmt::format("from '{}' to {}", Printable(range.start),
                     range.end.empty() ? "the end" : fmt::format("'{}'", Printable(range.end)));
}

}  // namespace

TableCopy::TableCopy(CopyAccess* from, CopyAccess* to, const TableSchema& schema, const CopyOptions& options,
                     const Clock* clock, CopyState* state)
    : from_(from),
      to_(to),
      schema_(schema),
      options_(options),
      clock_(clock),
      state_(state),
      done_(&state->tables[schema.name]) {
  for (const FamilySchema& family : schema.families) {
    if (family.aggregate != AggregateKind::kNone) merged_.insert(family.name);
  }
}

absl::Status TableCopy::Run() {
  absl::Duration wait = kWaitFirst;
  int tries = 1;
  while (!done_->is_done) {
    const std::string before = done_->next_key;
    absl::Status status = RunOnce();
    if (status.ok()) continue;
    if (done_->next_key != before) wait = kWaitFirst, tries = 1;
    if (!MayPass(status) || tries++ == kTriesMax) return status;
    options_.wait ? options_.wait(wait) : absl::SleepFor(wait);
    wait *= 2;
  }
  return absl::OkStatus();
}

absl::Status TableCopy::RunOnce() {
  BeginRange();
  RowRead read;
  read.ranges = {RowRange{done_->next_key, ""}};
  absl::Status taken;
  const absl::Status read_to_end = from_->ReadRows(schema_.name, read, [&](ReadRow&& row) {
    taken = TakeRow(std::move(row));
    return taken.ok();
  });
  if (!taken.ok()) return taken;
  if (!read_to_end.ok()) return read_to_end;
  if (absl::Status status = Send(); !status.ok()) return status;
  return EndRange("");
}

void TableCopy::BeginRange() {
  moment_micros_ = clock_->NowMicros() + kSoonMicros;
  summer_.emplace(schema_, moment_micros_);
  taken_ = CopiedTable();
  writes_.clear();
  writes_bytes_ = 0;
  writes_mutations_ = 0;
}

absl::Status TableCopy::TakeRow(ReadRow row) {
  summer_->Add(row);
  ++taken_.rows;
  taken_.cells += static_cast<int64_t>(row.cells.size());
  taken_.bytes += static_cast<int64_t>(row.row_key.size());
  std::pair<std::string, std::string> column;
  bool is_first = true;
  for (ReadCell& cell : row.cells) {
    if (writes_.empty() || writes_.back().row_key != row.row_key) writes_.push_back({.row_key = row.row_key});
    const size_t bytes = cell.family.size() + cell.qualifier.size() + cell.value.size();
    taken_.bytes += static_cast<int64_t>(bytes);
    writes_bytes_ += bytes + row.row_key.size();
    ++writes_mutations_;
    RowWrite& write = writes_.back();
    const bool is_new_column = is_first || column.first != cell.family || column.second != cell.qualifier;
    is_first = false;
    if (is_new_column) column = {cell.family, cell.qualifier};
    if (is_new_column && merged_.contains(cell.family)) {
      write.delete_columns.push_back(column);
      ++writes_mutations_;
    }
    write.cells.push_back(
        {std::move(cell.family), std::move(cell.qualifier), cell.timestamp_micros, std::move(cell.value)});
    if (writes_bytes_ < kSendBytes && writes_mutations_ < kSendMutations) continue;
    if (absl::Status status = Send(); !status.ok()) return status;
  }
  if (taken_.bytes < static_cast<int64_t>(options_.range_bytes)) return absl::OkStatus();
  if (absl::Status status = Send(); !status.ok()) return status;
  return EndRange(Successor(row.row_key));
}

absl::Status TableCopy::Send() {
  if (writes_.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<absl::Status>> written = to_->MergeRows(schema_.name, writes_, merged_);
  if (!written.ok()) return written.status();
  for (size_t i = 0; i < written->size(); ++i) {
    const absl::Status& status = (*written)[i];
    if (status.ok()) continue;
    return {status.code(), fmt::format("table '{}', row '{}': {}", schema_.name,
                                       Printable(writes_[i].row_key), std::string(status.message()))};
  }
  writes_.clear();
  writes_bytes_ = 0;
  writes_mutations_ = 0;
  return absl::OkStatus();
}

absl::Status TableCopy::EndRange(const std::string& end) {
  if (absl::Status status = Compare({done_->next_key, end}); !status.ok()) return status;
  done_->next_key = end;
  done_->is_done = end.empty();
  done_->rows += taken_.rows;
  done_->cells += taken_.cells;
  done_->bytes += taken_.bytes;
  if (absl::Status status = state_->Save(); !status.ok()) return status;
  if (options_.on_progress) options_.on_progress(schema_.name, *done_);
  BeginRange();
  return absl::OkStatus();
}

absl::StatusOr<RangeSum> TableCopy::SumOf(CopyAccess* tables, const RowRange& range) const {
  RangeSummer summer(schema_, moment_micros_);
  RowRead read;
  read.ranges = {range};
  const absl::Status status = tables->ReadRows(schema_.name, read, [&](const ReadRow& row) {
    summer.Add(row);
    return true;
  });
  if (!status.ok()) return status;
  return summer.sum();
}

absl::Status TableCopy::Compare(const RowRange& range) {
  RangeSum source = summer_->sum();
  for (int look = 1;; ++look) {
    const absl::StatusOr<RangeSum> copy = SumOf(to_, range);
    if (!copy.ok()) return copy.status();
    if (*copy == source) return absl::OkStatus();
    if (look == kLooksMax) {
      return absl::DataLossError(fmt::format(
          "table '{}', rows {}: the source has {}, the copy {}, {}; is one of them being written?",
          schema_.name, Text(range), Text(source), Text(*copy),
          copy->cells == source.cells && copy->rows == source.rows ? "which are not the same"
                                                                   : "which are other numbers"));
    }
    const absl::StatusOr<RangeSum> again = SumOf(from_, range);
    if (!again.ok()) return again.status();
    source = *again;
  }
}

}  // namespace sonde
