// Rows of columns as bytes: how they lie in a block of a SpillFile.
//
// Shape: the number of rows, and then for each column
//   type      a byte, a ColumnType
//   there     a byte: 0 all values are there; 1 a byte for each row follows, 1 if its value is there
//   values    of the rows whose values are there: ints and doubles 8 bytes, wide ints 16, as the machine has them; strings
//             their length and bytes; lists as a Datum: a byte of 0 for NULL, or 1 + kind, and then its value; lists their
//             length and items
// Lengths and numbers of rows are varints.  The bytes never leave the process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"

namespace sonde::sql {

void PutRows(absl::Span<const ColumnView> columns, size_t rows, std::string* bytes);
// Replaces *columns.  They view `bytes`, and what they made in `arena`.  False: the bytes are none of PutRows.
[[nodiscard]] bool GetRows(std::string_view bytes, Arena* arena, std::vector<ColumnView>* columns,
                           size_t* rows);

}  // namespace sonde::sql
