#include "hbase/wire/table_messages.h"

#include "hbase/wire/message_parts.h"

namespace sonde::hbase {
namespace {

constexpr int kByEncodedName = 2;
constexpr int kNotFound = 0;
constexpr int kFinished = 2;
constexpr uint64_t kMebibyte = uint64_t{1} << 20;

void SetTable(pb::TableName* out, const TableName& table) {
  out->set_namespace_(table.space);
  out->set_qualifier(table.name);
}

template <typename Request>
void SetNonce(Request* request, const Nonce& nonce) {
  request->set_nonce_group(nonce.group);
  request->set_nonce(nonce.value);
}

// Of a family, or of a table.
template <typename Schema>
void SetAttributes(Schema* out, const std::map<std::string, std::string>& attributes) {
  for (const auto& [name, value] : attributes) {
    pb::BytesBytesPair* const attribute = out->add_attributes();
    attribute->set_first(name);
    attribute->set_second(value);
  }
}

void SetFamily(pb::ColumnFamilySchema* out, const FamilySchema& family) {
  out->set_name(family.name);
  SetAttributes(out, family.attributes);
}

void SetInfo(pb::RegionInfo* out, const Region& region) {
  out->set_region_id(region.id);
  SetTable(out->mutable_table_name(), region.table);
  out->set_start_key(region.start_key);
  out->set_end_key(region.end_key);
  out->set_offline(false);
  out->set_split(false);
  out->set_replica_id(0);
}

template <typename Request>
Request RequestFor(std::string_view region) {
  Request request;
  SetRegion(request.mutable_region(), region);
  return request;
}

}  // namespace

std::string CreateNamespaceMessage(std::string_view space, const Nonce& nonce) {
  pb::CreateNamespaceRequest request;
  request.mutable_namespace_descriptor()->set_name(std::string(space));
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

absl::StatusOr<std::vector<std::string>> ParseNamespaces(std::string_view message) {
  pb::ListNamespacesResponse answer;
  if (!Parse(message, &answer)) return BadMessage("ListNamespaces does not parse");
  return std::vector<std::string>(answer.namespace_name().begin(), answer.namespace_name().end());
}

std::string CreateTableMessage(const TableSchema& schema, const std::vector<std::string>& split_keys,
                               const Nonce& nonce) {
  pb::CreateTableRequest request;
  SetTable(request.mutable_table_schema()->mutable_table_name(), schema.table);
  for (const FamilySchema& family : schema.families)
    SetFamily(request.mutable_table_schema()->add_column_families(), family);
  SetAttributes(request.mutable_table_schema(), schema.attributes);
  for (const std::string& key : split_keys) request.add_split_keys(key);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string TableMessage(const TableName& table, const Nonce& nonce) {
  pb::TableRequest request;
  SetTable(request.mutable_table_name(), table);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string AddFamilyMessage(const TableName& table, const FamilySchema& family, const Nonce& nonce) {
  pb::AddColumnRequest request;
  SetTable(request.mutable_table_name(), table);
  SetFamily(request.mutable_column_families(), family);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string ModifyFamilyMessage(const TableName& table, const FamilySchema& family, const Nonce& nonce) {
  pb::ModifyColumnRequest request;
  SetTable(request.mutable_table_name(), table);
  SetFamily(request.mutable_column_families(), family);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string DropFamilyMessage(const TableName& table, std::string_view family, const Nonce& nonce) {
  pb::DeleteColumnRequest request;
  SetTable(request.mutable_table_name(), table);
  request.set_column_name(std::string(family));
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string TruncateTableMessage(const TableName& table, bool keeps_splits, const Nonce& nonce) {
  pb::TruncateTableRequest request;
  SetTable(request.mutable_table_name(), table);
  request.set_preserve_splits(keeps_splits);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string TruncateRegionMessage(const Region& region, const Nonce& nonce) {
  pb::TruncateRegionRequest request;
  SetInfo(request.mutable_region_info(), region);
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string SplitRegionMessage(const Region& region, std::string_view at_row, const Nonce& nonce) {
  pb::SplitTableRegionRequest request;
  SetInfo(request.mutable_region_info(), region);
  request.set_split_row(std::string(at_row));
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

std::string MoveRegionMessage(const Region& region, const std::optional<ServerAddress>& to,
                              uint64_t to_start_code) {
  pb::MoveRegionRequest request;
  request.mutable_region()->set_type(kByEncodedName);
  request.mutable_region()->set_value(region.EncodedName());
  if (to.has_value()) {
    request.mutable_dest_server_name()->set_host_name(to->host);
    request.mutable_dest_server_name()->set_port(to->port);
    request.mutable_dest_server_name()->set_start_code(to_start_code);
  }
  return request.SerializeAsString();
}

std::string TableSchemasMessage(std::string_view space, std::string_view name) {
  pb::GetTableDescriptorsRequest request;
  if (name.empty()) {
    request.set_namespace_(std::string(space));
  } else {
    SetTable(request.add_table_names(), {std::string(space), std::string(name)});
  }
  return request.SerializeAsString();
}

absl::StatusOr<std::vector<TableSchema>> ParseTableSchemas(std::string_view message) {
  pb::GetTableDescriptorsResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetTableDescriptors does not parse");
  std::vector<TableSchema> tables;
  for (const pb::TableSchema& table : answer.table_schema()) {
    TableSchema& schema = tables.emplace_back();
    schema.table = {table.table_name().namespace_(), table.table_name().qualifier()};
    for (const pb::BytesBytesPair& attribute : table.attributes())
      schema.attributes[attribute.first()] = attribute.second();
    for (const pb::ColumnFamilySchema& family : table.column_families()) {
      FamilySchema& one = schema.families.emplace_back();
      one.name = family.name();
      for (const pb::BytesBytesPair& attribute : family.attributes())
        one.attributes[attribute.first()] = attribute.second();
    }
  }
  return tables;
}

absl::StatusOr<std::optional<uint64_t>> ParseProcedure(std::string_view message) {
  pb::ProcedureResponse answer;
  if (!Parse(message, &answer)) return BadMessage("the number of a procedure does not parse");
  if (!answer.has_proc_id()) return std::nullopt;
  return answer.proc_id();
}

std::string ProcedureStateMessage(uint64_t procedure) {
  pb::GetProcedureResultRequest request;
  request.set_proc_id(procedure);
  return request.SerializeAsString();
}

absl::StatusOr<ProcedureState> ParseProcedureState(std::string_view message) {
  pb::GetProcedureResultResponse answer;
  if (!Parse(message, &answer)) return BadMessage("getProcedureResult does not parse");
  ProcedureState state;
  state.is_known = answer.state() != kNotFound;
  state.has_ended = !state.is_known || answer.state() == kFinished;
  if (answer.has_exception()) {
    const pb::GenericExceptionMessage& why = answer.exception().generic_exception();
    state.failure = FailureOfException(why.class_name(), why.message());
  }
  return state;
}

std::string SnapshotMessage(std::string_view snapshot, const TableName& table, const Nonce& nonce) {
  pb::SnapshotRequest request;
  request.mutable_snapshot()->set_name(std::string(snapshot));
  if (!table.name.empty()) request.mutable_snapshot()->set_table(table.Text());
  SetNonce(&request, nonce);
  return request.SerializeAsString();
}

absl::StatusOr<std::optional<uint64_t>> ParseSnapshotProcedure(std::string_view message) {
  pb::SnapshotResponse answer;
  if (!Parse(message, &answer)) return BadMessage("Snapshot does not parse");
  if (!answer.has_proc_id()) return std::nullopt;
  return answer.proc_id();
}

absl::StatusOr<std::vector<SnapshotFacts>> ParseSnapshots(std::string_view message) {
  pb::GetCompletedSnapshotsResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetCompletedSnapshots does not parse");
  std::vector<SnapshotFacts> snapshots;
  for (const pb::SnapshotDescription& snapshot : answer.snapshots()) {
    const std::string& table = snapshot.table();
    const size_t colon = table.find(':');
    const bool has_space = colon != std::string::npos;
    snapshots.push_back({snapshot.name(), has_space
                                              ? TableName{table.substr(0, colon), table.substr(colon + 1)}
                                              : TableName{"default", table}});
  }
  return snapshots;
}

std::string FlushRegionMessage(std::string_view region) {
  return RequestFor<pb::FlushRegionRequest>(region).SerializeAsString();
}

std::string CompactRegionMessage(std::string_view region, std::string_view family, bool major) {
  auto request = RequestFor<pb::CompactRegionRequest>(region);
  request.set_major(major);
  if (!family.empty()) request.set_family(std::string(family));
  return request.SerializeAsString();
}

std::string RegionInfoMessage(std::string_view region) {
  auto request = RequestFor<pb::GetRegionInfoRequest>(region);
  request.set_with_compaction_state(true);
  request.set_with_best_split_row(true);
  return request.SerializeAsString();
}

absl::StatusOr<RegionState> ParseRegionState(std::string_view message) {
  pb::GetRegionInfoResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetRegionInfo does not parse");
  return RegionState{answer.compaction_state() != 0, answer.best_split_row()};
}

absl::StatusOr<ClusterState> ParseClusterState(std::string_view message) {
  pb::GetClusterStatusResponse answer;
  if (!Parse(message, &answer)) return BadMessage("GetClusterStatus does not parse");
  const pb::ClusterStatus& status = answer.cluster_status();
  ClusterState state;
  state.version = status.hbase_version().version();
  state.dead_servers = static_cast<size_t>(status.dead_servers_size());
  for (const pb::LiveServerInfo& live : status.live_servers()) {
    ServerLoad& server = state.servers.emplace_back();
    server.address = {live.server().host_name(), static_cast<uint16_t>(live.server().port())};
    server.start_code = live.server().start_code();
    server.heap_bytes = live.server_load().used_heap_mb() * kMebibyte;
    server.heap_bytes_max = live.server_load().max_heap_mb() * kMebibyte;
    for (const pb::RegionLoad& load : live.server_load().region_loads()) {
      server.regions.push_back({load.region_specifier().value(), load.storefile_size_mb() * kMebibyte,
                                load.mem_store_size_mb() * kMebibyte, load.read_requests_count(),
                                load.write_requests_count()});
    }
  }
  return state;
}

}  // namespace sonde::hbase
