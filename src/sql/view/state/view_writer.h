// Replaces what rows of the source give to a view, and brings the groups up to date that it concerns.
//
// Order of the writes, so that the same rows, replaced again after a crash, come to the same:
//   1. the groups of a row, old and new ones; 2. its states, those of old groups deleted; 3. the groups merged, and shown;
//   4. the groups of the row, new ones only.
// So each group that has a state of a row, or was shown with one, is among the groups of the row.  What is merged is merged
// again from what is below, but for rows whose groups did not have the group yet: nothing has their states then, and they are added.
// Threads: not for several threads.
// Errors: those of the engine; DATA_LOSS: the state is damaged.  After an error the same rows are to be replaced again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/engine.h"
#include "sql/view/definition.h"
#include "sql/view/group_state.h"
#include "sql/view/state/group_tree.h"
#include "sql/view/state/state_keys.h"
#include "sql/view/state/state_rows.h"
#include "sql/view/state/view_table.h"
#include "sql/view/view_row.h"

namespace sonde::sql {

class ViewWriter {
 public:
  // `engine` must outlive this.  `storage` and `workings` are the tables of the view.
  static absl::StatusOr<std::unique_ptr<ViewWriter>> Create(Engine* engine,
                                                            std::shared_ptr<const ViewDefinition> definition,
                                                            TableSchemaRef storage, TableSchemaRef workings,
                                                            TreeShape shape = {});

  // `rows` ascend by their keys, each once.
  absl::Status Replace(absl::Span<const SourceRow> rows);

  StateRows& state() { return state_; }
  // How often a group was left out of the view, as its states do not go together or its values have failed.
  uint64_t groups_left_out() const { return groups_left_out_; }

 private:
  ViewWriter(Engine* engine, std::shared_ptr<const ViewDefinition> definition, TableSchemaRef storage,
             TableSchemaRef workings, TreeShape shape);

  // By group: the contributors that have changed; they view the rows.
  using ChangedGroups = std::map<GroupId, std::vector<ContributorChange>>;

  // The groups that rows had so far, one list a row.
  absl::StatusOr<std::vector<std::vector<GroupId>>> ReadOldGroups(absl::Span<const SourceRow> rows) const;
  absl::Status WriteContributions(absl::Span<const SourceRow> rows,
                                  const std::vector<std::vector<GroupId>>& old_groups,
                                  ChangedGroups* changed);
  absl::Status Show(ChangedGroups* changed);
  absl::StatusOr<GroupCells> CellsOf(const GroupId& group, absl::Span<const ContributorChange> changes);
  absl::Status ForgetOldGroups(absl::Span<const SourceRow> rows,
                               const std::vector<std::vector<GroupId>>& old_groups);

  const std::shared_ptr<const ViewDefinition> definition_;
  const TreeShape shape_;
  StateRows state_;
  ViewTable table_;
  std::unique_ptr<GroupMerger> merger_;
  uint64_t groups_left_out_ = 0;
};

}  // namespace sonde::sql
