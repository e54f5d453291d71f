// Rows that are held, column by column.
//
// Ownership: the buffer copies what it is given.  Views hold until it is changed.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/column.h"
#include "rows/batch.h"
#include "rows/column.h"
#include "sql/value/type.h"

namespace sonde::sql {

class RowBuffer {
 public:
  explicit RowBuffer(const std::vector<ColumnType>& types) {
    for (const ColumnType type : types) columns_.emplace_back(type);
  }
  explicit RowBuffer(const std::vector<Type>& types) {
    for (const Type& type : types) columns_.emplace_back(ColumnTypeOf(type));
  }

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_.size(); }
  // Appends `rows` rows: a column for each of the buffer's.
  void Append(absl::Span<const ColumnView> columns, size_t rows) {
    GrowApart(rows);
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].Append(columns[i]);
    rows_ += rows;
  }
  // Appends the rows in these places.
  void AppendPlaces(absl::Span<const ColumnView> columns, absl::Span<const size_t> places) {
    GrowApart(places.size());
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].AppendPlaces(columns[i], places);
    rows_ += places.size();
  }
  ColumnView View(size_t column) const { return columns_[column].View(); }
  std::vector<ColumnView> Views() const {
    std::vector<ColumnView> views;
    views.reserve(columns_.size());
    for (const rows::Column& column : columns_) views.push_back(column.View());
    return views;
  }
  size_t MemoryBytes() const {
    size_t bytes = 0;
    for (const rows::Column& column : columns_) bytes += column.MemoryBytes();
    return bytes;
  }
  // Keeps the memory for other rows.
  void Clear() {
    for (rows::Column& column : columns_) column.Clear();
    rows_ = 0;
  }
  // As Clear, and gives its memory back.
  void Release() {
    for (rows::Column& column : columns_) column = rows::Column(column.type());
    rows_ = 0;
  }
  void Swap(RowBuffer& other) {
    columns_.swap(other.columns_);
    std::swap(rows_, other.rows_);
  }

 private:
  // A buffer gets large with this row.
  static constexpr size_t kLargeRows = 64 << 10;
  // Gives each column of a buffer that gets large another capacity.  Capacities double from then on, so that no
  // two columns are moved at once: a query that is cancelled ends after one such move.
  void GrowApart(size_t more) {
    if (columns_.empty() || rows_ >= kLargeRows || rows_ + more < kLargeRows) return;
    const size_t step = kLargeRows / columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].Reserve(rows_ + more + (i + 1) * step);
  }

  std::vector<rows::Column> columns_;
  size_t rows_ = 0;
};

}  // namespace sonde::sql
