#include "hbase/tables.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/random.h"

namespace sonde::hbase {
namespace {

constexpr absl::Duration kPollMin = absl::Milliseconds(20);
constexpr absl::Duration kPollMax = absl::Milliseconds(500);

uint64_t DrawNonceGroup() {
  SystemRandom random;
  return random.Next() | 1;  // 0 means that there is none
}

}  // namespace

Tables::Tables(Servers* servers, Regions* regions, absl::Duration timeout)
    : servers_(servers), regions_(regions), timeout_(timeout), nonce_group_(DrawNonceGroup()) {}

absl::StatusOr<std::string> Tables::CallMaster(std::string_view method, const std::string& message,
                                               absl::Time deadline) {
  Attempts attempts(deadline, timeout_);
  Failure last;
  bool may_be_done = false;
  do {
    const absl::StatusOr<ServerAddress> master = regions_->Master(deadline);
    if (!master.ok()) return master.status();
    const CallResult result =
        servers_->Call({*master, kMasterService, method, message}, attempts.TimeForOne());
    if (!result.failure.has_value()) return std::string(result.answer.parameter());
    last = *result.failure;
    // A master that only waits to become the active one says that it is not running yet.
    if (last.remedy != Remedy::kNone) regions_->ForgetMaster();
    may_be_done |= last.may_be_done;
  } while (attempts.WaitAfter(last));
  last.may_be_done = may_be_done;
  return attempts.Over(last, true);
}

absl::Status Tables::WaitForProcedure(std::string_view method, uint64_t procedure, absl::Time deadline) {
  const std::string name = std::string(method);
  absl::Duration wait = kPollMin;
  while (true) {
    const absl::StatusOr<std::string> answer =
        CallMaster("getProcedureResult", ProcedureStateMessage(procedure), deadline);
    if (!answer.ok())
      return absl::UnknownError("Nobody knows the end of " + name + ": " +
                                std::string(answer.status().message()));
    const absl::StatusOr<ProcedureState> state = ParseProcedureState(*answer);
    if (!state.ok()) return state.status();
    if (state->failure.has_value()) {
      Failure failure = *state->failure;
      failure.may_be_done = false;  // HBase has taken it back
      return StatusOf(failure, true);
    }
    if (!state->is_known) return absl::UnknownError("HBase has forgotten the end of " + name);
    if (state->has_ended) return absl::OkStatus();
    if (absl::Now() + wait >= deadline)
      return absl::UnknownError("HBase has begun " + name + ", which had not ended at the deadline");
    absl::SleepFor(wait);
    wait = std::min(wait * 2, kPollMax);
  }
}

absl::Status Tables::Change(std::string_view method, const std::string& message, absl::Time deadline) {
  const absl::StatusOr<std::string> answer = CallMaster(method, message, deadline);
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<std::optional<uint64_t>> procedure = ParseProcedure(*answer);
  if (!procedure.ok()) return procedure.status();
  if (!procedure->has_value()) return absl::OkStatus();
  return WaitForProcedure(method, **procedure, deadline);
}

absl::Status Tables::CreateNamespace(std::string_view space, absl::Time deadline) {
  return Change("CreateNamespace", CreateNamespaceMessage(space, NewNonce()), deadline);
}

absl::StatusOr<std::vector<std::string>> Tables::Namespaces(absl::Time deadline) {
  const absl::StatusOr<std::string> answer = CallMaster("ListNamespaces", {}, deadline);
  if (!answer.ok()) return answer.status();
  return ParseNamespaces(*answer);
}

absl::Status Tables::Create(const TableSchema& schema, const std::vector<std::string>& split_keys,
                            absl::Time deadline) {
  return Change("CreateTable", CreateTableMessage(schema, split_keys, NewNonce()), deadline);
}

absl::Status Tables::Drop(const TableName& table, absl::Time deadline) {
  const absl::Status disabled = Change("DisableTable", TableMessage(table, NewNonce()), deadline);
  // Somebody who began to drop it did not come to the end.
  if (!disabled.ok() && !absl::IsFailedPrecondition(disabled)) return disabled;
  const absl::Status dropped = Change("DeleteTable", TableMessage(table, NewNonce()), deadline);
  regions_->ForgetTable(table);
  return dropped;
}

absl::Status Tables::AddFamily(const TableName& table, const FamilySchema& family, absl::Time deadline) {
  return Change("AddColumn", AddFamilyMessage(table, family, NewNonce()), deadline);
}

absl::Status Tables::ModifyFamily(const TableName& table, const FamilySchema& family, absl::Time deadline) {
  absl::StatusOr<TableSchema> now = Describe(table, deadline);
  if (!now.ok()) return now.status();
  const auto found = std::find_if(now->families.begin(), now->families.end(),
                                  [&](const FamilySchema& one) { return one.name == family.name; });
  if (found == now->families.end())
    return absl::FailedPreconditionError("HBase's table " + table.Text() + " has no family " + family.name);
  for (const auto& [name, value] : family.attributes) found->attributes[name] = value;
  return Change("ModifyColumn", ModifyFamilyMessage(table, *found, NewNonce()), deadline);
}

absl::Status Tables::DropFamily(const TableName& table, std::string_view family, absl::Time deadline) {
  return Change("DeleteColumn", DropFamilyMessage(table, family, NewNonce()), deadline);
}

absl::Status Tables::Truncate(const TableName& table, bool keeps_splits, absl::Time deadline) {
  const absl::Status disabled = Change("DisableTable", TableMessage(table, NewNonce()), deadline);
  if (!disabled.ok() && !absl::IsFailedPrecondition(disabled)) return disabled;
  const absl::Status emptied =
      Change("truncateTable", TruncateTableMessage(table, keeps_splits, NewNonce()), deadline);
  regions_->ForgetTable(table);
  return emptied;
}

absl::StatusOr<TableSchema> Tables::Describe(const TableName& table, absl::Time deadline) {
  const absl::StatusOr<std::string> answer =
      CallMaster("GetTableDescriptors", TableSchemasMessage(table.space, table.name), deadline);
  if (!answer.ok()) return answer.status();
  absl::StatusOr<std::vector<TableSchema>> tables = ParseTableSchemas(*answer);
  if (!tables.ok()) return tables.status();
  if (tables->empty()) return absl::NotFoundError("HBase has no table " + table.Text());
  return std::move(tables->front());
}

absl::StatusOr<std::vector<TableSchema>> Tables::List(std::string_view space, absl::Time deadline) {
  const absl::StatusOr<std::string> answer =
      CallMaster("GetTableDescriptors", TableSchemasMessage(space, {}), deadline);
  if (!answer.ok()) return answer.status();
  return ParseTableSchemas(*answer);
}

absl::Status Tables::TruncateRegion(const TableName& table, std::string_view row, absl::Time deadline) {
  const absl::StatusOr<Regions::Place> place = regions_->Find(table, row, deadline);
  if (!place.ok()) return place.status();
  const absl::Status emptied = Change("TruncateRegion", TruncateRegionMessage(**place, NewNonce()), deadline);
  regions_->Forget(**place);
  return emptied;
}

absl::Status Tables::Split(const TableName& table, std::string_view row, absl::Time deadline) {
  const absl::StatusOr<Regions::Place> place = regions_->Find(table, row, deadline);
  if (!place.ok()) return place.status();
  const absl::Status status = Change("SplitRegion", SplitRegionMessage(**place, row, NewNonce()), deadline);
  regions_->Forget(**place);
  return status;
}

absl::Status Tables::Move(const TableName& table, std::string_view row, const std::optional<ServerLoad>& to,
                          absl::Time deadline) {
  const absl::StatusOr<Regions::Place> place = regions_->Find(table, row, deadline);
  if (!place.ok()) return place.status();
  const std::optional<ServerAddress> address = to.has_value() ? std::optional(to->address) : std::nullopt;
  const absl::StatusOr<std::string> answer = CallMaster(
      "MoveRegion", MoveRegionMessage(**place, address, to.has_value() ? to->start_code : 0), deadline);
  regions_->Forget(**place);
  return answer.status();
}

absl::StatusOr<std::string> Tables::CallRegion(const TableName& table, std::string_view row,
                                               std::string_view method,
                                               const std::function<std::string(const Region&)>& message,
                                               absl::Time deadline) {
  Attempts attempts(deadline, timeout_ * 4);  // a flush writes files
  Failure last;
  do {
    const absl::StatusOr<Regions::Place> place = regions_->Find(table, row, deadline);
    if (!place.ok()) return place.status();
    const CallResult result = servers_->Call(
        {(*place)->server, kRegionAdminService, method, message(**place)}, attempts.TimeForOne());
    if (!result.failure.has_value()) return std::string(result.answer.parameter());
    last = *result.failure;
    if (last.remedy == Remedy::kLocate) regions_->Forget(**place);
  } while (attempts.WaitAfter(last));
  return attempts.Over(last, false);
}

absl::Status Tables::ForEachRegion(const TableName& table, std::string_view method,
                                   const std::function<std::string(const Region&)>& message,
                                   absl::Time deadline) {
  const absl::StatusOr<std::vector<Regions::Place>> places = regions_->All(table, deadline);
  if (!places.ok()) return places.status();
  for (const Regions::Place& place : *places) {
    const absl::StatusOr<std::string> answer = CallRegion(table, place->start_key, method, message, deadline);
    if (!answer.ok()) return answer.status();
  }
  return absl::OkStatus();
}

absl::Status Tables::Flush(const TableName& table, absl::Time deadline) {
  return ForEachRegion(
      table, "FlushRegion", [](const Region& region) { return FlushRegionMessage(region.name); }, deadline);
}

absl::Status Tables::Compact(const TableName& table, bool major, absl::Time deadline) {
  return ForEachRegion(
      table, "CompactRegion",
      [major](const Region& region) { return CompactRegionMessage(region.name, {}, major); }, deadline);
}

absl::Status Tables::FlushRegion(const Region& region, absl::Time deadline) {
  return CallRegion(
             region.table, region.start_key, "FlushRegion",
             [](const Region& now) { return FlushRegionMessage(now.name); }, deadline)
      .status();
}

absl::Status Tables::CompactRegion(const Region& region, std::string_view family, bool major,
                                   absl::Time deadline) {
  return CallRegion(
             region.table, region.start_key, "CompactRegion",
             [&](const Region& now) { return CompactRegionMessage(now.name, family, major); }, deadline)
      .status();
}

absl::StatusOr<RegionState> Tables::StateOf(const Region& region, absl::Time deadline) {
  const absl::StatusOr<std::string> answer = CallRegion(
      region.table, region.start_key, "GetRegionInfo",
      [](const Region& now) { return RegionInfoMessage(now.name); }, deadline);
  if (!answer.ok()) return answer.status();
  return ParseRegionState(*answer);
}

absl::Status Tables::Snapshot(std::string_view name, const TableName& table, absl::Time deadline) {
  const std::string message = SnapshotMessage(name, table, NewNonce());
  const absl::StatusOr<std::string> answer = CallMaster("Snapshot", message, deadline);
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<std::optional<uint64_t>> procedure = ParseSnapshotProcedure(*answer);
  if (!procedure.ok()) return procedure.status();
  if (procedure->has_value()) return WaitForProcedure("Snapshot", **procedure, deadline);
  return absl::FailedPreconditionError(
      "HBase has begun a snapshot without a procedure: hbase.snapshot.procedure.enabled is false there");
}

absl::Status Tables::CloneSnapshot(std::string_view name, const TableName& table, absl::Time deadline) {
  regions_->ForgetTable(table);
  return Change("RestoreSnapshot", SnapshotMessage(name, table, NewNonce()), deadline);
}

absl::StatusOr<std::vector<SnapshotFacts>> Tables::ListSnapshots(absl::Time deadline) {
  const absl::StatusOr<std::string> answer = CallMaster("GetCompletedSnapshots", {}, deadline);
  if (!answer.ok()) return answer.status();
  return ParseSnapshots(*answer);
}

absl::Status Tables::DropSnapshot(std::string_view name, absl::Time deadline) {
  return CallMaster("DeleteSnapshot", SnapshotMessage(name, {}, NewNonce()), deadline).status();
}

absl::StatusOr<ClusterState> Tables::State(absl::Time deadline) {
  const absl::StatusOr<std::string> answer = CallMaster("GetClusterStatus", {}, deadline);
  if (!answer.ok()) return answer.status();
  return ParseClusterState(*answer);
}

}  // namespace sonde::hbase
