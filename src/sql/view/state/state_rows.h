// The rows of a view's hidden state: small values by key, in a table of the engine that belongs to the view
// (MaterializedViewRecord::workings).
//
// Format (docs/formats/view-state.md): a value is one cell, of the table's only family, without qualifier, at time 0.
// Ownership: it owns what was put until it is committed.
// Threads: not for several threads.
// Errors: those of the engine; DATA_LOSS: a row is none that was put here.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "model/row_range.h"
#include "model/table_schema.h"

namespace sonde::sql {

class StateRows {
 public:
  // `engine` must outlive this.
  StateRows(Engine* engine, TableSchemaRef table) : engine_(engine), table_(std::move(table)) {}

  // Calls `visit` with the rows of `ranges` (normal form), ascending, until it returns false.
  using Visit = std::function<absl::StatusOr<bool>(std::string_view key, std::string_view value)>;
  absl::Status Scan(std::vector<RowRange> ranges, const Visit& visit) const;
  absl::StatusOr<std::optional<std::string>> Get(std::string_view key) const;

  // Changes wait for Commit, which applies them in this order: after a crash there is a beginning of them, if the engine keeps the order
  // of rows.  Else there are any of them.
  bool keeps_order() const { return !engine_->traits().is_shared; }
  void Put(std::string key, std::string value);
  void Delete(std::string key);
  size_t waiting_bytes() const { return waiting_bytes_; }
  absl::Status Commit();
  // Forgets what waits.
  void Clear();

  // At once, and not in one step.
  absl::Status DropRange(const RowRange& range);

 private:
  struct Change {
    std::string key;
    std::optional<std::string> value;  // nothing: deleted
  };

  Engine* const engine_;
  const TableSchemaRef table_;
  std::vector<Change> waiting_;
  size_t waiting_bytes_ = 0;
};

// The schema of such a table, without name and ids.
TableSchema StateTableSchema();

}  // namespace sonde::sql
