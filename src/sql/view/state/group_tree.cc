#include "sql/view/state/group_tree.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

constexpr size_t kCommitBytes = 1 << 20;

absl::Status DamagedTree() { return absl::DataLossError("The tree of a view's group is damaged"); }

}  // namespace

absl::StatusOr<GroupTree::Merged> GroupTree::Refresh(const GroupId& group,
                                                     absl::Span<const ContributorChange> changes) {
  const std::string prefix = GroupPrefix(group);
  SONDE_TRY_SET(const Small small, MergeSmall(prefix));
  if (small.depth == 0 && !small.is_large) return small.merged;
  int depth = std::max(small.depth, 1);
  bool grows = small.depth == 0;
  if (!grows) {
    SONDE_TRY_SET(const uint64_t fullest, RefreshNodes(prefix, depth, changes));
    grows = fullest > 2 * shape_.FanOut() && depth < TreeShape::kDepthMax;
    if (grows) ++depth;
  }
  if (grows) SONDE_TRY(Rebuild(prefix, depth));
  SONDE_TRY_SET(const NodeState root, Merge(ChildrenOfNode(shape_, prefix, 0, 0), /*of_nodes=*/true));
  if (root.contributors == 0) SONDE_TRY(Forget(prefix));
  return Merged{root.contributors, root.has_failed};
}

absl::StatusOr<GroupTree::Small> GroupTree::MergeSmall(std::string_view prefix) {
  Small small;
  NodeState node;
  merger_->Clear();
  const auto visit = [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
    if (IsTreeDepthKey(prefix, key)) {
      if (value.size() != 1 || value[0] < 1 || value[0] > TreeShape::kDepthMax) return DamagedTree();
      small.depth = value[0];
      return false;
    }
    small.is_large = node.contributors == shape_.FanOut();
    if (small.is_large) return false;
    SONDE_TRY(Add(value, /*is_node=*/false, &node));
    return true;
  };
  SONDE_TRY(rows_->Scan({RowRange::Single(TreeDepthKey(prefix)), ContributorsOf(prefix)}, visit));
  small.merged = {node.contributors, node.has_failed};
  return small;
}

absl::Status GroupTree::Add(std::string_view value, bool is_node, NodeState* node) {
  NodeState child{.has_failed = false, .contributors = 1, .state = ""};
  if (is_node && !DecodeNode(value, &child)) return DamagedTree();
  node->contributors += child.contributors;
  node->has_failed = node->has_failed || child.has_failed;
  if (node->has_failed) return absl::OkStatus();
  const absl::Status added = merger_->Add(is_node ? std::string_view(child.state) : value);
  if (added.ok() || absl::IsDataLoss(added)) return added;
  node->has_failed = true;
  return absl::OkStatus();
}

absl::StatusOr<NodeState> GroupTree::Merge(const RowRange& range, bool of_nodes) {
  NodeState node;
  merger_->Clear();
  const auto visit = [&](std::string_view, std::string_view value) -> absl::StatusOr<bool> {
    SONDE_TRY(Add(value, of_nodes, &node));
    return true;
  };
  SONDE_TRY(rows_->Scan({range}, visit));
  return node;
}

absl::Status GroupTree::WriteNode(std::string_view prefix, int level, uint64_t node_prefix,
                                  const NodeState& node) {
  std::string key = NodeKey(prefix, level, node_prefix);
  if (node.contributors == 0) {
    rows_->Delete(std::move(key));
  } else {
    NodeState written = node;
    if (!node.has_failed) written.state = merger_->Save();
    rows_->Put(std::move(key), EncodeNode(written));
  }
  return rows_->waiting_bytes() < kCommitBytes ? absl::OkStatus() : rows_->Commit();
}

absl::StatusOr<uint64_t> GroupTree::RefreshNodes(std::string_view prefix, int depth,
                                                 absl::Span<const ContributorChange> changes) {
  SONDE_TRY_SET(const uint64_t fullest, RefreshLevel(prefix, depth, /*of_nodes=*/false, changes));
  for (int level = depth - 1; level >= 1; --level)
    SONDE_TRY(RefreshLevel(prefix, level, /*of_nodes=*/true, changes).status());
  return fullest;
}

absl::StatusOr<uint64_t> GroupTree::RefreshLevel(std::string_view prefix, int level, bool of_nodes,
                                                 absl::Span<const ContributorChange> changes) {
  std::vector<ChangedNode> grown;
  std::vector<ChangedNode> changed;
  for (size_t first = 0; first < changes.size();) {
    const uint64_t node = shape_.Prefix(changes[first].hash, level);
    size_t end = first;
    bool only_grows = true;
    for (; end < changes.size() && shape_.Prefix(changes[end].hash, level) == node; ++end)
      only_grows &= changes[end].added.has_value();
    (only_grows ? grown : changed).push_back({node, changes.subspan(first, end - first)});
    first = end;
  }
  uint64_t fullest = 0;
  SONDE_TRY(ExtendNodes(prefix, level, grown, &fullest));
  SONDE_TRY(MakeNodes(prefix, level, of_nodes, changed, &fullest));
  SONDE_TRY(rows_->Commit());
  return fullest;
}

absl::Status GroupTree::ExtendNodes(std::string_view prefix, int level, absl::Span<const ChangedNode> nodes,
                                    uint64_t* fullest) {
  std::vector<RowRange> ranges;
  for (const ChangedNode& node : nodes)
    ranges.push_back(RowRange::Single(NodeKey(prefix, level, node.prefix)));
  size_t at = 0;
  // `value`: the node as it was; nothing: it is new.
  const auto extend = [&](std::optional<std::string_view> value) -> absl::Status {
    NodeState node;
    merger_->Clear();
    if (value.has_value()) SONDE_TRY(Add(*value, /*is_node=*/true, &node));
    for (const ContributorChange& change : nodes[at].changes)
      SONDE_TRY(Add(*change.added, /*is_node=*/false, &node));
    *fullest = std::max(*fullest, node.contributors);
    return WriteNode(prefix, level, nodes[at++].prefix, node);
  };
  const auto visit = [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
    while (nodes[at].prefix != HashOfNodeKey(key)) SONDE_TRY(extend(std::nullopt));
    SONDE_TRY(extend(value));
    return true;
  };
  SONDE_TRY(rows_->Scan(NormalizeRanges(std::move(ranges)), visit));
  while (at < nodes.size()) SONDE_TRY(extend(std::nullopt));
  return absl::OkStatus();
}

absl::Status GroupTree::MakeNodes(std::string_view prefix, int level, bool of_nodes,
                                  absl::Span<const ChangedNode> nodes, uint64_t* fullest) {
  std::vector<RowRange> ranges;
  for (const ChangedNode& node : nodes) {
    ranges.push_back(of_nodes ? ChildrenOfNode(shape_, prefix, level, node.prefix)
                              : ContributorsOfNode(shape_, prefix, level, node.prefix));
  }
  size_t at = 0;
  NodeState node;
  merger_->Clear();
  const auto finish = [&]() -> absl::Status {
    *fullest = std::max(*fullest, node.contributors);
    SONDE_TRY(WriteNode(prefix, level, nodes[at++].prefix, node));
    node = {};
    merger_->Clear();
    return absl::OkStatus();
  };
  // One scan of all ranges: to begin one costs as much as many states.
  const auto visit = [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
    const uint64_t hash = of_nodes ? HashOfNodeKey(key) : HashOfContributorKey(prefix, key);
    while (nodes[at].prefix != shape_.Prefix(hash, level)) SONDE_TRY(finish());
    SONDE_TRY(Add(value, of_nodes, &node));
    return true;
  };
  SONDE_TRY(rows_->Scan(NormalizeRanges(std::move(ranges)), visit));
  while (at < nodes.size()) SONDE_TRY(finish());
  return absl::OkStatus();
}

absl::Status GroupTree::Rebuild(std::string_view prefix, int depth) {
  while (true) {
    // Without its depth there is no tree, so that half a tree is never taken for one.
    SONDE_TRY(Forget(prefix));
    SONDE_TRY_SET(const uint64_t fullest, MakeLevel(prefix, depth, /*of_nodes=*/false));
    if (fullest <= 2 * shape_.FanOut() || depth == TreeShape::kDepthMax) break;
    ++depth;
  }
  for (int level = depth - 1; level >= 1; --level)
    SONDE_TRY(MakeLevel(prefix, level, /*of_nodes=*/true).status());
  rows_->Put(TreeDepthKey(prefix), std::string(1, static_cast<char>(depth)));
  return rows_->Commit();
}

absl::StatusOr<uint64_t> GroupTree::MakeLevel(std::string_view prefix, int level, bool of_nodes) {
  uint64_t fullest = 0;
  std::optional<uint64_t> at;
  NodeState node;
  const auto finish = [&]() -> absl::Status {
    fullest = std::max(fullest, node.contributors);
    if (at.has_value()) SONDE_TRY(WriteNode(prefix, level, *at, node));
    node = {};
    merger_->Clear();
    return absl::OkStatus();
  };
  merger_->Clear();
  const auto visit = [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
    const uint64_t hash = of_nodes ? HashOfNodeKey(key) : HashOfContributorKey(prefix, key);
    if (at != shape_.Prefix(hash, level)) {
      SONDE_TRY(finish());
      at = shape_.Prefix(hash, level);
    }
    SONDE_TRY(Add(value, of_nodes, &node));
    return true;
  };
  SONDE_TRY(rows_->Scan({of_nodes ? NodesOfLevel(prefix, level + 1) : ContributorsOf(prefix)}, visit));
  SONDE_TRY(finish());
  SONDE_TRY(rows_->Commit());
  return fullest;
}

absl::Status GroupTree::Forget(std::string_view prefix) {
  rows_->Delete(TreeDepthKey(prefix));
  SONDE_TRY(rows_->Commit());
  return rows_->DropRange(NodesOf(prefix));
}

}  // namespace sonde::sql
