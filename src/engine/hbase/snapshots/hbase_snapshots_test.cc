// Snapshots on an HBase in this process whose master loses calls and answers, and ends procedures late.
#include "engine/hbase/snapshots/hbase_snapshots.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/hbase/log/stored_log.h"
#include "hbase/fake_hbase_test_support.h"
#include "hbase/fake_master_test_support.h"

namespace sonde {
namespace {

using absl::StatusCode;
using hbase::FakeAnswer;
using hbase::FakeCall;
using hbase::FakeMaster;
using testing::ElementsAre;
using testing::IsEmpty;

absl::Time Soon() { return absl::Now() + absl::Minutes(1); }

hbase::TableName NameOf(TableId table) { return {"space", fmt::format("t{}", table)}; }

std::optional<TableId> IdOf(const hbase::TableName& table) {
  if (!table.name.starts_with('t') || table.name.size() != 2) return std::nullopt;
  return static_cast<TableId>(table.name[1] - '0');
}

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
