#include "sql/view/state/state_keys.h"

#include <limits>

#include "base/bytes.h"
#include "base/varint.h"
#include "sql/key/row_key_codec.h"

namespace sonde::sql {
namespace {

constexpr char kSource = 's';
constexpr char kFrozen = 'f';
constexpr char kGroup = 'g';
constexpr char kTreeDepth = 0;
constexpr char kTreeNode = 1;
constexpr char kContributor = 2;

std::string WithSource(char kind, std::string_view source_key) {
  return std::string(1, kind).append(source_key);
}

RowRange OfSources(char kind, const RowRange& source_keys) {
  return {WithSource(kind, source_keys.start), source_keys.end.empty()
                                                   ? std::string(1, static_cast<char>(kind + 1))
                                                   : WithSource(kind, source_keys.end)};
}

std::string WithHash(std::string_view group_prefix, char kind, uint64_t hash) {
  std::string key(group_prefix);
  key.push_back(kind);
  PutFixed64(&key, hash);
  return key;
}

std::string NodeOfHash(std::string_view group_prefix, int level, uint64_t hash) {
  std::string key(group_prefix);
  key.push_back(kTreeNode);
  key.push_back(static_cast<char>(level));
  PutFixed64(&key, hash);
  return key;
}

}  // namespace

uint64_t TreeShape::Prefix(uint64_t hash, int level) const { return hash & ~LastOf(0, level); }

uint64_t TreeShape::LastOf(uint64_t prefix, int level) const {
  return prefix | std::numeric_limits<uint64_t>::max() >> bits * level;
}

uint64_t StateHash(std::string_view source_key) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : source_key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  // The first bits of FNV-1a hardly depend on the last bytes: they are mixed (MurmurHash3's finalizer).
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
  return hash ^ hash >> 33;
}

std::string CheckpointKey() { return "c"; }

std::string SourceStateKey(std::string_view source_key) { return WithSource(kSource, source_key); }

std::string FrozenShareKey(std::string_view source_key) { return WithSource(kFrozen, source_key); }

std::string_view SourceOfStateKey(std::string_view key) { return key.substr(1); }

RowRange SourceStates(const RowRange& source_keys) { return OfSources(kSource, source_keys); }

RowRange FrozenShareKeys(const RowRange& source_keys) { return OfSources(kFrozen, source_keys); }

std::string GroupPrefix(const GroupId& group) {
  std::string prefix(1, kGroup);
  AppendOrderedCode(group.row_key, &prefix);
  prefix.append(kOrderedCodeSeparator);
  PutFixed64(&prefix, static_cast<uint64_t>(group.micros));
  return prefix;
}

std::string TreeDepthKey(std::string_view group_prefix) {
  std::string key(group_prefix);
  key.push_back(kTreeDepth);
  return key;
}

bool IsTreeDepthKey(std::string_view group_prefix, std::string_view key) {
  return key.size() == group_prefix.size() + 1 && key.back() == kTreeDepth;
}

std::string NodeKey(std::string_view group_prefix, int level, uint64_t prefix) {
  return NodeOfHash(group_prefix, level, prefix);
}

std::string ContributorKey(std::string_view group_prefix, std::string_view source_key) {
  return WithHash(group_prefix, kContributor, StateHash(source_key)).append(source_key);
}

uint64_t HashOfContributorKey(std::string_view group_prefix, std::string_view key) {
  std::string_view rest = key.substr(group_prefix.size() + 1);
  uint64_t hash = 0;
  return GetFixed64(&rest, &hash) ? hash : 0;
}

uint64_t HashOfNodeKey(std::string_view key) {
  std::string_view rest = key.substr(key.size() - sizeof(uint64_t));
  uint64_t hash = 0;
  return GetFixed64(&rest, &hash) ? hash : 0;
}

RowRange NodesOfLevel(std::string_view group_prefix, int level) {
  std::string prefix(group_prefix);
  prefix.push_back(kTreeNode);
  prefix.push_back(static_cast<char>(level));
  return RowRange::Prefix(prefix);
}

RowRange NodesOf(std::string_view group_prefix) {
  return {std::string(group_prefix) + kTreeNode, std::string(group_prefix) + kContributor};
}

RowRange ContributorsOf(std::string_view group_prefix) {
  return RowRange::Prefix(std::string(group_prefix) + kContributor);
}

RowRange ContributorsOfNode(const TreeShape& shape, std::string_view group_prefix, int level,
                            uint64_t prefix) {
  RowRange range{WithHash(group_prefix, kContributor, prefix), ""};
  range.end = RowRange::Prefix(WithHash(group_prefix, kContributor, shape.LastOf(prefix, level))).end;
  return range;
}

RowRange ChildrenOfNode(const TreeShape& shape, std::string_view group_prefix, int level, uint64_t prefix) {
  return {NodeOfHash(group_prefix, level + 1, prefix),
          Successor(NodeOfHash(group_prefix, level + 1, shape.LastOf(prefix, level)))};
}

std::string EncodeGroups(const std::vector<GroupId>& groups) {
  std::string bytes;
  for (const GroupId& group : groups) {
    PutBytes(&bytes, group.row_key);
    PutVarint(&bytes, static_cast<uint64_t>(group.micros));
  }
  return bytes;
}

bool DecodeGroups(std::string_view bytes, std::vector<GroupId>* groups) {
  groups->clear();
  while (!bytes.empty()) {
    std::string_view row_key;
    uint64_t micros = 0;
    if (!GetBytes(&bytes, &row_key) || !GetVarint(&bytes, &micros) || micros > INT64_MAX) return false;
    groups->push_back({std::string(row_key), static_cast<int64_t>(micros)});
  }
  return true;
}

std::string EncodeNode(const NodeState& node) {
  std::string bytes(1, node.has_failed ? '\1' : '\0');
  PutVarint(&bytes, node.contributors);
  return bytes.append(node.state);
}

bool DecodeNode(std::string_view bytes, NodeState* node) {
  if (bytes.empty() || bytes[0] > 1) return false;
  node->has_failed = bytes[0] == 1;
  bytes.remove_prefix(1);
  if (!GetVarint(&bytes, &node->contributors)) return false;
  node->state = bytes;
  return true;
}

}  // namespace sonde::sql
