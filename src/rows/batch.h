// A batch: some rows of a result, by column.  Operators take and give one batch after the other.
//
//   rows::Batch batch;
//   while (*source.Next(&batch)) total += Sum(batch.columns[2]);
//
// Shape: all columns of a batch have `rows` values; row i is what the columns have in place i.  A batch has
//   no names: the operators of a plan agree on what each column means, by its number.  Operators that make
//   rows give some kBatchRowsMax of them at a time; a batch that views a row of a table is as long as that
//   row has cells.
// Order: each operator says which order of rows it needs, and which it gives.
// Ownership: a Batch views its columns (model/column.h).  It holds until the operator that gave it is asked
//   for the next one.  A HeldBatch owns its columns.  So a column of a page reaches a sum without being
//   copied.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <vector>

#include "model/column.h"
#include "rows/column.h"

namespace sonde::rows {

// Enough rows that a call for each batch costs nothing, few enough that they lie in a cache of the processor.
constexpr size_t kBatchRowsMax = 1'024;

struct Batch {
  size_t rows = 0;
  std::vector<ColumnView> columns;

  // Keeps `count` of the rows, from `first` on.
  void Cut(size_t first, size_t count) {
    rows = count;
    for (ColumnView& column : columns) column = column.Part(first, count);
  }
};

class HeldBatch {
 public:
  HeldBatch() = default;
  explicit HeldBatch(const std::vector<ColumnType>& types) {
    for (const ColumnType type : types) columns.emplace_back(type);
  }

  size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  // Keeps the columns, and their memory.
  void Clear() {
    for (Column& column : columns) column.Clear();
  }
  // Appends the rows of `batch`, of which the columns from `first_column` on are the columns of this one.
  void Append(const Batch& batch, size_t first_column = 0) {
    for (size_t i = 0; i < columns.size(); ++i) columns[i].Append(batch.columns[first_column + i]);
  }
  // Appends views of all columns to batch->columns, and sets batch->rows.
  void View(Batch* batch) const {
    batch->rows = rows();
    for (const Column& column : columns) batch->columns.push_back(column.View());
  }

  std::vector<Column> columns;
};

}  // namespace sonde::rows
