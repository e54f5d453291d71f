// Mutates one row by itself, for tests.
#pragma once

#include "table/tables.h"

namespace sonde {

inline absl::Status MutateRow(Tables& tables, const TableSchema& schema, const RowMutations& row,
                              const AuthorizedView* view = nullptr) {
  return tables.MutateRows(schema, {&row, 1}, view)[0];
}

}  // namespace sonde
