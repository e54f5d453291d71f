// A batch: some rows of a result, by column.  Operators take and give batches, one after the other.
//
// Shape: all columns of a batch have `rows` values; a row is what they have in one place.  Which column means
// what is agreed between the operators of a plan, by number: a batch has no names.  Batches are of
// kBatchRowsMax rows or so; one that a page's cells are viewed in is as long as that row of the table has
// cells. Order: an operator says which order of rows it needs and gives. Ownership: a Batch views its columns
// (model/column.h), and holds until who gave it is asked for the next one; a HeldBatch owns them.  So a
// column of a page goes from the engine's decoder to a sum without being copied. Threads: not for several
// threads.
#pragma once

#include <cstddef>
#include <vector>

#include "model/column.h"
#include "rows/column.h"

namespace sonde::rows {

// Operators that make rows one by one give about so many at once: enough that a call for each batch costs
// nothing, few enough to lie in a cache of the processor.
constexpr size_t kBatchRowsMax = 1'024;

struct Batch {
  size_t rows = 0;
  std::vector<ColumnView> columns;

  // `count` of the rows, from `first` on.
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
  // The rows of `batch`, behind these; its columns from `first_column` on are these.
  void Append(const Batch& batch, size_t first_column = 0) {
    for (size_t i = 0; i < columns.size(); ++i) columns[i].Append(batch.columns[first_column + i]);
  }
  // Views all columns, behind what batch->columns has.
  void View(Batch* batch) const {
    batch->rows = rows();
    for (const Column& column : columns) batch->columns.push_back(column.View());
  }

  std::vector<Column> columns;
};

}  // namespace sonde::rows
