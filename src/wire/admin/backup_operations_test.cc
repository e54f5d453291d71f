// Operations of backups that are cancelled at each of their steps, and those of a server that is killed at each step.
//
// Each trial of a kill is a process of its own over a copy of the same data directory, and another process that opens what the kill
// has left.
#include "wire/admin/backup_operations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "model/row_range.h"
#include "wire/admin/backups.h"
#include "wire/admin/stepping_engine_test_support.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace lro = google::longrunning;
using absl::StatusCode;
using google::protobuf::util::TimeUtil;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kCluster[] = "projects/p/instances/i/clusters/sonde";
constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr char kRestored[] = "projects/p/instances/i/tables/restored";
constexpr char kNoOperation[] = "";

std::string BackupName(const std::string& id) { return fmt::format("{}/backups/{}", kCluster, id); }

// The parts of a server that operations of backups use, over an engine.
class BackupServer {
 public:
  explicit BackupServer(Engine* engine) : engine_(engine) { EXPECT_TRUE(held_.ok()) << held_; }

  // A table with a row, and a backup `old` of it.
  void Prepare() {
    const TableSchemaRef schema = *catalog_->Create({.name = kTable, .families = {{.name = "f"}}});
    RowDelta delta;
    FamilyDelta& family = delta.families.emplace_back();
    family.family = schema->families[0].id;
    family.puts.push_back({"q", 1'000, "value"});
    EXPECT_EQ(engine_->Apply(schema->id, {{{"row", delta}}}), absl::OkStatus());
    EXPECT_EQ(Await(*Begin("CreateBackup", "old")).error().code(), 0);
  }
  absl::StatusOr<std::string> Begin(const std::string& kind, const std::string& id) {
    const google::protobuf::Timestamp expire =
        TimeUtil::MicrosecondsToTimestamp(clock_.NowMicros() + absl::ToInt64Microseconds(absl::Hours(48)));
    lro::Operation operation;
    absl::Status status;
    if (kind == "CreateBackup") {
      admin::CreateBackupRequest request;
      request.set_parent(kCluster);
      request.set_backup_id(id);
      request.mutable_backup()->set_source_table(kTable);
      *request.mutable_backup()->mutable_expire_time() = expire;
      status = CreateBackup(parts_, request, &operation);
    } else if (kind == "CopyBackup") {
      admin::CopyBackupRequest request;
      request.set_parent(kCluster);
      request.set_backup_id(id);
      request.set_source_backup(BackupName("old"));
      *request.mutable_expire_time() = expire;
      status = CopyBackup(parts_, request, &operation);
    } else {
      admin::RestoreTableRequest request;
      request.set_parent(kInstance);
      request.set_table_id(id);
      request.set_backup(BackupName("old"));
      status = RestoreTable(parts_, request, &operation);
    }
    if (!status.ok()) return status;
    return operation.name();
  }
  // Waits until nothing runs.
  void AwaitAll() {
    for (int i = 0; i < 30'000 && !operations_->Running().empty(); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(operations_->Running().empty());
  }
  lro::Operation Await(const std::string& name) {
    for (int i = 0; i < 30'000 && operations_->Runs(name); ++i) absl::SleepFor(absl::Milliseconds(1));
    return *operations_->Get(name);
  }
  OperationRunner* runner() { return &*runner_; }
  Operations* operations() { return operations_.get(); }

  std::optional<lro::Operation> Find(const std::string& kind) {
    lro::ListOperationsRequest request;
    request.set_name("operations/projects/p");
    lro::ListOperationsResponse all;
    EXPECT_EQ(operations_->List(request, &all), absl::OkStatus());
    for (const lro::Operation& operation : all.operations()) {
      const std::optional<OperationRecord> record = operations_->FindRecord(operation.name());
      const bool is_of_preparation = operation.name().find("/backups/old/") != std::string::npos;
      if (record->kind == kind && !is_of_preparation) return operation;
    }
    return std::nullopt;
  }

  // Checks that what an operation makes is there whole, or not at all, and that nothing else is left.
  void ExpectWholeOrNothing(const std::string& kind, bool is_there) {
    size_t backups = 1, snapshots = 1;
    if (kind == "RestoreTable") {
      const absl::StatusOr<TableSchemaRef> table = catalog_->Find(kRestored);
      EXPECT_EQ(table.ok(), is_there) << table.status();
      if (table.ok()) {
        EXPECT_EQ(CountRows((*table)->id), 1);
      }
    } else {
      const absl::StatusOr<Backup> backup = backups_->Find(BackupName("new"));
      EXPECT_EQ(backup.ok(), is_there) << backup.status();
      if (backup.ok()) {
        EXPECT_EQ(backup->state, BackupState::kReady);
      }
      backups += is_there ? 1 : 0;
      snapshots += is_there && kind == "CreateBackup" ? 1 : 0;
    }
    EXPECT_EQ(backups_->List("")->size(), backups);
    EXPECT_EQ(engine_->snapshots()->List()->size(), snapshots);
    EXPECT_EQ(backups_->Delete(BackupName("old")), absl::OkStatus()) << "nobody holds it any more";
    constexpr TableId kIdsMax = 20;
    for (TableId id = 1; id < kIdsMax; ++id) {
      EXPECT_EQ(engine_->Ranges(id).ok(), catalog_->FindById(id) != nullptr) << "table " << id;
    }
  }

 private:
  int CountRows(TableId table) {
    auto stream = engine_->Scan(table, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok());
    RowPiece piece;
    int rows = 0;
    while (*(*stream)->Next(&piece)) ++rows;
    return rows;
  }

  Engine* const engine_;
  SystemClock clock_;
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_);
  std::unique_ptr<Backups> backups_ = *Backups::Open(engine_, catalog_.get(), &clock_);
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_, &clock_);
  const absl::Status held_ = HoldRestoredBackups(*operations_, backups_.get());
  std::optional<OperationRunner> runner_{std::in_place, operations_.get(),
                                         BackupOperationKinds(backups_.get(), nullptr, &clock_)};
  const BackupParts parts_{backups_.get(), &*runner_, &clock_};
};

class BackupOperationsTest : public testing::TestWithParam<std::string> {};

TEST_P(BackupOperationsTest, LeaveNothingWhenTheyAreCancelledAtAnyStep) {
  const std::string& kind = GetParam();
  int cancelled = 0, ended = 0;
  for (int at_step = 0;; ++at_step) {
    SCOPED_TRACE(fmt::format("{} at step {}", kind, at_step));
    const std::unique_ptr<MemoryEngine> memory = MemoryEngine::Create();
    BackupServer(memory.get()).Prepare();
    std::atomic<int> steps = 0;
    std::atomic<bool> is_counting = false;
    absl::Notification reached, asked;
    SteppingEngine engine(memory.get(), [&] {
      // The end must not be asked for here, where its locks are held.
      if (!is_counting || steps++ != at_step) return;
      reached.Notify();
      asked.WaitForNotificationWithTimeout(absl::Milliseconds(20));
    });
    BackupServer server(&engine);
    is_counting = true;
    absl::StatusOr<std::string> name = kNoOperation;
    std::thread canceller([&] {
      if (!reached.WaitForNotificationWithTimeout(absl::Seconds(1))) return;
      for (const std::string& running : server.operations()->Running()) {
        server.runner()->Cancel(running).IgnoreError();  // that of optimizing says that it cannot be
      }
      asked.Notify();
    });
    name = server.Begin(kind, kind == "RestoreTable" ? "restored" : "new");
    ASSERT_TRUE(name.ok()) << name.status();
    const lro::Operation operation = server.Await(*name);
    server.AwaitAll();
    const int steps_in_all = steps;
    canceller.join();
    EXPECT_TRUE(operation.has_response() || operation.error().code() == 1) << operation.ShortDebugString();
    operation.has_response() ? ++ended : ++cancelled;
    server.ExpectWholeOrNothing(kind, operation.has_response());
    if (at_step >= steps_in_all || HasFailure()) break;
  }
  // A copy has no step between its two writes, and the first of them makes it known;
  // BackupsTest.ACopyThatIsCancelledLeavesNothing ends one there.
  if (kind != "CopyBackup") {
    EXPECT_GT(cancelled, 0);
  }
  EXPECT_GT(ended, 0);
}

// Runs a function in a process, and returns what waitpid tells.
template <typename Function>
int InProcess(const Function& function) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    function();
    std::fflush(stdout);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

std::unique_ptr<RocksEngine> OpenRocks(const std::string& directory) {
  RocksOptions options;
  options.data_dir = directory;
  options.memory_bytes = uint64_t{64} << 20;
  options.sync = false;  // no power is cut here
  auto engine = RocksEngine::Open(options);
  EXPECT_TRUE(engine.ok()) << engine.status();
  return *std::move(engine);
}

// Begins an operation, and is killed at a step, counted from the call on; or ends as the operation does.
void RunUntilStep(const std::string& directory, const std::string& kind, int at_step, int answered_fd) {
  const std::unique_ptr<RocksEngine> rocks = OpenRocks(directory);
  std::atomic<int> steps = 0;
  std::atomic<bool> has_begun = false;
  SteppingEngine engine(rocks.get(), [&] {
    if (has_begun && steps++ == at_step) kill(getpid(), SIGKILL);
  });
  BackupServer server(&engine);
  has_begun = true;
  const absl::StatusOr<std::string> name = server.Begin(kind, kind == "RestoreTable" ? "restored" : "new");
  EXPECT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(write(answered_fd, "a", 1), 1);
  server.AwaitAll();
}

void CheckAfterKill(const std::string& directory, const std::string& kind, bool was_answered) {
  const std::unique_ptr<RocksEngine> rocks = OpenRocks(directory);
  BackupServer server(rocks.get());
  server.AwaitAll();
  const std::optional<lro::Operation> operation = server.Find(kind);
  if (was_answered) {
    EXPECT_TRUE(operation.has_value()) << "its name was answered";
  }
  const bool is_there = operation.has_value() && operation->has_response();
  if (operation.has_value() && !is_there) {
    EXPECT_EQ(kind, "CreateBackup") << "others go on: " << operation->ShortDebugString();
    EXPECT_EQ(operation->error().message(), "The server was restarted.");
  }
  const std::optional<lro::Operation> optimizing = server.Find("OptimizeRestoredTable");
  EXPECT_EQ(optimizing.has_value(), is_there && kind == "RestoreTable");
  if (optimizing.has_value()) {
    EXPECT_TRUE(optimizing->has_response()) << optimizing->ShortDebugString();
  }
  server.ExpectWholeOrNothing(kind, is_there);
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/snapshots")) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

TEST_P(BackupOperationsTest, EndOrGoOnAfterAKillAtAnyStep) {
  const std::string& kind = GetParam();
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / fmt::format("backup-operations-{}-{}", kind, getpid());
  std::filesystem::remove_all(root);
  const std::string prepared = root / "prepared", trial = root / "trial";
  std::filesystem::create_directories(root);
  ASSERT_EQ(InProcess([&] { BackupServer(OpenRocks(prepared).get()).Prepare(); }), 0);
  int killed = 0, killed_after_answer = 0;
  for (int at_step = 0;; ++at_step) {
    SCOPED_TRACE(fmt::format("{} at step {}", kind, at_step));
    std::filesystem::remove_all(trial);
    std::filesystem::copy(prepared, trial, std::filesystem::copy_options::recursive);
    int answered[2];
    ASSERT_EQ(pipe(answered), 0);
    const int status = InProcess([&] { RunUntilStep(trial, kind, at_step, answered[1]); });
    close(answered[1]);
    char byte = 0;
    const bool was_answered = read(answered[0], &byte, 1) == 1;
    close(answered[0]);
    const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    ASSERT_TRUE(was_killed || status == 0) << "it ended with " << status;
    ASSERT_EQ(InProcess([&] { CheckAfterKill(trial, kind, was_answered); }), 0);
    if (!was_killed) break;
    ++killed;
    killed_after_answer += was_answered ? 1 : 0;
  }
  EXPECT_GE(killed, 4) << "each step is a write, before and after";
  EXPECT_GE(killed_after_answer, 1);
  std::filesystem::remove_all(root);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BackupOperationsTest,
                         testing::Values("CreateBackup", "CopyBackup", "RestoreTable"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace sonde
