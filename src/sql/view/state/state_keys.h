// The keys of a view's hidden state.
//
// Format (docs/formats/view-state.md):
//   "c"                              the checkpoint
//   "s" source key                   the groups of a row of the source
//   "f" source key                   what a row of the source gave by cells that have expired (frozen_shares.h)
//   "g" group 00                     of a large group: the depth of its tree
//   "g" group 01 level prefix        a node of that tree: the merged state of the contributors whose hashes begin so
//   "g" group 02 hash source key     the state that one row of the source contributes
// A group is the row key of the view as an ordered code, 00 01, and 8 bytes of its time.  A hash is that of the source
// key, 8 bytes; a prefix is a hash of which only the first bits count, 7 a level.  So the contributors of a node are a range.
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_range.h"
#include "sql/view/view_row.h"

namespace sonde::sql {

// How trees divide their groups.  A view has one shape as long as it exists.
struct TreeShape {
  int bits = 7;  // of the hash on each level; fewer are for tests
  static constexpr int kDepthMax = 5;

  // A node has about so many children, and a group of more contributors has a tree.
  uint64_t FanOut() const { return uint64_t{1} << bits; }
  // The part of a hash that counts on a level, and the last hash that begins so.
  uint64_t Prefix(uint64_t hash, int level) const;
  uint64_t LastOf(uint64_t prefix, int level) const;
};

// The same on every machine and in every version.
uint64_t StateHash(std::string_view source_key);

std::string CheckpointKey();
std::string SourceStateKey(std::string_view source_key);
std::string FrozenShareKey(std::string_view source_key);
// The source key of such a key, of either kind.
std::string_view SourceOfStateKey(std::string_view key);
RowRange SourceStates(const RowRange& source_keys);
RowRange FrozenShareKeys(const RowRange& source_keys);

// All keys of a group begin so.
std::string GroupPrefix(const GroupId& group);
std::string TreeDepthKey(std::string_view group_prefix);
bool IsTreeDepthKey(std::string_view group_prefix, std::string_view key);
std::string NodeKey(std::string_view group_prefix, int level, uint64_t prefix);
std::string ContributorKey(std::string_view group_prefix, std::string_view source_key);
// The hash in such a key.
uint64_t HashOfContributorKey(std::string_view group_prefix, std::string_view key);

uint64_t HashOfNodeKey(std::string_view key);

RowRange NodesOf(std::string_view group_prefix);
RowRange NodesOfLevel(std::string_view group_prefix, int level);
RowRange ContributorsOf(std::string_view group_prefix);
// What is merged into a node: the contributors, or the nodes of the level below.
RowRange ContributorsOfNode(const TreeShape& shape, std::string_view group_prefix, int level,
                            uint64_t prefix);
RowRange ChildrenOfNode(const TreeShape& shape, std::string_view group_prefix, int level, uint64_t prefix);

// The groups of a row of the source.
std::string EncodeGroups(const std::vector<GroupId>& groups);
[[nodiscard]] bool DecodeGroups(std::string_view bytes, std::vector<GroupId>* groups);

// The value of a node.
struct NodeState {
  bool has_failed = false;    // the states do not go together
  uint64_t contributors = 0;  // below it
  std::string state;
};
std::string EncodeNode(const NodeState& node);
[[nodiscard]] bool DecodeNode(std::string_view bytes, NodeState* node);

}  // namespace sonde::sql
