// The rows that a view shows: cells of groups, in a table of the engine that belongs to the view (MaterializedViewRecord::storage).
//
// A row of the view is changed in one step, with all of its groups that are given together.
// Threads: not for several threads.
// Errors: those of the engine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "model/table_schema.h"
#include "sql/view/definition.h"
#include "sql/view/view_row.h"

namespace sonde::sql {

// What a group shows; nothing: it has no cells.
struct GroupCells {
  GroupId group;
  std::optional<std::vector<ViewCell>> cells;
};

class ViewTable {
 public:
  // All must outlive this, but for the schema.
  ViewTable(Engine* engine, const ViewDefinition* definition, TableSchemaRef table);

  // Takes the next groups of a row, ascending; those of one row together.  They wait until there is enough to commit.
  absl::Status Write(std::vector<GroupCells> groups_of_row);
  absl::Status Commit();

 private:
  struct WaitingRow {
    std::vector<GroupCells> groups;
    bool is_there = false;  // the row has a cell then
  };

  // Whether a row of a view with times has cells of groups that are not among these.
  absl::StatusOr<bool> HasOthers(const std::vector<GroupCells>& groups) const;
  RowDelta DeltaOf(const WaitingRow& row) const;

  Engine* const engine_;
  const ViewDefinition* const definition_;
  const TableSchemaRef table_;
  // Value columns by family and qualifier: as a delta has them.
  std::vector<std::vector<size_t>> columns_of_family_;
  std::vector<WaitingRow> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace sonde::sql
