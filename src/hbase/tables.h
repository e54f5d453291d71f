// Tables and regions of a cluster: made, altered, moved, dropped.
//
// HBase's master makes changes step by step; a call here waits for their end.  A call that was repeated because its answer was lost
// carries the same nonce, so that the master begins the change once.
//
// Threads: all functions may be called at once.
// Errors of all: NOT_FOUND, ALREADY_EXISTS: the table, the namespace, the snapshot.  UNAVAILABLE: the cluster does not answer, and
// nothing was changed.  UNKNOWN: the change was begun, or may have been, and nobody knows its end.  DEADLINE_EXCEEDED: there was no
// time left, and nothing was changed.  FAILED_PRECONDITION: HBase refuses the change.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hbase/call/servers.h"
#include "hbase/regions.h"
#include "hbase/wire/table_messages.h"

namespace sonde::hbase {

class Tables {
 public:
  Tables(Servers* servers, Regions* regions, absl::Duration timeout);

  absl::Status CreateNamespace(std::string_view space, absl::Time deadline);
  absl::StatusOr<std::vector<std::string>> Namespaces(absl::Time deadline);

  absl::Status Create(const TableSchema& schema, const std::vector<std::string>& split_keys,
                      absl::Time deadline);
  // Whatever it holds is gone.
  absl::Status Drop(const TableName& table, absl::Time deadline);
  // Makes a family.  FAILED_PRECONDITION: the table has one of this name.
  absl::Status AddFamily(const TableName& table, const FamilySchema& family, absl::Time deadline);
  // Sets attributes of a family, and leaves its others as they are.
  absl::Status ModifyFamily(const TableName& table, const FamilySchema& family, absl::Time deadline);
  // Drops a family with its cells.  FAILED_PRECONDITION: the table has no such family.
  absl::Status DropFamily(const TableName& table, std::string_view family, absl::Time deadline);
  absl::Status Truncate(const TableName& table, bool keeps_splits, absl::Time deadline);
  absl::StatusOr<TableSchema> Describe(const TableName& table, absl::Time deadline);
  absl::StatusOr<std::vector<TableSchema>> List(std::string_view space, absl::Time deadline);

  // Deletes all that the region with `row` holds.
  absl::Status TruncateRegion(const TableName& table, std::string_view row, absl::Time deadline);
  // Makes two regions of the one that has `row`; the second begins with it.
  absl::Status Split(const TableName& table, std::string_view row, absl::Time deadline);
  // Moves the region with `row` to another server; nullopt: the master chooses.
  absl::Status Move(const TableName& table, std::string_view row, const std::optional<ServerLoad>& to,
                    absl::Time deadline);
  // Writes all that is in memory to files.
  absl::Status Flush(const TableName& table, absl::Time deadline);
  // Begins to make fewer files of many; `major`: one a family and region, without what is deleted.  Returns before the end.
  absl::Status Compact(const TableName& table, bool major, absl::Time deadline);
  // The same of one region; `family` empty: of all.
  absl::Status FlushRegion(const Region& region, absl::Time deadline);
  absl::Status CompactRegion(const Region& region, std::string_view family, bool major, absl::Time deadline);
  absl::StatusOr<RegionState> StateOf(const Region& region, absl::Time deadline);

  // Makes a snapshot of a table: what each region has at one moment of the call; regions may have theirs at different moments.  Reads and
  // writes go on.  Names are those of the cluster.
  absl::Status Snapshot(std::string_view name, const TableName& table, absl::Time deadline);
  // Makes a table of a snapshot, with its families and splits.  The files are shared: no cell is copied.
  absl::Status CloneSnapshot(std::string_view name, const TableName& table, absl::Time deadline);
  // All of the cluster that are whole, in no order.
  absl::StatusOr<std::vector<SnapshotFacts>> ListSnapshots(absl::Time deadline);
  absl::Status DropSnapshot(std::string_view name, absl::Time deadline);

  absl::StatusOr<ClusterState> State(absl::Time deadline);

 private:
  // Calls the master until it answers; returns the message of the answer.
  absl::StatusOr<std::string> CallMaster(std::string_view method, const std::string& message,
                                         absl::Time deadline);
  // Calls the master for a change, and waits for its end.
  absl::Status Change(std::string_view method, const std::string& message, absl::Time deadline);
  absl::Status WaitForProcedure(std::string_view method, uint64_t procedure, absl::Time deadline);
  // Calls the server of a region, which `message` names.
  absl::StatusOr<std::string> CallRegion(const TableName& table, std::string_view row,
                                         std::string_view method,
                                         const std::function<std::string(const Region&)>& message,
                                         absl::Time deadline);
  absl::Status ForEachRegion(const TableName& table, std::string_view method,
                             const std::function<std::string(const Region&)>& message, absl::Time deadline);
  Nonce NewNonce() { return {nonce_group_, next_nonce_.fetch_add(1, std::memory_order_relaxed)}; }

  Servers* const servers_;
  Regions* const regions_;
  const absl::Duration timeout_;
  const uint64_t nonce_group_;
  std::atomic<uint64_t> next_nonce_ = 1;
};

}  // namespace sonde::hbase
