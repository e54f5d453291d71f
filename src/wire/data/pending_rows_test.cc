#include "wire/data/pending_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "changes/change_record.h"
#include "engine/memory/memory_engine.h"
#include "engine/noting_engine_test_support.h"
#include "wire/data/message_test_support.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string TableName(const std::string& id) { return "projects/p/instances/i/tables/" + id; }

pb::MutateRowsRequest Request(const std::string& table, const std::vector<std::string>& row_keys,
                              const std::string& family = "f", const std::string& value = "v",
                              int64_t timestamp_micros = 1000) {
  pb::MutateRowsRequest request;
  request.set_table_name(TableName(table));
  for (const std::string& row_key : row_keys) {
    auto* entry = request.add_entries();
    entry->set_row_key(row_key);
    auto* cell = entry->add_mutations()->mutable_set_cell();
    cell->set_family_name(family);
    cell->set_column_qualifier("q");
    cell->set_timestamp_micros(timestamp_micros);
    cell->set_value(value);
  }
  return request;
}

class PendingRowsTest : public testing::Test {
 protected:
  PendingRowsTest() {
    for (const std::string id : {"a", "b", "logged"}) {
      TableSchema schema;
      schema.name = TableName(id);
      schema.families = {{.name = "f", .gc_rule = {}}, {.name = "sum", .aggregate = AggregateKind::kSum}};
      if (id == "logged") schema.change_stream.emplace();
      EXPECT_TRUE(catalog_->Create(schema).ok());
    }
  }

  void Start(int commits_max = 1, WaitLimits limits = {}) {
    line_.emplace(&tables_, &workers_, CommitLine::Options{.commits_max = commits_max, .limits = limits});
  }
  // Starts, and holds the first commit, of a request that is told of in answers_[0].
  void StartAndHold(WaitLimits limits = {}) {
    Start(1, limits);
    Add(Request("a", {"first"}), 0);
    engine_.first_began.WaitForNotification();
  }

  std::unique_ptr<PendingRows> Make(const std::string& bytes, size_t index,
                                    absl::Time deadline = absl::InfiniteFuture(),
                                    const absl::Status& interrupted = absl::OkStatus()) {
    auto place = admission_.Admit(static_cast<int64_t>(bytes.size()));
    EXPECT_TRUE(place.ok());
    return std::make_unique<PendingRows>(
        &tables_, MessageOf(bytes), *std::move(place), deadline, Priority::kHigh, [=] { return interrupted; },
        [this, index](const absl::StatusOr<std::vector<absl::Status>>& statuses, Admission::Place,
                      absl::Time) {
          std::string text = statuses.status().ToString();
          if (statuses.ok()) {
            text = absl::StrJoin(*statuses, " ", [](std::string* out, const absl::Status& status) {
              out->append(absl::StatusCodeToString(status.code()));
            });
          }
          const absl::MutexLock lock(&mutex_);
          answers_[index].push_back(text);
          ++told_;
        });
  }
  void Add(const pb::MutateRowsRequest& request, size_t index) {
    PendingRows::Add(&*line_, Make(request.SerializeAsString(), index));
  }
  void AwaitTold(int count) {
    const absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return told_ >= count; };
    ASSERT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(30)));
  }

  // What the log tells of a table, as "row=value".
  std::vector<std::string> LoggedValues(const std::string& table) {
    std::vector<std::string> values;
    const auto visit = [&values](const RowLog::Piece& bytes) {
      ChangePiece piece;
      EXPECT_EQ(DecodeChangePiece(bytes.bytes, &piece), absl::OkStatus());
      const auto* const cell = std::get_if<SetCell>(&piece.mutations.at(0).mutation);
      values.push_back(fmt::format("{}={}", piece.row_key, cell == nullptr ? "no cell" : cell->value));
      return true;
    };
    const TableId id = (*catalog_->Find(TableName(table)))->id;
    EXPECT_EQ(memory_->log()->Read(id, RowRange::All(), 1, 0, std::numeric_limits<int64_t>::max(), visit),
              absl::OkStatus());
    return values;
  }

  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  NotingEngine engine_{memory_.get()};
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(&engine_);
  SystemClock clock_;
  Tables tables_{&engine_, catalog_.get(), &clock_, /*seed=*/1};
  Admission admission_{"writes", {.requests = 10'000, .bytes = 1 << 30}};
  absl::Mutex mutex_;
  std::vector<std::vector<std::string>> answers_ = std::vector<std::vector<std::string>>(1000);
  int told_ = 0;
  TurnClock clock_of_turns_{/*processors=*/1};
  WorkerPool workers_{4, {}, &clock_of_turns_};
  std::optional<CommitLine> line_;
};

TEST_F(PendingRowsTest, WhatComesDuringACommitIsTheNext) {
  StartAndHold();
  for (size_t i = 1; i <= 100; ++i) Add(Request("a", {fmt::format("r{}", i), fmt::format("s{}", i)}), i);
  EXPECT_THAT(engine_.commits(), SizeIs(1));
  engine_.first_may_go_on.Notify();
  AwaitTold(101);
  EXPECT_THAT(engine_.commits(), ElementsAre(ElementsAre("together", "first"), SizeIs(201)));
  EXPECT_EQ(engine_.commits()[1][200], "s100");
  EXPECT_THAT(answers_[0], ElementsAre("OK"));
  for (size_t i = 1; i <= 100; ++i) EXPECT_THAT(answers_[i], ElementsAre("OK OK"));
}

TEST_F(PendingRowsTest, ACommitHasABound) {
  StartAndHold();
  for (size_t i = 1; i <= 300; ++i) Add(Request("a", {"r"}), i);
  const std::string value(60'000, 'v');
  for (size_t i = 301; i <= 330; ++i) Add(Request("a", {"r"}, "f", value), i);
  engine_.first_may_go_on.Notify();
  AwaitTold(331);
  // Some 18 messages of 60 kB are 1 MiB.
  EXPECT_THAT(engine_.commits(),
              ElementsAre(SizeIs(2), SizeIs(1 + 256), SizeIs(1 + 44 + 18), SizeIs(1 + 12)));
}

TEST_F(PendingRowsTest, EachTableHasItsOwnCommit) {
  StartAndHold();
  Add(Request("a", {"a1"}), 1);
  Add(Request("b", {"b1"}), 2);
  Add(Request("a", {"a2"}), 3);
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  EXPECT_THAT(engine_.commits(),
              UnorderedElementsAre(ElementsAre("together", "first"), ElementsAre("together", "a1", "a2"),
                                   ElementsAre("alone", "b1")));
}

TEST_F(PendingRowsTest, AFaultIsThatOfItsRequest) {
  StartAndHold();
  Add(Request("a", {"good"}), 1);
  Add(Request("a", {"r", "s"}, "none"), 2);
  Add(Request("a", {"r", "s"}, "sum"), 3);
  Add(Request("a", {"r", ""}), 4);
  Add(Request("a", {}), 5);
  Add(Request("none", {"r"}), 6);
  PendingRows::Add(&*line_, Make("\xff garbage", 7));
  Add(Request("a", {"good, too"}), 8);
  engine_.first_may_go_on.Notify();
  AwaitTold(9);
  EXPECT_THAT(answers_[1], ElementsAre("OK"));
  EXPECT_THAT(answers_[2], ElementsAre("NOT_FOUND NOT_FOUND"));
  EXPECT_THAT(answers_[3], ElementsAre("INVALID_ARGUMENT INVALID_ARGUMENT"));
  EXPECT_THAT(answers_[4], ElementsAre("OK INVALID_ARGUMENT"));
  EXPECT_THAT(answers_[5], ElementsAre("INVALID_ARGUMENT: No mutations provided"));
  EXPECT_THAT(answers_[6], ElementsAre(StartsWith("NOT_FOUND")));
  EXPECT_THAT(answers_[7], ElementsAre(StartsWith("INVALID_ARGUMENT")));
  EXPECT_THAT(answers_[8], ElementsAre("OK"));
  EXPECT_THAT(engine_.commits(),
              UnorderedElementsAre(ElementsAre("together", "first"), ElementsAre("alone", "r"),
                                   ElementsAre("together", "good", "good, too")));
}

TEST_F(PendingRowsTest, WhatMayWaitForOthersGoesByItself) {
  StartAndHold();
  Add(Request("a", {"server time"}, "f", "v", -1), 1);  // nobody has the turn of its row
  pb::MutateRowsRequest request = Request("a", {"deleted"});
  request.mutable_entries(0)->add_mutations()->mutable_delete_from_row();
  Add(request, 2);
  request = Request("a", {"token"});
  request.mutable_entries(0)->mutable_idempotency()->set_token("12345678");
  Add(request, 3);
  Add(Request("a", {"large"}, "f", std::string(70'000, 'v')), 4);  // does not wait for the first
  Add(Request("a", {"plain"}), 5);
  engine_.first_may_go_on.Notify();
  AwaitTold(6);
  for (size_t i = 1; i <= 5; ++i) EXPECT_THAT(answers_[i], ElementsAre("OK")) << i;
  EXPECT_THAT(
      engine_.commits(),
      UnorderedElementsAre(ElementsAre("together", "first"), ElementsAre("together", "server time", "plain"),
                           ElementsAre("alone", "deleted"), ElementsAre("alone", "token"),
                           ElementsAre("alone", "large")));
}

// Their records are made from rows that stay until the commit.
TEST_F(PendingRowsTest, RequestsForALoggedTableGoTogether) {
  StartAndHold();
  Add(Request("logged", {"r", "s"}, "f", "first"), 1);
  Add(Request("logged", {"t"}, "f", "second"), 2);
  Add(Request("logged", {"u", "v"}, "f", "third"), 3);
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  EXPECT_THAT(answers_[1], ElementsAre("OK OK"));
  EXPECT_THAT(answers_[2], ElementsAre("OK"));
  EXPECT_THAT(answers_[3], ElementsAre("OK OK"));
  EXPECT_THAT(engine_.commits(), ElementsAre(ElementsAre("together", "first"), SizeIs(1 + 5)));
  EXPECT_THAT(LoggedValues("logged"),
              UnorderedElementsAre("r=first", "s=first", "t=second", "u=third", "v=third"));
}

TEST_F(PendingRowsTest, ARowThatWouldKeepOthersWaitingIsWrittenAlone) {
  engine_.full_may_go_on.Notify();
  StartAndHold();
  for (size_t i = 1; i <= 3; ++i) Add(Request("a", {i == 2 ? "full" : fmt::format("r{}", i)}), i);
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  for (size_t i = 1; i <= 3; ++i) EXPECT_THAT(answers_[i], ElementsAre("OK"));
  EXPECT_THAT(engine_.commits(),
              UnorderedElementsAre(ElementsAre("together", "first"), ElementsAre("together", "r1", "r3"),
                                   ElementsAre("alone", "full")));
}

TEST_F(PendingRowsTest, WhoHasGoneIsLeftOut) {
  StartAndHold();
  Add(Request("a", {"stays"}), 1);
  PendingRows::Add(&*line_, Make(Request("a", {"gone", "r"}).SerializeAsString(), 2, absl::InfiniteFuture(),
                                 absl::CancelledError("The client has gone")));
  PendingRows::Add(&*line_, Make(Request("a", {"late"}).SerializeAsString(), 3, absl::Now()));
  engine_.first_may_go_on.Notify();
  AwaitTold(4);
  EXPECT_THAT(answers_[1], ElementsAre("OK"));
  EXPECT_THAT(answers_[2], ElementsAre("CANCELLED CANCELLED"));
  EXPECT_THAT(answers_[3], ElementsAre(StartsWith("DEADLINE_EXCEEDED")));
  EXPECT_THAT(engine_.commits(), ElementsAre(SizeIs(2), ElementsAre("together", "stays")));
}

TEST_F(PendingRowsTest, RefusesWhatWouldWaitForTooLong) {
  StartAndHold({.waiting = 3, .wait = absl::Milliseconds(20)});
  Add(Request("a", {"waits"}), 1);
  clock_of_turns_.Beat(absl::Milliseconds(40));
  Add(Request("a", {"refused"}), 2);
  ASSERT_THAT(answers_[2], ElementsAre(StartsWith("UNAVAILABLE")));
  engine_.first_may_go_on.Notify();
  AwaitTold(3);
  EXPECT_THAT(answers_[0], ElementsAre("OK"));
  EXPECT_THAT(answers_[1], ElementsAre(StartsWith("UNAVAILABLE")));
  EXPECT_THAT(engine_.commits(), SizeIs(1));
}

TEST_F(PendingRowsTest, RefusesWhatFindsNoRoom) {
  StartAndHold({.waiting = 3});
  for (size_t i = 1; i <= 4; ++i) Add(Request("a", {"r"}), i);
  EXPECT_THAT(answers_[4], ElementsAre(HasSubstr("3 requests are waiting")));
  engine_.first_may_go_on.Notify();
  AwaitTold(5);
}

// Random requests get the same answers, and leave the same cells, together as one by one.
TEST_F(PendingRowsTest, AnswersAreThoseOfEachByItself) {
  engine_.first_may_go_on.Notify();
  Start(3);
  SeededRandom random(1);
  std::vector<std::string> messages;
  for (int i = 0; i < 300; ++i) {
    pb::MutateRowsRequest request;
    request.set_table_name(TableName(random.Uniform(20) == 0 ? "none" : random.Uniform(4) == 0 ? "b" : "a"));
    for (uint64_t row = random.Uniform(6); row > 0; --row) {
      auto* entry = request.add_entries();
      entry->set_row_key(random.Uniform(30) == 0 ? "" : fmt::format("{}/{}", i, random.Uniform(4)));
      for (uint64_t count = 1 + random.Uniform(3); count > 0; --count) {
        auto* mutation = entry->add_mutations();
        if (random.Uniform(30) == 0) {
          mutation->mutable_delete_from_row();
          continue;
        }
        auto* cell = mutation->mutable_set_cell();
        cell->set_family_name(random.Uniform(40) == 0 ? "none" : random.Uniform(40) == 0 ? "sum" : "f");
        cell->set_column_qualifier(fmt::format("q{}", random.Uniform(3)));
        cell->set_timestamp_micros(1000 * static_cast<int64_t>(random.Uniform(3)) +
                                   (random.Uniform(40) == 0 ? 1 : 0));
        cell->set_value(fmt::format("{}", random.Next()));
      }
    }
    messages.push_back(request.SerializeAsString());
  }
  const auto contents = [this](TableId table) {
    std::string text;
    auto stream = memory_->Scan(table, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok());
    RowPiece piece;
    while (stream.ok() && *(*stream)->Next(&piece)) {
      for (const CellView& cell : piece.cells) {
        text +=
            fmt::format("{} {} {} {}\n", piece.row_key, cell.qualifier, cell.timestamp_micros, cell.value);
      }
    }
    return text;
  };
  const auto both_tables = [&] {
    std::string text;
    for (const char* const id : {"a", "b"}) text += contents((*catalog_->Find(TableName(id)))->id) + "--\n";
    return text;
  };
  for (size_t i = 0; i < messages.size(); ++i) CommitLine::Commit(&tables_, Make(messages[i], i));
  const std::string wanted = both_tables();
  for (const char* const id : {"a", "b"}) {
    ASSERT_TRUE(
        memory_->DropRange((*catalog_->Find(TableName(id)))->id, RowRange::All(), absl::InfiniteFuture())
            .ok());
  }
  for (size_t i = 0; i < messages.size(); ++i) PendingRows::Add(&*line_, Make(messages[i], i));
  AwaitTold(600);
  for (size_t i = 0; i < messages.size(); ++i) {
    ASSERT_THAT(answers_[i], SizeIs(2));
    EXPECT_EQ(answers_[i][0], answers_[i][1]) << i;
  }
  EXPECT_EQ(both_tables(), wanted);
}

TEST_F(PendingRowsTest, FinishesEverythingBeforeItEnds) {
  engine_.first_may_go_on.Notify();
  for (int round = 0; round < 20; ++round) {
    Start(2);
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this, thread] {
        for (size_t i = 0; i < 10; ++i) Add(Request(thread % 2 == 0 ? "a" : "b", {"r"}), 10 * thread + i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    line_.reset();
    AwaitTold(40 * (round + 1));
  }
  for (size_t i = 0; i < 40; ++i) EXPECT_THAT(answers_[i], SizeIs(20));
}

}  // namespace
}  // namespace sonde
