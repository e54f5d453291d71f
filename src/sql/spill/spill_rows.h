// Rows on disk.
//
//   SpilledRows rows(types, *std::move(file));
//   rows.Append(columns, count);  ...  rows.Finish();
//   rows::Batch batch;
//   while (*rows.Next(&batch)) ...
//
//   Partitions partitions(&spill, "GroupBy", types, /*level=*/0);
//   partitions.Append(keys, columns, count);  ...  partitions.Finish();
//   for (size_t i = 0; i < Partitions::kCount; ++i) Work(partitions.Take(i));
//
// Order: rows come back in the order in which they were appended.
// Threads: as QuerySpill.
// Errors: those of SpillFile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "rows/batch.h"
#include "sql/spill/row_buffer.h"
#include "sql/spill/spill_file.h"
#include "sql/spill/spill_space.h"

namespace sonde::sql {

class SpilledRows {
 public:
  // Rows are written, and read, about so many bytes at a time.
  static constexpr size_t kBlockBytes = 32 << 10;

  SpilledRows(const std::vector<ColumnType>& types, std::unique_ptr<SpillFile> file)
      : file_(std::move(file)), buffer_(types) {}

  absl::Status Append(absl::Span<const ColumnView> columns, size_t rows);
  absl::Status AppendPlaces(absl::Span<const ColumnView> columns, absl::Span<const size_t> places);
  // All rows are there: they can be read.
  absl::Status Finish() {
    if (absl::Status status = Flush(); !status.ok()) return status;
    buffer_.Release();
    return absl::OkStatus();
  }

  // Replaces *batch by the next rows; false: there are no more.  Views hold until the next call.
  absl::StatusOr<bool> Next(rows::Batch* batch);
  // Begins with the first row again.
  void Rewind() { file_->Rewind(); }

  size_t rows() const { return rows_; }
  int64_t bytes() const { return file_->bytes(); }
  // Counts the block that is being written or read.
  size_t MemoryBytes() const { return buffer_.MemoryBytes() + block_.capacity() + arena_.MemoryBytes(); }

 private:
  absl::Status FlushIfLong();
  absl::Status Flush();

  const std::unique_ptr<SpillFile> file_;
  RowBuffer buffer_;  // rows that are not written yet
  size_t rows_ = 0;
  std::string block_;
  Arena arena_;
};

class Partitions {
 public:
  static constexpr size_t kCount = 16;
  // Partitions of partitions, and so on: behind so many levels rows that are still together have equal keys, most likely.
  static constexpr uint32_t kLevelsMax = 8;
  // What rows that are not written yet take, about.
  static constexpr size_t kBufferBytes = 1 << 20;

  // `types`: of the columns.  `level`: partitions of a partition have the next one.
  Partitions(QuerySpill* spill, std::string_view operator_name, std::vector<ColumnType> types, uint32_t level)
      : spill_(spill), operator_name_(operator_name), types_(std::move(types)), level_(level) {}

  // Rows whose keys are equal (Compare is 0) go to the same partition.
  absl::Status Append(absl::Span<const ColumnView> keys, absl::Span<const ColumnView> columns, size_t rows);
  absl::Status AppendPlaces(absl::Span<const ColumnView> keys, absl::Span<const ColumnView> columns,
                            absl::Span<const size_t> places);
  absl::Status Finish();
  // Null: it has no rows.
  std::unique_ptr<SpilledRows> Take(size_t partition) { return std::move(rows_[partition]); }
  const SpilledRows* rows(size_t partition) const { return rows_[partition].get(); }
  size_t MemoryBytes() const;

 private:
  size_t PartitionOf(absl::Span<const ColumnView> keys, size_t row) const;

  QuerySpill* const spill_;
  const std::string operator_name_;
  const std::vector<ColumnType> types_;
  const uint32_t level_;
  std::array<std::unique_ptr<SpilledRows>, kCount> rows_;
  std::array<std::vector<size_t>, kCount> places_;  // of the rows at hand
};

}  // namespace sonde::sql
