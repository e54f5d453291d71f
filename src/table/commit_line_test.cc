#include "table/commit_line.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"
#include "engine/noting_engine_test_support.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Notes what it is told of writes: "rows cells errors" of each request.
class Writes final : public AccessObserver {
 public:
  void OnAccess(TableId, const AccessPart& part) override {
    const absl::MutexLock lock(&mutex);
    std::string line;
    for (const AccessedRow& row : part.rows) line += fmt::format("{}/{} ", row.row_key, row.bytes);
    told.push_back(line + fmt::format("cells {} errors {}", part.cells, part.errors));
    EXPECT_TRUE(part.latency_micros.has_value());
  }
  void OnFullScan(TableId, const FullScan&) override {}
  std::vector<std::string> TabletStarts(TableId) override { return {}; }
  absl::Mutex mutex;
  std::vector<std::string> told;
};

// A write of one row, or of some.
class TestWrite final : public PendingWrite {
 public:
  using Tell = std::function<void(absl::StatusOr<std::vector<absl::Status>>)>;
  TestWrite(TableSchemaRef schema, std::vector<RowMutations> rows, absl::Time deadline, Tell tell)
      : PendingWrite(deadline, 1), rows_(std::move(rows)), tell_(std::move(tell)) {
    target_.schema = std::move(schema);
  }
  WhyAlone Open() override { return WhyAlone::kNot; }
  std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>*) override {
    return rows_;
  }
  absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() override { return rows_; }
  absl::Status Interrupted() const override { return absl::OkStatus(); }
  void Done(absl::StatusOr<std::vector<absl::Status>> statuses) override { tell_(std::move(statuses)); }

  AuthorizedViewRef& view() { return target_.view; }

 private:
  const std::vector<RowMutations> rows_;
  const Tell tell_;
};

class CommitLineTest : public testing::Test {
 protected:
  CommitLineTest() {
    a_ = MakeTable("a");
    b_ = MakeTable("b");
  }

  TableSchemaRef MakeTable(const std::string& name) {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/" + name;
    schema.families = {{.name = "f", .gc_rule = {}}};
    return *catalog_->Create(schema);
  }

  void Start(WaitLimits limits = {}) {
    line_.emplace(&tables_, &workers_, CommitLine::Options{.limits = limits});
  }

  // Tells of it in statuses_[`index`].
  void Add(const TableSchemaRef& schema, const std::string& row_key, size_t index,
           absl::Time deadline = absl::InfiniteFuture(), const char* family = "f") {
    const absl::MutexLock adding(&adding_mutex_);
    const auto& mutations = mutations_.emplace_back(std::vector<Mutation>{SetCell{family, "q", 0, "v"}});
    const std::vector<RowMutations> rows = {{row_keys_.emplace_back(row_key), mutations}};
    line_->Add(std::make_unique<TestWrite>(schema, rows, deadline, [this, index](const auto& statuses) {
      const absl::MutexLock lock(&mutex_);
      statuses_[index].push_back(statuses.ok() ? statuses->at(0) : statuses.status());
      ++told_;
    }));
  }
  void AwaitTold(int count) {
    const absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return told_ >= count; };
    ASSERT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30)));
  }

  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  NotingEngine engine_{memory_.get()};
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(&engine_);
  SystemClock clock_;
  Writes writes_;
  Tables tables_{&engine_, catalog_.get(), &clock_, /*seed=*/1, &writes_};
  TurnClock clock_of_turns_{/*processors=*/1};
  WorkerPool workers_{2, {}, &clock_of_turns_};
  TableSchemaRef a_, b_;
  absl::Mutex adding_mutex_;
  std::deque<std::string> row_keys_;
  std::deque<std::vector<Mutation>> mutations_;
  absl::Mutex mutex_;
  std::vector<std::vector<absl::Status>> statuses_ = std::vector<std::vector<absl::Status>>(1000);
  int told_ = 0;
  std::optional<CommitLine> line_;
};

TEST_F(CommitLineTest, WhatComesDuringACommitIsTheNext) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  for (size_t i = 1; i <= 100; ++i) Add(a_, "r" + std::to_string(i), i);
  EXPECT_THAT(engine_.commits(), SizeIs(1));
  engine_.first_may_go_on.Notify();
  AwaitTold(101);
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(2), SizeIs(101)));
  EXPECT_EQ(engine_.commits()[1][100], "r100");
  for (size_t i = 0; i <= 100; ++i) EXPECT_THAT(statuses_[i], ElementsAre(absl::OkStatus()));
}

TEST_F(CommitLineTest, ACommitHasABound) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  for (size_t i = 1; i <= 300; ++i) Add(a_, "r", i);
  engine_.first_may_go_on.Notify();
  AwaitTold(301);
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(2), SizeIs(257), SizeIs(45)));
}

TEST_F(CommitLineTest, EachTableHasItsOwnCommit) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  Add(a_, "a1", 1);
  Add(b_, "b1", 2);
  Add(a_, "a2", 3);
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  EXPECT_THAT(engine_.commits(), UnorderedElementsAre(SizeIs(2), ElementsAre("together", "a1", "a2"),
                                                      ElementsAre("alone", "b1")));
}

TEST_F(CommitLineTest, AFaultIsThatOfItsRow) {
  Start();
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  Add(a_, "good", 1);
  Add(a_, "bad", 2, absl::InfiniteFuture(), "none");
  engine_.first_may_go_on.Notify();
  AwaitTold(3);
  EXPECT_THAT(statuses_[1], ElementsAre(absl::OkStatus()));
  ASSERT_THAT(statuses_[2], SizeIs(1));
  EXPECT_EQ(statuses_[2][0].code(), absl::StatusCode::kNotFound) << statuses_[2][0];
}

TEST_F(CommitLineTest, NobodyWaitsForTheRowOfAnother) {
  Start();
  engine_.first_may_go_on.Notify();
  Add(a_, "first", 0);
  AwaitTold(1);
  Add(a_, "full", 1);
  for (size_t i = 2; i < 12; ++i) Add(a_, "r", i);
  AwaitTold(11);
  EXPECT_THAT(statuses_[1], SizeIs(0));
  engine_.full_may_go_on.Notify();
  AwaitTold(12);
  EXPECT_THAT(statuses_[1], ElementsAre(absl::OkStatus()));
}

TEST_F(CommitLineTest, RefusesWhatWouldWaitForTooLong) {
  Start({.waiting = 3, .wait = absl::Milliseconds(20)});
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  Add(a_, "late", 1, absl::Now());
  Add(a_, "waits", 2);
  clock_of_turns_.Beat(absl::Milliseconds(40));
  Add(a_, "refused", 3);
  ASSERT_THAT(statuses_[3], SizeIs(1));
  EXPECT_EQ(statuses_[3][0].code(), absl::StatusCode::kUnavailable);
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  EXPECT_THAT(statuses_[0], ElementsAre(absl::OkStatus()));
  EXPECT_EQ(statuses_[1][0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(statuses_[2][0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(engine_.commits(), ElementsAre(ElementsAre("together", "first")));
}

TEST_F(CommitLineTest, RefusesWhatFindsNoRoom) {
  Start({.waiting = 3});
  Add(a_, "first", 0);
  engine_.first_began.WaitForNotification();
  for (size_t i = 1; i <= 4; ++i) Add(a_, "r", i);
  ASSERT_THAT(statuses_[4], SizeIs(1));
  EXPECT_EQ(statuses_[4][0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(statuses_[4][0].message(), HasSubstr("3 requests are waiting"));
  engine_.first_may_go_on.Notify();
  AwaitTold(5);
}

TEST_F(CommitLineTest, FinishesEverythingBeforeItEnds) {
  engine_.first_may_go_on.Notify();
  for (int round = 0; round < 20; ++round) {
    Start();
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this, thread] {
        for (size_t i = 0; i < 10; ++i) Add(thread % 2 == 0 ? a_ : b_, "r", 10 * thread + i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    line_.reset();
    AwaitTold(40 * (round + 1));
  }
  for (size_t i = 0; i < 40; ++i) EXPECT_THAT(statuses_[i], SizeIs(20));
}

// Several writes, each of some rows, that are one commit.
class WritesTogetherTest : public CommitLineTest {
 protected:
  WritesTogetherTest() {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/together";
    schema.families = {{.name = "z"}};
    schema_ = *catalog_->Create(schema);
    Start();
    Add(a_, "first", 0);
    engine_.first_began.WaitForNotification();  // so that what follows waits for the same commit
  }
  // "OK NOT_FOUND" of each write.
  std::vector<std::string> Mutate(const std::vector<std::vector<RowMutations>>& writes,
                                  const AuthorizedViewRef& view = nullptr) {
    std::vector<std::string> codes(writes.size());
    for (size_t i = 0; i < writes.size(); ++i) {
      auto write = std::make_unique<TestWrite>(
          schema_, writes[i], absl::InfiniteFuture(), [this, line = &codes[i]](const auto& statuses) {
            const absl::MutexLock lock(&mutex_);
            for (const absl::Status& status : *statuses)
              *line += (line->empty() ? "" : " ") + absl::StatusCodeToString(status.code());
            ++told_;
          });
      write->view() = view;
      line_->Add(std::move(write));
    }
    engine_.first_may_go_on.Notify();
    AwaitTold(static_cast<int>(1 + writes.size()));
    return codes;
  }

  TableSchemaRef schema_;
  const std::vector<Mutation> set_ = {SetCell{"z", "q", 0, "v"}, SetCell{"z", "r", 0, "vw"}};
  const std::vector<Mutation> mismatch_ = {AddToCell{"z", "q", 0, 1}};
  const std::vector<Mutation> unknown_ = {SetCell{"none", "q", 0, "v"}};
};

TEST_F(WritesTogetherTest, FaultsAreThoseOfTheirWrite) {
  EXPECT_THAT(
      Mutate({{{"a", set_}, {"b", unknown_}},
              {{"c", set_}, {"d", mismatch_}, {"e", unknown_}},
              {{"f", unknown_}},
              {{"g", set_}}}),
      ElementsAre("OK NOT_FOUND", "INVALID_ARGUMENT INVALID_ARGUMENT INVALID_ARGUMENT", "NOT_FOUND", "OK"));
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(2), ElementsAre("together", "a", "g")));
  EXPECT_THAT(writes_.told,
              ElementsAre("first/2 cells 1 errors 0", "a/5 b/2 cells 3 errors 1",
                          "c/5 d/1 e/2 cells 4 errors 3", "f/2 cells 1 errors 1", "g/5 cells 2 errors 0"));
}

TEST_F(WritesTogetherTest, OnlyARowThatMustWaitIsWrittenLater) {
  engine_.full_may_go_on.Notify();
  EXPECT_THAT(Mutate({{{"a", set_}, {"full", set_}, {"b", unknown_}}, {{"c", set_}}}),
              ElementsAre("OK OK NOT_FOUND", "OK"));
  EXPECT_THAT(engine_.commits(),
              ElementsAre(SizeIs(2), ElementsAre("together", "a", "c"), ElementsAre("alone", "full")));
  EXPECT_EQ(line_->CountAlone(WhyAlone::kRowWaits), 1u);
  EXPECT_THAT(writes_.told, ElementsAre("first/2 cells 1 errors 0", "a/5 b/2 cells 3 errors 1",
                                        "c/5 cells 2 errors 0", "full/5 cells 2 errors 0"));
}

TEST_F(WritesTogetherTest, AViewIsKept) {
  auto view = std::make_shared<AuthorizedView>(AuthorizedView{.row_prefixes = {"in"}});
  view->families["z"].qualifiers = {"q", "r"};
  EXPECT_THAT(Mutate({{{"in1", set_}, {"out", set_}}, {{"in2", set_}}}, view),
              ElementsAre("OK PERMISSION_DENIED", "OK"));
}

// On a full disk a write that adds refuses one that deletes.
TEST_F(WritesTogetherTest, WhatIsRefusedTogetherIsWrittenAlone) {
  const std::vector<Mutation> remove = {DeleteFromRow{}};
  engine_.refuses_adds = true;
  EXPECT_THAT(Mutate({{{"a", remove}}, {{"b", set_}}, {{"c", remove}}}),
              ElementsAre("OK", "RESOURCE_EXHAUSTED", "OK"));
  EXPECT_EQ(line_->CountAlone(WhyAlone::kRefused), 3u);
  EXPECT_THAT(engine_.commits(), UnorderedElementsAre(SizeIs(2), ElementsAre("together", "a", "b", "c"),
                                                      ElementsAre("alone", "a"), ElementsAre("alone", "b"),
                                                      ElementsAre("alone", "c")));
}

// Nobody else can cure it, so that nothing is tried again.
TEST_F(WritesTogetherTest, WhatIsBusyIsToldToAll) {
  engine_.is_busy = true;
  EXPECT_THAT(Mutate({{{"a", set_}, {"b", unknown_}}, {{"c", set_}}}),
              ElementsAre("UNAVAILABLE NOT_FOUND", "UNAVAILABLE"));
  EXPECT_EQ(line_->CountAlone(WhyAlone::kRefused), 0u);
}

}  // namespace
}  // namespace sonde
