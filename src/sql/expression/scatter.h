// Puts columns for some rows of a batch together to a column for all of them.
//
//   Scatter scatter(ColumnType::kInt64, batch.rows, &arena);
//   scatter.Put(rows_that_are_true, then_column);      // as many values as rows
//   scatter.Put(all_others, else_column);
//   return scatter.View();
//
// Shape: rows that nothing was put into are NULL.
// Ownership: the column lies in the arena; strings and lists view what the columns that were put view.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"

namespace sonde::sql {

class Scatter {
 public:
  Scatter(ColumnType type, size_t rows, Arena* arena);

  // Value i of `column` becomes that of row places[i].
  void Put(absl::Span<const size_t> places, const ColumnView& column);
  // Value i of `column` becomes that of row first + i.
  void PutRange(size_t first, const ColumnView& column);

  ColumnView View() const;

 private:
  ColumnType type_;
  size_t rows_;
  size_t there_count_ = 0;
  void* values_;
  uint8_t* there_;
};

// The rows of a batch for which a column of BOOL is TRUE, ascending.
void RowsThatAreTrue(const ColumnView& condition, std::vector<size_t>* rows);
// The rows of `column` at these places, as a column in the arena.
ColumnView Gather(const ColumnView& column, absl::Span<const size_t> places, Arena* arena);

}  // namespace sonde::sql
