// Snapshots on an HBase in this process whose master loses calls and answers, and ends procedures late.
#include "engine/hbase/snapshots/hbase_snapshots.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <hbase/wire/messages.pb.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/hbase/log/stored_log.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using absl::StatusCode;
using hbase::FakeAnswer;
using hbase::FakeCall;
using testing::ElementsAre;
using testing::IsEmpty;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

hbase::TableName NameOf(TableId table) { return {"space", fmt::format("t{}", table)}; }

std::optional<TableId> IdOf(const hbase::TableName& table) {
  if (!table.name.starts_with('t') || table.name.size() != 2) return std::nullopt;
  return static_cast<TableId>(table.name[1] - '0');
}

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
  static std::string TextOf(const hbase::pb::TableName& table) {
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
    hbase::pb::ProcedureResponse response;
    response.set_proc_id(at->second);
    return {.parameter = response.SerializeAsString()};
  }
  bool IsNew(uint64_t nonce) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !by_nonce_.contains(nonce);
  }
  FakeAnswer ProcedureResult(const std::string& parameter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    hbase::pb::GetProcedureResultRequest request;
    request.ParseFromString(parameter);
    hbase::pb::GetProcedureResultResponse response;
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
      return DoSnapshot(call, Read<hbase::pb::SnapshotRequest>(call));
    if (call.method == "DisableTable" || call.method == "DeleteTable") {
      const auto request = Read<hbase::pb::TableRequest>(call);
      const std::string table = TextOf(request.table_name());
      if (IsNew(request.nonce()) && !tables_.contains(table)) return Exception("TableNotFoundException");
      if (IsNew(request.nonce()) && call.method == "DeleteTable") tables_.erase(table);
      return Begin(request.nonce());
    }
    if (call.method == "DeleteColumn") {
      const auto request = Read<hbase::pb::DeleteColumnRequest>(call);
      tables_[TextOf(request.table_name())].erase(request.column_name());
      return Begin(request.nonce());
    }
    return std::nullopt;
  }
  FakeAnswer Descriptors(const FakeCall& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto request = Read<hbase::pb::GetTableDescriptorsRequest>(call);
    hbase::pb::GetTableDescriptorsResponse response;
    for (const hbase::pb::TableName& name : request.table_names()) {
      const auto found = tables_.find(TextOf(name));
      if (found == tables_.end()) continue;
      hbase::pb::TableSchema* const schema = response.add_table_schema();
      *schema->mutable_table_name() = name;
      for (const std::string& family : found->second) schema->add_column_families()->set_name(family);
    }
    return {.parameter = response.SerializeAsString()};
  }
  FakeAnswer Snapshots() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    hbase::pb::GetCompletedSnapshotsResponse response;
    for (const auto& [name, snapshot] : snapshots_) {
      response.add_snapshots()->set_name(name);
      response.mutable_snapshots(response.snapshots_size() - 1)->set_table(snapshot.first);
    }
    return {.parameter = response.SerializeAsString()};
  }
  FakeAnswer DoSnapshot(const FakeCall& call, const hbase::pb::SnapshotRequest& request)
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

class HBaseSnapshotsTest : public testing::Test {
 protected:
  HBaseSnapshotsTest() {
    hbase_.SetInterceptor([this](const FakeCall& call) { return master_.Answer(call); });
    master_.Set("space:t1", {"d", "v", "b"});
    master_.Set("space:t2", {"d", "v"});
  }

  hbase::FakeHBase hbase_;
  FakeMaster master_;
  std::vector<TableId> replaced_;
  const std::unique_ptr<hbase::Client> client_ =
      *hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(1)});
  HBaseSnapshots snapshots_{
      client_.get(),
      {.space = "space",
       .name_of = NameOf,
       .id_of = IdOf,
       .bytes_of = [](TableId, absl::Time) -> absl::StatusOr<uint64_t> { return 5 << 20; },
       .on_replaced = [this](TableId table) { replaced_.push_back(table); }}};
};

TEST_F(HBaseSnapshotsTest, NamesAreThoseOfTheStore) {
  master_.AddForeign("space.of another", "other:t1");
  master_.AddForeign("somebody's", "space:t1");
  master_.AddForeign("space.odd", "space:catalog");
  EXPECT_EQ(snapshots_.Make("no/name", 1, Soon()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(snapshots_.Make("s", 9, Soon()).code(), StatusCode::kNotFound);
  ASSERT_EQ(snapshots_.Make("s", 1, Soon()), absl::OkStatus());
  EXPECT_EQ(snapshots_.Make("s", 2, Soon()).code(), StatusCode::kAlreadyExists);
  ASSERT_EQ(snapshots_.Make("r", 2, Soon()), absl::OkStatus());
  EXPECT_TRUE(master_.snapshots().contains("space.s"));
  EXPECT_THAT(*snapshots_.List(Soon()),
              ElementsAre(Snapshots::Facts{"r", 2, 5 << 20}, Snapshots::Facts{"s", 1, 5 << 20}));
  ASSERT_EQ(snapshots_.Drop("r", Soon()), absl::OkStatus());
  ASSERT_EQ(snapshots_.Drop("r", Soon()), absl::OkStatus());
  EXPECT_EQ(snapshots_.List(Soon())->size(), 1u);
  EXPECT_EQ(master_.snapshots().size(), 4u);
}

TEST_F(HBaseSnapshotsTest, ALostAnswerMakesNoSecondSnapshotAndNoError) {
  master_.LoseAnswers("Snapshot", 2);
  ASSERT_EQ(snapshots_.Make("s", 1, Soon()), absl::OkStatus());
  EXPECT_EQ(master_.snapshots().size(), 1u);
  master_.LoseAnswers("DeleteSnapshot", 1);
  ASSERT_EQ(snapshots_.Drop("s", Soon()), absl::OkStatus());
  EXPECT_TRUE(master_.snapshots().empty());
}

TEST_F(HBaseSnapshotsTest, ASnapshotThatFailedIsTriedAgain) {
  master_.FailProcedures(1);
  ASSERT_EQ(snapshots_.Make("s", 1, Soon()), absl::OkStatus());
  EXPECT_TRUE(master_.snapshots().contains("space.s"));
  master_.FailProcedures(1);
  EXPECT_EQ(snapshots_.Make("r", 1, absl::Now() + absl::Milliseconds(500)).code(), StatusCode::kUnavailable);
  EXPECT_EQ(master_.snapshots().size(), 1u);
}

TEST_F(HBaseSnapshotsTest, ARestoredTableIsAsThatOfTheSnapshotWithoutItsLog) {
  master_.Set("space:t1", {"d", "v", "b", "c", kLogFamily});
  ASSERT_EQ(snapshots_.Make("s", 1, Soon()), absl::OkStatus());
  EXPECT_EQ(snapshots_.Restore("none", 2, {.deadline = Soon()}).code(), StatusCode::kNotFound);
  EXPECT_EQ(snapshots_.Restore("s", 9, {.deadline = Soon()}).code(), StatusCode::kNotFound);
  const auto end = [](double) { return absl::CancelledError("enough"); };
  EXPECT_EQ(snapshots_.Restore("s", 2, {.deadline = Soon(), .on_progress = end}),
            absl::CancelledError("enough"));
  EXPECT_EQ(master_.tables()["space:t2"], (FakeMaster::Families{"d", "v"}));
  EXPECT_THAT(replaced_, IsEmpty());
  master_.LoseAnswers("RestoreSnapshot", 1);
  for (int times = 0; times < 2; ++times) {
    ASSERT_EQ(snapshots_.Restore("s", 2, {.deadline = Soon()}), absl::OkStatus());
    EXPECT_EQ(master_.tables()["space:t2"], (FakeMaster::Families{"d", "v", "b", "c"}));
  }
  EXPECT_THAT(replaced_, ElementsAre(2, 2, 2, 2));
  EXPECT_TRUE(master_.tables()["space:t1"].contains(kLogFamily));
}

TEST_F(HBaseSnapshotsTest, ARestoreGoesOnAfterATryThatDroppedTheTable) {
  ASSERT_EQ(snapshots_.Make("s", 1, Soon()), absl::OkStatus());
  hbase_.SetInterceptor([this](const FakeCall& call) -> std::optional<FakeAnswer> {
    if (call.method == "RestoreSnapshot") return FakeAnswer{.exception = "java.io.IOException"};
    return master_.Answer(call);
  });
  EXPECT_FALSE(snapshots_.Restore("s", 2, {.deadline = absl::Now() + absl::Seconds(1)}).ok());
  EXPECT_FALSE(master_.tables().contains("space:t2"));
  hbase_.SetInterceptor([this](const FakeCall& call) { return master_.Answer(call); });
  ASSERT_EQ(snapshots_.Restore("s", 2, {.deadline = Soon()}), absl::OkStatus());
  EXPECT_TRUE(master_.tables().contains("space:t2"));
  master_.Remove("space:t2");
  EXPECT_EQ(snapshots_.Restore("s", 2, {.deadline = Soon()}).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sonde
