// Makes columns of the cells of rows: keys, families as maps, cells, times, histories, numbers.
//
//   ScanColumns columns(scan, evaluation);
//   columns.Clear(&arena);
//   columns.Append(row_key, cells);
//   absl::Status status = columns.View(&arena, &batch);
//
// Shape: the columns of Plan::Scan::columns.  Fields of the row key come of all keys of a batch at once.  A family without cells is an empty map; a cell, a time or a number without a cell
//   is NULL, and so is a history.
// Ownership: what is taken of cells is copied into the arena, as the cells are gone with the next row.
// Threads: not for several threads.
#pragma once

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
#include "filter/filter_cell.h"
#include "rows/batch.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

class ScanColumns {
 public:
  // `scan` must outlive this.  UNIMPLEMENTED: a column is of a kind that is not built.
  static absl::StatusOr<std::unique_ptr<ScanColumns>> Create(const Plan::Scan& scan);

  // Begins a batch, whose values go into `arena`.
  void Clear(Arena* arena);
  // Appends a row.  `row_key` holds as long as the arena.  `cells` are in order, and each that is given counts.  Returns whether one of them is in a column.
  bool Append(std::string_view row_key, absl::Span<const FilterCell> cells);
  // Takes the last row away again.
  void RemoveLast();
  size_t rows() const { return rows_; }
  // The rows, as views of this and of the arena.  Cells come as bytes, so no number is there.  INVALID_ARGUMENT: a
  // field of the row key is a column, and a key does not fit the schema.
  absl::Status View(rows::Batch* batch);

 private:
  struct Column {
    const ScanColumn* spec = nullptr;
    uint32_t family = 0;      // index in the schema
    bool is_int = false;      // cells are numbers of an aggregate family
    bool is_history = false;  // all cells of a column come, and not one

    // The values: those of the column's type.
    std::vector<std::string_view> bytes;
    std::vector<int64_t> ints;
    std::vector<Datum> lists;
    std::vector<uint8_t> there;
    absl::Span<const Datum> last_map;  // of the last row that had one: its qualifiers mostly come again
  };
  using Cells = absl::Span<const FilterCell>;

  explicit ScanColumns(const Plan::Scan& scan) : scan_(scan) {}

  bool AppendCells(Column& column, Cells of_family);
  void AppendMap(Column& column, Cells of_family);
  void AppendCell(Column& column, Cells of_column);
  void AppendMissing(Column& column);
  Datum HistoryOf(Column& column, Cells of_column);
  Datum ValueOf(const Column& column, const FilterCell& cell);
  ColumnType TypeOf(const Column& column) const;
  ColumnView ViewOf(const Column& column) const;
  // Makes the columns that are fields of the row key.
  absl::Status ReadKeys();

  const Plan::Scan& scan_;
  std::vector<Column> columns_;
  bool reads_key_fields_ = false;
  std::vector<std::string_view> keys_;    // of the rows, if fields are read
  std::vector<size_t> cells_of_columns_;  // of the family at hand
  size_t rows_ = 0;
  Arena* arena_ = nullptr;
};

}  // namespace sonde::sql
