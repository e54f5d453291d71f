#include "sql/spill/spill_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sql/spill/row_bytes.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr size_t kRowsAtOnce = 64;

}  // namespace

// A few rows are added at a time, as they may be long.
absl::Status SpilledRows::Append(absl::Span<const ColumnView> columns, size_t rows) {
  std::vector<ColumnView> parts(columns.begin(), columns.end());
  for (size_t first = 0; first < rows; first += kRowsAtOnce) {
    const size_t some = std::min(kRowsAtOnce, rows - first);
    for (size_t i = 0; i < columns.size(); ++i) parts[i] = columns[i].Part(first, some);
    buffer_.Append(parts, some);
    rows_ += some;
    if (absl::Status status = FlushIfLong(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SpilledRows::AppendPlaces(absl::Span<const ColumnView> columns,
                                       absl::Span<const size_t> places) {
  for (; !places.empty(); places.remove_prefix(std::min(kRowsAtOnce, places.size()))) {
    const absl::Span<const size_t> some = places.subspan(0, kRowsAtOnce);
    buffer_.AppendPlaces(columns, some);
    rows_ += some.size();
    if (absl::Status status = FlushIfLong(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SpilledRows::FlushIfLong() {
  const bool is_long = buffer_.rows() >= rows::kBatchRowsMax || buffer_.MemoryBytes() >= kBlockBytes;
  return is_long ? Flush() : absl::OkStatus();
}

absl::Status SpilledRows::Flush() {
  if (buffer_.rows() == 0) return absl::OkStatus();
  block_.clear();
  PutRows(buffer_.Views(), buffer_.rows(), &block_);
  buffer_.Clear();
  // What it keeps for the next rows must not count as rows.
  if (buffer_.MemoryBytes() >= kBlockBytes / 4) buffer_.Release();
  return file_->Append(block_);
}

absl::StatusOr<bool> SpilledRows::Next(rows::Batch* batch) {
  const absl::StatusOr<bool> more = file_->Read(&block_);
  if (!more.ok()) return more.status();
  arena_.Clear();
  batch->rows = 0;
  batch->columns.clear();
  if (!*more) return false;
  if (!GetRows(block_, &arena_, &batch->columns, &batch->rows) ||
      batch->columns.size() != buffer_.columns()) {
    return absl::DataLossError("Rows that were put on disk are damaged");
  }
  return true;
}

size_t Partitions::PartitionOf(absl::Span<const ColumnView> keys, size_t row) const {
  constexpr uint64_t kMixer = 0x9e3779b97f4a7c15;
  uint64_t hash = kMixer * (level_ + 1);
  for (const ColumnView& key : keys) {
    hash = (hash ^ (key.IsThere(row) ? HashOf(key, row) : 0)) * kMixer;
    hash ^= hash >> 29;
  }
  return hash * kMixer >> 60;
}

absl::Status Partitions::Append(absl::Span<const ColumnView> keys, absl::Span<const ColumnView> columns,
                                size_t rows) {
  std::vector<size_t> places(rows);
  std::iota(places.begin(), places.end(), 0);
  return AppendPlaces(keys, columns, places);
}

absl::Status Partitions::AppendPlaces(absl::Span<const ColumnView> keys, absl::Span<const ColumnView> columns,
                                      absl::Span<const size_t> places) {
  static_assert(kCount == 1 << (64 - 60), "PartitionOf takes 4 bits");
  for (std::vector<size_t>& of_partition : places_) of_partition.clear();
  for (const size_t place : places) places_[PartitionOf(keys, place)].push_back(place);
  for (size_t i = 0; i < kCount; ++i) {
    if (places_[i].empty()) continue;
    if (rows_[i] == nullptr) {
      absl::StatusOr<std::unique_ptr<SpillFile>> file = SpillFile::Create(spill_, operator_name_);
      if (!file.ok()) return file.status();
      rows_[i] = std::make_unique<SpilledRows>(types_, *std::move(file));
    }
    if (absl::Status status = rows_[i]->AppendPlaces(columns, places_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Partitions::Finish() {
  for (const auto& rows : rows_) {
    if (rows == nullptr) continue;
    if (absl::Status status = rows->Finish(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

size_t Partitions::MemoryBytes() const {
  size_t bytes = 0;
  for (const auto& rows : rows_) bytes += rows == nullptr ? 0 : rows->MemoryBytes();
  return bytes;
}

}  // namespace sonde::sql
