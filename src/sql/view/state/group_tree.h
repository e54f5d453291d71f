// Merges the states that rows of the source contribute to a group.
//
// A group of at most TreeShape::FanOut contributors is merged whole.  A larger one has a tree of merged states over the
// hashes of its contributors (state_keys.h), so that a change costs one node on each level, and not the group.  A tree is
// never less deep than it was, until its group is empty.  A tree is made anew, by one scan of the group, when one of its leaves has
// more than twice as many contributors.
//
// Contributors that are new are merged into the nodes above them, so that a group that only grows costs a node a level and none of its other
// contributors.  Nodes above a contributor that has changed or gone are made anew from what is below.
//
// Crashes: what was merged may be missing or old until the group is merged again for the same changes.  A contributor that may have been
// merged before the crash is not told as new again: so none counts twice.
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/view/group_state.h"
#include "sql/view/state/state_keys.h"
#include "sql/view/state/state_rows.h"

namespace sonde::sql {

// A contributor of a group that has changed.
struct ContributorChange {
  uint64_t hash = 0;
  // Its state, if the group never had a state of it: nothing is merged yet that has one.  Viewed, not owned.
  std::optional<std::string_view> added;
};

class GroupTree {
 public:
  // Both must outlive this.
  GroupTree(TreeShape shape, StateRows* rows, GroupMerger* merger)
      : shape_(shape), rows_(rows), merger_(merger) {}

  struct Merged {
    uint64_t contributors = 0;
    bool has_failed = false;  // the states do not go together: the merger has nothing
  };
  // Merges the group after these changes, which ascend by hash; then the merger has its state.  Nothing may wait in the rows.
  // Errors: those of StateRows.
  absl::StatusOr<Merged> Refresh(const GroupId& group, absl::Span<const ContributorChange> changes);

 private:
  struct Small {
    Merged merged;
    int depth = 0;          // of the tree; 0: there is none
    bool is_large = false;  // more contributors than a group without a tree may have
  };
  absl::StatusOr<Small> MergeSmall(std::string_view prefix);
  // The state of a range of contributors, or of nodes.
  absl::StatusOr<NodeState> Merge(const RowRange& range, bool of_nodes);
  absl::Status Add(std::string_view value, bool is_node, NodeState* node);
  absl::Status WriteNode(std::string_view prefix, int level, uint64_t node_prefix, const NodeState& node);
  // Return the contributors of the fullest leaf, or node, that was looked at.
  absl::StatusOr<uint64_t> RefreshNodes(std::string_view prefix, int depth,
                                        absl::Span<const ContributorChange> changes);
  absl::StatusOr<uint64_t> RefreshLevel(std::string_view prefix, int level, bool of_nodes,
                                        absl::Span<const ContributorChange> changes);
  // The nodes of a level that some changes are below, ascending, each with its changes.
  struct ChangedNode {
    uint64_t prefix = 0;
    absl::Span<const ContributorChange> changes;
  };
  absl::Status ExtendNodes(std::string_view prefix, int level, absl::Span<const ChangedNode> nodes,
                           uint64_t* fullest);
  absl::Status MakeNodes(std::string_view prefix, int level, bool of_nodes,
                         absl::Span<const ChangedNode> nodes, uint64_t* fullest);
  absl::Status Rebuild(std::string_view prefix, int depth);
  // Makes all nodes of a level from what is below.  Returns the contributors of the fullest one.
  absl::StatusOr<uint64_t> MakeLevel(std::string_view prefix, int level, bool of_nodes);
  absl::Status Forget(std::string_view prefix);

  const TreeShape shape_;
  StateRows* const rows_;
  GroupMerger* const merger_;
};

}  // namespace sonde::sql
