#include "wire/operations/operation_runner.h"

#include <fmt/format.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace lro = google::longrunning;
using absl::StatusCode;

std::string RunTable(int i) { return fmt::format("projects/p/instances/i/tables/t{}", i); }

class OperationRunnerTest : public testing::Test {
 protected:
  // Waits until it may end, or must not go on.
  OperationEnd Restore(RunningOperation* operation) {
    ++runs_;
    was_resumed_ = operation->is_resumed();
    OperationEnd end;
    while (!may_end_.HasBeenNotified()) {
      end.status = operation->GoesOn();
      if (!end.status.ok()) return end;
      absl::SleepFor(absl::Milliseconds(1));
    }
    end.response.PackFrom(admin::Table());
    if (!follows_) return end;
    NextOperation& next = end.next.emplace();
    next.name = operation->NewName(operation->Metadata<admin::RestoreTableMetadata>().name());
    next.metadata.PackFrom(admin::OptimizeRestoredTableMetadata());
    return end;
  }
  OperationEnd Optimize(RunningOperation* operation) {
    was_resumed_ = operation->is_resumed();
    OperationEnd end;
    while (!may_optimize_.HasBeenNotified() && end.status.ok()) {
      end.status = operation->GoesOn();
      absl::SleepFor(absl::Milliseconds(1));
    }
    return end;
  }
  void Start(bool knows_kinds = true) {
    std::map<std::string, OperationKind> kinds;
    if (knows_kinds) {
      kinds["RestoreTable"] = {.run = [this](RunningOperation* operation) { return Restore(operation); }};
      kinds["OptimizeRestoredTable"] = {.is_cancellable = false, .run = [this](RunningOperation* operation) {
                                          return Optimize(operation);
                                        }};
    }
    operations_ = *Operations::Open(engine_.get(), &clock_);
    runner_.emplace(operations_.get(), std::move(kinds));
  }
  void Restart(bool knows_kinds = true) {
    runner_.reset();
    Start(knows_kinds);
  }
  absl::Status Begin(int i) {
    admin::RestoreTableMetadata metadata;
    metadata.set_name(RunTable(i));
    return runner_->Begin(RunTable(i), admin::RestoreTableRequest(), metadata, nullptr, &operation_);
  }
  lro::Operation Await(const std::string& name) {
    for (int i = 0; i < 10'000 && operations_->Runs(name); ++i) absl::SleepFor(absl::Milliseconds(1));
    return *operations_->Get(name);
  }

  SystemClock clock_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Operations> operations_;
  absl::Notification may_end_, may_optimize_;
  std::atomic<int> runs_ = 0;
  std::atomic<bool> was_resumed_ = false, follows_ = false;
  lro::Operation operation_;
  std::optional<OperationRunner> runner_;
};

TEST_F(OperationRunnerTest, AnswersBeforeTheOperationHasEnded) {
  Start();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  EXPECT_FALSE(operation_.done());
  EXPECT_FALSE(operations_->Get(operation_.name())->done());
  may_end_.Notify();
  const lro::Operation ended = Await(operation_.name());
  EXPECT_TRUE(ended.response().Is<admin::Table>());
  EXPECT_FALSE(was_resumed_);
}

TEST_F(OperationRunnerTest, EndsACancelledOperation) {
  Start();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  ASSERT_EQ(runner_->Cancel(operation_.name()), absl::OkStatus());
  const lro::Operation ended = Await(operation_.name());
  EXPECT_EQ(ended.error().code(), 1);
  EXPECT_EQ(ended.error().message(), "Operation " + operation_.name() + " was cancelled");
  EXPECT_EQ(runner_->Cancel(operation_.name()), absl::OkStatus()) << "without effect";
  EXPECT_EQ(operations_->Get(operation_.name())->SerializeAsString(), ended.SerializeAsString());
  EXPECT_EQ(runner_->Cancel("operations/projects/p/operations/1").code(), StatusCode::kNotFound);
  EXPECT_EQ(runner_->Cancel("x").code(), StatusCode::kInvalidArgument);
}

TEST_F(OperationRunnerTest, GoesOnAfterARestart) {
  Start();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  const std::string name = operation_.name();
  for (int i = 0; i < 10'000 && runs_ == 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  Restart();
  EXPECT_FALSE(operations_->Get(name)->done());
  may_end_.Notify();
  EXPECT_TRUE(Await(name).has_response());
  EXPECT_TRUE(was_resumed_);
  EXPECT_EQ(runs_, 2);
}

TEST_F(OperationRunnerTest, ACancelledOperationStaysSoAfterARestart) {
  Start();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  const std::string name = operation_.name();
  runner_->Pause();
  EXPECT_EQ(Begin(2), absl::UnavailableError("The server is ending"));
  ASSERT_EQ(runner_->Cancel(name), absl::OkStatus());
  Restart();
  EXPECT_EQ(Await(name).error().code(), 1);
}

TEST_F(OperationRunnerTest, EndsWhatItDoesNotKnow) {
  Start();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  Restart(/*knows_kinds=*/false);
  const lro::Operation ended = Await(operation_.name());
  EXPECT_EQ(ended.error().code(), 10);
  EXPECT_EQ(ended.error().message(), "The server was restarted.");
}

TEST_F(OperationRunnerTest, RunsTheNextOperationWhichCannotBeCancelled) {
  follows_ = true;
  Start();
  may_end_.Notify();
  ASSERT_EQ(Begin(1), absl::OkStatus());
  Await(operation_.name());
  const std::vector<std::string> running = operations_->Running();
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(runner_->Cancel(running[0]),
            absl::FailedPreconditionError("Operation " + running[0] +
                                          " cannot be cancelled: it is one of OptimizeRestoredTable"));
  Restart();
  may_optimize_.Notify();
  EXPECT_TRUE(Await(running[0]).has_response());
  EXPECT_TRUE(was_resumed_);
  EXPECT_EQ(runner_->Cancel(running[0]), absl::OkStatus()) << "it has ended";
}

TEST_F(OperationRunnerTest, HasABound) {
  Start();
  for (size_t i = 0; i < OperationRunner::kRunningMax; ++i)
    ASSERT_EQ(Begin(static_cast<int>(i)), absl::OkStatus());
  EXPECT_EQ(Begin(-1), absl::ResourceExhaustedError(
                           "Too many operations run: an operation of projects/p/instances/i/tables/t-1 "
                           "was asked for, 200 run, and the limit is 200"));
  EXPECT_LE(runs_, static_cast<int>(OperationRunner::kThreads));
  may_end_.Notify();
  for (int i = 0; i < 10'000 && !operations_->Running().empty(); ++i) absl::SleepFor(absl::Milliseconds(1));
  absl::Status begun;
  for (int i = 0; i < 1'000; ++i) {  // the last turn is given back after its end is written
    if (begun = Begin(-1); begun.ok()) break;
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(begun, absl::OkStatus());
}

// More of them than there are threads keep no other operation waiting.
TEST_F(OperationRunnerTest, AnOperationThatWaitsForOthersHoldsNoThread) {
  std::atomic<bool> is_there = false;
  const auto run = [&is_there](RunningOperation* operation) {
    OperationEnd end{.status = operation->GoesOn()};
    if (end.status.ok() && !is_there) operation->LooksAgain();
    return end;
  };
  const auto start = [&] {
    runner_.reset();
    operations_ = *Operations::Open(engine_.get(), &clock_);
    runner_.emplace(operations_.get(),
                    std::map<std::string, OperationKind>{
                        {"RestoreTable", {.run = run}},
                        {"CopyBackup", {.run = [](RunningOperation*) { return OperationEnd(); }}}});
  };
  start();
  std::vector<std::string> names;
  for (int i = 0; i < 2 * static_cast<int>(OperationRunner::kThreads); ++i) {
    ASSERT_EQ(Begin(i), absl::OkStatus());
    names.push_back(operation_.name());
  }
  lro::Operation other;
  ASSERT_EQ(
      runner_->Begin(RunTable(99), admin::CopyBackupRequest(), admin::CopyBackupMetadata(), nullptr, &other),
      absl::OkStatus());
  EXPECT_TRUE(Await(other.name()).done());
  ASSERT_EQ(runner_->Cancel(names[0]), absl::OkStatus());
  EXPECT_EQ(Await(names[0]).error().code(), static_cast<int>(StatusCode::kCancelled));
  EXPECT_FALSE(operations_->Get(names[1])->done());
  start();
  EXPECT_FALSE(operations_->Get(names[1])->done());
  is_there = true;
  for (size_t i = 1; i < names.size(); ++i) EXPECT_TRUE(Await(names[i]).has_response());
}

// One of several servers of a store, whose operations run until they may end.
class SharingServer {
 public:
  SharingServer(Engine* store, std::shared_ptr<MemoryLeaseBoard> board, const absl::Notification* may_end)
      : engine_(store, {.leases = std::move(board), .lease_time = absl::Milliseconds(400)}),
        operations_(*Operations::Open(&engine_, &clock_, /*is_shared=*/true)) {
    std::map<std::string, OperationKind> kinds;
    kinds["RestoreTable"] = {.run = [this, may_end](RunningOperation* operation) {
      ++(operation->is_resumed() ? resumed : begun);
      OperationEnd end;
      while (!may_end->HasBeenNotified() && end.status.ok()) {
        end.status = operation->GoesOn();
        operation->Tell(operation->Metadata<admin::RestoreTableMetadata>());
        absl::SleepFor(absl::Milliseconds(1));
      }
      if (end.status.ok()) end.response.PackFrom(admin::Table());
      return end;
    }};
    runner.emplace(operations_.get(), std::move(kinds), engine_.leases(), absl::Milliseconds(50));
  }

  std::string Begin(int i) {
    admin::RestoreTableMetadata metadata;
    metadata.set_name(RunTable(i));
    lro::Operation operation;
    EXPECT_EQ(runner->Begin(RunTable(i), admin::RestoreTableRequest(), metadata, nullptr, &operation),
              absl::OkStatus());
    return operation.name();
  }
  // As a client asks, until `is_wanted`.
  template <typename IsWanted>
  lro::Operation Await(const std::string& name, const IsWanted& is_wanted) {
    absl::StatusOr<lro::Operation> operation;
    for (int i = 0; i < 10'000; ++i) {
      operation = operations_->Get(name);
      EXPECT_TRUE(operation.ok() || absl::IsUnavailable(operation.status())) << operation.status();
      if (operation.ok() && is_wanted(*operation)) return *operation;
      absl::SleepFor(absl::Milliseconds(1));
    }
    ADD_FAILURE() << name << " is not as it was to become";
    return {};
  }
  lro::Operation AwaitEnd(const std::string& name) {
    return Await(name, [](const lro::Operation& operation) { return operation.done(); });
  }

  Operations* operations() { return operations_.get(); }

  std::atomic<int> begun = 0, resumed = 0;

 private:
  ClusterMember engine_;
  const SystemClock clock_;
  const std::unique_ptr<Operations> operations_;

 public:
  std::optional<OperationRunner> runner;  // its functions use the others
};

class SharedOperationsTest : public testing::Test {
 protected:
  std::unique_ptr<SharingServer> Start() {
    return std::make_unique<SharingServer>(store_.get(), board_, &may_end_);
  }

  const std::unique_ptr<MemoryEngine> store_ = MemoryEngine::Create();
  const std::shared_ptr<MemoryLeaseBoard> board_ = std::make_shared<MemoryLeaseBoard>();
  absl::Notification may_end_;
};

TEST_F(SharedOperationsTest, OneThatWasForgottenIsNotFoundAtOnce) {
  const auto server = Start();
  const std::string name = server->Begin(1);
  may_end_.Notify();
  (void)server->AwaitEnd(name);
  EXPECT_EQ(server->operations()->Delete(name), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(server->operations()->Get(name).status()));
  // Another number of this age may be that of an operation of another server.
  std::string other = name;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_TRUE(absl::IsUnavailable(server->operations()->Get(other).status()));
}

TEST_F(SharedOperationsTest, OneServerRunsAnOperationAndAllTellOfIt) {
  const auto one = Start(), other = Start();
  const std::string name = one->Begin(1);
  EXPECT_FALSE(other->Await(name, [](const auto&) { return true; }).done());
  const auto third = Start();
  absl::SleepFor(absl::Milliseconds(600));  // longer than a lease
  may_end_.Notify();
  for (const auto& server : {one.get(), other.get(), third.get()})
    EXPECT_TRUE(server->AwaitEnd(name).response().Is<admin::Table>());
  EXPECT_EQ(one->begun, 1);
  EXPECT_EQ(one->resumed + other->begun + other->resumed + third->resumed, 0);
}

TEST_F(SharedOperationsTest, AnOperationIsCancelledByAnotherServer) {
  const auto one = Start(), other = Start();
  const std::string name = one->Begin(1);
  other->Await(name, [](const auto&) { return true; });
  absl::Status cancelled;
  do cancelled = other->runner->Cancel(name);
  while (absl::IsUnavailable(cancelled));
  ASSERT_EQ(cancelled, absl::OkStatus());
  EXPECT_EQ(one->AwaitEnd(name).error().code(), 1);
  EXPECT_EQ(other->AwaitEnd(name).error().code(), 1);
}

TEST_F(SharedOperationsTest, AnotherServerGoesOnWhenOneHasEnded) {
  auto one = Start();
  const auto other = Start();
  const std::string name = one->Begin(1);
  other->Await(name, [](const auto&) { return true; });
  EXPECT_EQ(other->resumed, 0);
  one.reset();
  for (int i = 0; i < 10'000 && other->resumed == 0; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(other->resumed, 1);
  may_end_.Notify();
  EXPECT_TRUE(other->AwaitEnd(name).response().Is<admin::Table>());
}

TEST_F(SharedOperationsTest, WhatNeverWasIsNotFound) {
  const auto one = Start();
  EXPECT_EQ(one->runner->Cancel("operations/projects/p/operations/1").code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sonde
