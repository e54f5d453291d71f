// What is said to a master of tables and to a server of its regions: messages as bytes.
//
// Changes that the master makes step by step are procedures: the answer names one, and ProcedureState says how far it is.  A nonce
// makes a repeated call begin no second procedure.
//
// Pure: no state, no clock.  Errors of all parsers: DATA_LOSS, the bytes are no such message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "hbase/wire/failure.h"
#include "hbase/wire/names.h"

namespace sonde::hbase {

struct FamilySchema {
  std::string name;
  std::map<std::string, std::string> attributes;  // as HBase writes them: {"VERSIONS", "3"}
  bool operator==(const FamilySchema&) const = default;
};
struct TableSchema {
  TableName table;
  std::vector<FamilySchema> families;
  std::map<std::string, std::string> attributes = {};  // of the table itself
  bool operator==(const TableSchema&) const = default;
};

struct Nonce {
  uint64_t group = 0;  // of a client, for as long as it lives
  uint64_t value = 0;  // of a call
};

std::string CreateNamespaceMessage(std::string_view space, const Nonce& nonce);
absl::StatusOr<std::vector<std::string>> ParseNamespaces(std::string_view message);  // of ListNamespaces
// `split_keys` ascend, and none is empty.
std::string CreateTableMessage(const TableSchema& schema, const std::vector<std::string>& split_keys,
                               const Nonce& nonce);
// DisableTable, EnableTable, DeleteTable.
std::string TableMessage(const TableName& table, const Nonce& nonce);
std::string AddFamilyMessage(const TableName& table, const FamilySchema& family, const Nonce& nonce);
std::string ModifyFamilyMessage(const TableName& table, const FamilySchema& family, const Nonce& nonce);
std::string DropFamilyMessage(const TableName& table, std::string_view family, const Nonce& nonce);
std::string TruncateTableMessage(const TableName& table, bool keeps_splits, const Nonce& nonce);
std::string TruncateRegionMessage(const Region& region, const Nonce& nonce);
std::string SplitRegionMessage(const Region& region, std::string_view at_row, const Nonce& nonce);
// nullopt: the master chooses.
std::string MoveRegionMessage(const Region& region, const std::optional<ServerAddress>& to,
                              uint64_t to_start_code);
// Which tables of a namespace there are (`name` empty), or how one of them is.
std::string TableSchemasMessage(std::string_view space, std::string_view name);
absl::StatusOr<std::vector<TableSchema>> ParseTableSchemas(std::string_view message);

// nullopt: the change has begun no procedure.
absl::StatusOr<std::optional<uint64_t>> ParseProcedure(std::string_view message);
std::string ProcedureStateMessage(uint64_t procedure);
struct ProcedureState {
  bool has_ended = false;
  bool is_known = true;  // false: it ended long ago, or never was
  std::optional<Failure> failure;
};
absl::StatusOr<ProcedureState> ParseProcedureState(std::string_view message);

// Snapshot; RestoreSnapshot, which makes the table of the snapshot; DeleteSnapshot, for which the table may be without a name.  With a
// nonce Snapshot is a procedure; without one HBase makes it in another way.
std::string SnapshotMessage(std::string_view snapshot, const TableName& table, const Nonce& nonce);
absl::StatusOr<std::optional<uint64_t>> ParseSnapshotProcedure(std::string_view message);
struct SnapshotFacts {
  std::string name;
  TableName table;  // of which it is; the table may be gone
  bool operator==(const SnapshotFacts&) const = default;
};
absl::StatusOr<std::vector<SnapshotFacts>> ParseSnapshots(
    std::string_view message);  // of GetCompletedSnapshots

// --- To the server of a region.
std::string FlushRegionMessage(std::string_view region);
// `family` empty: of all.
std::string CompactRegionMessage(std::string_view region, std::string_view family, bool major);
std::string RegionInfoMessage(std::string_view region);
struct RegionState {
  bool is_compacting = false;
  std::string best_split_row;  // empty: HBase knows none
};
absl::StatusOr<RegionState> ParseRegionState(std::string_view message);

// --- The cluster as its master sees it; a few seconds old.
struct RegionLoad {
  std::string name;
  uint64_t file_bytes = 0;  // whole MiB
  uint64_t memory_bytes = 0;
  uint64_t reads = 0;  // since the region was opened
  uint64_t writes = 0;
};
struct ServerLoad {
  ServerAddress address;
  uint64_t start_code = 0;
  uint64_t heap_bytes = 0;
  uint64_t heap_bytes_max = 0;
  std::vector<RegionLoad> regions;
};
struct ClusterState {
  std::string version;  // of HBase
  std::vector<ServerLoad> servers;
  size_t dead_servers = 0;
};
absl::StatusOr<ClusterState> ParseClusterState(std::string_view message);  // of GetClusterStatus

}  // namespace sonde::hbase
