#include "wire/data/row_committer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/forwarding_engine.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Notes its commits; the first waits until it may go on.  The row "full" is full for now.
class SlowEngine : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  absl::Status Apply(TableId table, absl::Span<const RowChange> changes) override {
    bool is_first = false;
    {
      const absl::MutexLock lock(&mutex_);
      is_first = commits_.empty();
      std::vector<std::string>& rows = commits_.emplace_back();
      for (const RowChange& change : changes) rows.emplace_back(change.row_key);
    }
    if (is_first) {
      first_began_.Notify();
      first_may_go_on_.WaitForNotification();
    }
    if (changes[0].row_key == "full") full_may_go_on_.WaitForNotification();
    return engine_->Apply(table, changes);
  }
  bool RowMustWait(TableId /*table*/, std::string_view row_key) override { return row_key == "full"; }

  std::vector<std::vector<std::string>> commits() {
    const absl::MutexLock lock(&mutex_);
    return commits_;
  }

  absl::Notification first_began_, first_may_go_on_, full_may_go_on_;

 private:
  absl::Mutex mutex_;
  std::vector<std::vector<std::string>> commits_;  // the row keys of each
};

class RowCommitterTest : public testing::Test {
 protected:
  RowCommitterTest() {
    a_ = MakeTable("a");
    b_ = MakeTable("b");
  }

  TableSchemaRef MakeTable(const std::string& name) {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/" + name;
    schema.families = {{.name = "f", .gc_rule = {}}};
    return *catalog_->Create(schema);
  }

  void Start(WaitLimits limits = {}) { committer_.emplace(&tables_, &workers_, limits); }

  // Tells of it in statuses_[`index`].
  void Add(const TableSchemaRef& schema, const std::string& row_key, size_t index,
           absl::Time deadline = absl::InfiniteFuture(), const char* family = "f") {
    struct Kept {
      std::string row_key;
      std::vector<Mutation> mutations;
    };
    auto kept = std::make_unique<Kept>(Kept{row_key, {SetCell{family, "q", 0, "v"}}});
    const RowCommitter::Row row{schema, nullptr, {kept->row_key, kept->mutations, {}}};
    committer_->Add(row, deadline, [this, index, kept = std::move(kept)](const absl::Status& status) {
      const absl::MutexLock lock(&mutex_);
      statuses_[index].push_back(status);
      ++told_;
    });
  }
  void AwaitTold(int count) {
    const absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return told_ >= count; };
    ASSERT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30)));
  }

  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  SlowEngine engine_{memory_.get()};
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(&engine_);
  SystemClock clock_;
  Tables tables_{&engine_, catalog_.get(), &clock_, /*seed=*/1};
  TurnClock clock_of_turns_{/*processors=*/1};
  WorkerPool workers_{2, {}, &clock_of_turns_};
  TableSchemaRef a_, b_;
  std::optional<RowCommitter> committer_;
  absl::Mutex mutex_;
  std::vector<std::vector<absl::Status>> statuses_ = std::vector<std::vector<absl::Status>>(1000);
  int told_ = 0;
};

TEST_F(RowCommitterTest, WhatComesDuringACommitIsTheNext) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  for (size_t i = 1; i <= 100; ++i) Add(a_, "r" + std::to_string(i), i);
  EXPECT_THAT(engine_.commits(), SizeIs(1));
  engine_.first_may_go_on_.Notify();
  AwaitTold(101);
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(1), SizeIs(100)));
  EXPECT_EQ(engine_.commits()[1][99], "r100");
  for (size_t i = 0; i <= 100; ++i) EXPECT_THAT(statuses_[i], ElementsAre(absl::OkStatus()));
}

TEST_F(RowCommitterTest, ACommitHasABound) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  for (size_t i = 1; i <= 300; ++i) Add(a_, "r", i);
  engine_.first_may_go_on_.Notify();
  AwaitTold(301);
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(1), SizeIs(256), SizeIs(44)));
}

TEST_F(RowCommitterTest, EachTableHasItsOwnCommit) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  Add(a_, "a1", 1);
  Add(b_, "b1", 2);
  Add(a_, "a2", 3);
  engine_.first_may_go_on_.Notify();
  AwaitTold(4);
  EXPECT_THAT(engine_.commits(), UnorderedElementsAre(SizeIs(1), ElementsAre("a1", "a2"), ElementsAre("b1")));
}

TEST_F(RowCommitterTest, AFaultIsThatOfItsRow) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  Add(a_, "good", 1);
  Add(a_, "bad", 2, absl::InfiniteFuture(), "none");
  engine_.first_may_go_on_.Notify();
  AwaitTold(3);
  EXPECT_THAT(statuses_[1], ElementsAre(absl::OkStatus()));
  ASSERT_THAT(statuses_[2], SizeIs(1));
  EXPECT_EQ(statuses_[2][0].code(), absl::StatusCode::kNotFound) << statuses_[2][0];
}

TEST_F(RowCommitterTest, NobodyWaitsForTheRowOfAnother) {
  Start();
  engine_.first_may_go_on_.Notify();
  Add(a_, "first", 0);
  AwaitTold(1);
  Add(a_, "full", 1);
  for (size_t i = 2; i < 12; ++i) Add(a_, "r", i);
  AwaitTold(11);
  EXPECT_THAT(statuses_[1], SizeIs(0));
  engine_.full_may_go_on_.Notify();
  AwaitTold(12);
  EXPECT_THAT(statuses_[1], ElementsAre(absl::OkStatus()));
}

TEST_F(RowCommitterTest, RefusesWhatWouldWaitForTooLong) {
  Start({.waiting = 3, .wait = absl::Milliseconds(20)});
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  Add(a_, "late", 1, absl::Now());
  Add(a_, "waits", 2);
  clock_of_turns_.Beat(absl::Milliseconds(40));
  Add(a_, "refused", 3);
  ASSERT_THAT(statuses_[3], SizeIs(1));
  EXPECT_EQ(statuses_[3][0].code(), absl::StatusCode::kUnavailable);
  engine_.first_may_go_on_.Notify();
  AwaitTold(4);
  EXPECT_THAT(statuses_[0], ElementsAre(absl::OkStatus()));
  EXPECT_EQ(statuses_[1][0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(statuses_[2][0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(engine_.commits(), ElementsAre(ElementsAre("first")));
}

TEST_F(RowCommitterTest, RefusesWhatFindsNoRoom) {
  Start({.waiting = 3});
  Add(a_, "first", 0);
  engine_.first_began_.WaitForNotification();
  for (size_t i = 1; i <= 4; ++i) Add(a_, "r", i);
  ASSERT_THAT(statuses_[4], SizeIs(1));
  EXPECT_EQ(statuses_[4][0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(statuses_[4][0].message(), HasSubstr("3 requests are waiting"));
  engine_.first_may_go_on_.Notify();
  AwaitTold(5);
}

TEST_F(RowCommitterTest, FinishesEverythingBeforeItEnds) {
  engine_.first_may_go_on_.Notify();
  for (int round = 0; round < 20; ++round) {
    Start();
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this, thread] {
        for (size_t i = 0; i < 10; ++i) Add(thread % 2 == 0 ? a_ : b_, "r", 10 * thread + i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    committer_.reset();
    AwaitTold(40 * (round + 1));
  }
  for (size_t i = 0; i < 40; ++i) EXPECT_THAT(statuses_[i], SizeIs(20));
}

}  // namespace
}  // namespace sonde
