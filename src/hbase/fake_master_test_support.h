// The master of an HBase in this process, as far as tables and snapshots go: for the interceptor of FakeHBase.
#pragma once

#include <hbase/wire/messages.pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "hbase/call/fake_server_test_support.h"

namespace sonde::hbase {

// What a master does with tables and snapshots.  Each table is the set of its families.
class FakeMaster {
 public:
  using Families = std::set<std::string>;

  std::optional<FakeAnswer> Answer(const FakeCall& call) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    calls_.push_back(call.method);
    if (call.method == "getProcedureResult") return ProcedureResult(call.parameter);
    if (const auto lost = lost_answers_.find(call.method); lost != lost_answers_.end()) {
      const FakeAnswer done = Do(call).value_or(FakeAnswer{});
      if (--lost->second == 0) lost_answers_.erase(lost);
      return FakeAnswer{.parameter = done.parameter, .deed = FakeAnswer::Deed::kCloseConnection};
    }
    return Do(call);
  }
  void Set(const std::string& table, Families families) {
    const absl::MutexLock lock(&mutex_);
    tables_[table] = std::move(families);
  }
  void Remove(const std::string& table) {
    const absl::MutexLock lock(&mutex_);
    tables_.erase(table);
  }
  std::map<std::string, Families> tables() {
    const absl::MutexLock lock(&mutex_);
    return tables_;
  }
  std::map<std::string, std::pair<std::string, Families>> snapshots() {
    const absl::MutexLock lock(&mutex_);
    return snapshots_;
  }
  void AddForeign(const std::string& name, const std::string& table) {
    const absl::MutexLock lock(&mutex_);
    snapshots_[name] = {table, {"d"}};
  }
  // The answers of so many calls are lost, after they were carried out.
  void LoseAnswers(const std::string& method, int count) {
    const absl::MutexLock lock(&mutex_);
    lost_answers_[method] = count;
  }
  // So many procedures fail, and what they did is taken back.
  void FailProcedures(int count) {
    const absl::MutexLock lock(&mutex_);
    failing_ = count;
  }
  std::vector<std::string> calls() {
    const absl::MutexLock lock(&mutex_);
    return std::exchange(calls_, {});
  }

 private:
  static FakeAnswer Exception(const std::string& name) {
    return {.exception = "org.apache.hadoop.hbase." + name};
  }
  static std::string TextOf(const pb::TableName& table) {
    return table.namespace_() + ":" + table.qualifier();
  }
  template <typename Request>
  static Request Read(const FakeCall& call) {
    Request request;
    request.ParseFromString(call.parameter);
    return request;
  }
  FakeAnswer Begin(uint64_t nonce) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto [at, is_new] = by_nonce_.try_emplace(nonce, by_nonce_.size() + 1);
    if (is_new) looks_[at->second] = 2;  // until it has ended
    pb::ProcedureResponse response;
    response.set_proc_id(at->second);
    return {.parameter = response.SerializeAsString()};
  }
  bool IsNew(uint64_t nonce) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !by_nonce_.contains(nonce);
  }
  FakeAnswer ProcedureResult(const std::string& parameter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    pb::GetProcedureResultRequest request;
    request.ParseFromString(parameter);
    pb::GetProcedureResultResponse response;
    const bool has_ended = --looks_[request.proc_id()] <= 0;
    response.set_state(has_ended ? 2 : 1);
    if (has_ended && failed_.contains(request.proc_id())) {
      auto* const why = response.mutable_exception()->mutable_generic_exception();
      why->set_class_name("org.apache.hadoop.hbase.snapshot.HBaseSnapshotException");
      why->set_message("a region moved");
    }
    return {.parameter = response.SerializeAsString()};
  }
  std::optional<FakeAnswer> Do(const FakeCall& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (call.method == "GetTableDescriptors") return Descriptors(call);
    if (call.method == "GetCompletedSnapshots") return Snapshots();
    if (call.method == "Snapshot" || call.method == "RestoreSnapshot" || call.method == "DeleteSnapshot")
      return DoSnapshot(call, Read<pb::SnapshotRequest>(call));
    if (call.method == "DisableTable" || call.method == "DeleteTable") {
      const auto request = Read<pb::TableRequest>(call);
      const std::string table = TextOf(request.table_name());
      if (IsNew(request.nonce()) && !tables_.contains(table)) return Exception("TableNotFoundException");
      if (IsNew(request.nonce()) && call.method == "DeleteTable") tables_.erase(table);
      return Begin(request.nonce());
    }
    if (call.method == "DeleteColumn") {
      const auto request = Read<pb::DeleteColumnRequest>(call);
      tables_[TextOf(request.table_name())].erase(request.column_name());
      return Begin(request.nonce());
    }
    return std::nullopt;
  }
  FakeAnswer Descriptors(const FakeCall& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto request = Read<pb::GetTableDescriptorsRequest>(call);
    pb::GetTableDescriptorsResponse response;
    for (const pb::TableName& name : request.table_names()) {
      const auto found = tables_.find(TextOf(name));
      if (found == tables_.end()) continue;
      pb::TableSchema* const schema = response.add_table_schema();
      *schema->mutable_table_name() = name;
      for (const std::string& family : found->second) schema->add_column_families()->set_name(family);
    }
    return {.parameter = response.SerializeAsString()};
  }
  FakeAnswer Snapshots() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    pb::GetCompletedSnapshotsResponse response;
    for (const auto& [name, snapshot] : snapshots_) {
      response.add_snapshots()->set_name(name);
      response.mutable_snapshots(response.snapshots_size() - 1)->set_table(snapshot.first);
    }
    return {.parameter = response.SerializeAsString()};
  }
  FakeAnswer DoSnapshot(const FakeCall& call, const pb::SnapshotRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::string& name = request.snapshot().name();
    const std::string& table = request.snapshot().table();
    const auto found = snapshots_.find(name);
    if (call.method == "DeleteSnapshot") {
      if (found == snapshots_.end()) return Exception("snapshot.SnapshotDoesNotExistException");
      snapshots_.erase(found);
      return {};
    }
    if (!IsNew(request.nonce())) return Begin(request.nonce());
    if (call.method == "RestoreSnapshot") {
      if (found == snapshots_.end()) return Exception("snapshot.SnapshotDoesNotExistException");
      if (tables_.contains(table)) return Exception("TableExistsException");
      tables_[table] = found->second.second;
      return Begin(request.nonce());
    }
    if (found != snapshots_.end()) return Exception("snapshot.SnapshotExistsException");
    FakeAnswer begun = Begin(request.nonce());
    if (failing_ > 0) {
      --failing_;
      failed_.insert(by_nonce_[request.nonce()]);
    } else {
      snapshots_[name] = {table, tables_[table]};
    }
    return begun;
  }

  absl::Mutex mutex_;
  std::map<std::string, Families> tables_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::pair<std::string, Families>> snapshots_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, uint64_t> by_nonce_ ABSL_GUARDED_BY(mutex_);  // procedures
  std::map<uint64_t, int> looks_ ABSL_GUARDED_BY(mutex_);
  std::set<uint64_t> failed_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> lost_answers_ ABSL_GUARDED_BY(mutex_);
  int failing_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::hbase
