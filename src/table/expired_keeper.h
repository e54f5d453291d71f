// Whoever keeps what the rules of a table forget: materialized views that outlive their source.  It is asked before cells are collected.
//
// The table says so in its schema (kExpiredKeeperUse), so that nothing is collected of it while nobody is there to ask.
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/mutation.h"
#include "model/row_range.h"
#include "model/table_schema.h"

namespace sonde {

// The use of a table's log (TableSchema::log_uses) by such a keeper.
inline constexpr std::string_view kExpiredKeeperUse = "views that outlive";

class ExpiredKeeper {
 public:
  // What is about to be collected of a row: of each column all cells before a time.
  struct Row {
    std::string_view row_key;
    absl::Span<const Mutation> deletes;  // DeleteFromColumn, each from 0 on
  };
  // `rows` ascend, each once.  All cells of the rows are still there.  An error: nothing may be collected of these rows now.
  virtual absl::Status KeepExpired(const TableSchema& schema, absl::Span<const Row> rows) = 0;

  // The first rows of a range, ascending, of which something is kept, whether they are there or not; at most `rows_max`.
  virtual absl::StatusOr<std::vector<std::string>> ListKept(const TableSchema& schema, const RowRange& range,
                                                            size_t rows_max) = 0;

 protected:
  ~ExpiredKeeper() = default;
};

}  // namespace sonde
