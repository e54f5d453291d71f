#include "series/write/rollup_refresher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "series/known/rollup_marks.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr int kRequests = 20;
const std::pair kCount("m", "x_count");

class RollupRefresherTest : public testing::Test {
 protected:
  RollupRefresherTest() {
    schema_ =
        ParseSchema(
            "series: s\ntags: { host: string }\nfields: { x: double }\nbucket: day\nkey: [host, bucket]\n"
            "retention: { max_age: 1y }\n"
            "derive: [ rollup: { table: s_1h, every: hour, aggregates: [count], retention: 5y } ]\n",
            "x.yaml")
            .value();
    schema_.text.clear();
    EXPECT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
  }

  // A request of its own: a point of each of two hosts.
  void Write(int request, RollupRefresher* refresher) {
    PointWriter writer(schema_, &tables_, {}, &clock_, PointWriter::Target::kAll, {.refresher = refresher});
    for (const char* host : {"a", "b"}) {
      ASSERT_TRUE(writer.Add({{host}, kDay + request * kMicrosPerSecond, {"1"}}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  }

  std::string CountOf(const std::string& row) {
    auto& cells = tables_.tables["s_1h"].rows[row][kCount];
    return cells.empty() ? "none" : cells.begin()->second;
  }
  size_t Marks() { return tables_.tables[kMarksTable].rows.size(); }

  SeriesSchema schema_;
  MemoryTables tables_;
  ManualClock clock_{kDay + kMicrosPerDay};
};

TEST_F(RollupRefresherTest, ReadsEachPieceOnceForManyRequests) {
  for (int i = 0; i < kRequests; ++i) Write(i, nullptr);
  EXPECT_EQ(tables_.read_requests, 4 * kRequests) << "marks, rows that are there, and a piece of each host";
  EXPECT_EQ(CountOf("a#1614816000000"), fmt::format("{}", kRequests));

  tables_.read_requests = 0;
  RollupRefresher refresher(&tables_, &clock_);
  for (int i = 0; i < kRequests; ++i) Write(kRequests + i, &refresher);
  EXPECT_EQ(tables_.read_requests, 0);
  EXPECT_EQ(refresher.pieces_waiting(), 2 * kRequests);
  EXPECT_EQ(Marks(), 2);
  clock_.Advance(1'000);
  ASSERT_TRUE(refresher.Refresh().ok());
  EXPECT_EQ(tables_.read_requests, 3) << "rows that are there, and a piece of each host";
  EXPECT_EQ(CountOf("a#1614816000000"), fmt::format("{}", 2 * kRequests));
  EXPECT_EQ(CountOf("b#1614816000000"), fmt::format("{}", 2 * kRequests));
  EXPECT_EQ(Marks(), 0);
  EXPECT_EQ(refresher.pieces_waiting(), 0);
}

TEST_F(RollupRefresherTest, WhatComesDuringARefreshIsNotForgotten) {
  RollupRefresher refresher(&tables_, &clock_);
  Write(0, &refresher);
  // Marked and written, but not yet taken.
  RollupKeeper under_way(schema_, &tables_, &clock_);
  const std::string_view host = "a";
  under_way.Touch({&host, 1}, kDay);
  ASSERT_TRUE(under_way.BeforeWrite().ok());
  ASSERT_TRUE(refresher.Refresh().ok());
  EXPECT_EQ(Marks(), 1);
  ASSERT_TRUE(refresher.Take(schema_, &under_way));
  ASSERT_TRUE(refresher.Refresh().ok());
  EXPECT_EQ(Marks(), 0);
}

// Requests that came before a new version was declared know nothing of its table.
TEST_F(RollupRefresherTest, RefreshesByTheDeclarationThatIsStored) {
  const auto declared = [&](std::string_view rest) {
    const SeriesSchema schema =
        ParseSchema(fmt::format("series: v\ntags: {{ host: string }}\nfields: {{ x: double }}\n{}", rest),
                    "x.yaml")
            .value();
    EXPECT_EQ(EnsureSeriesTables(schema, &tables_, &clock_), absl::OkStatus());
    return schema;
  };
  const std::string derive =
      "derive: [ rollup: { table: v_1d, every: day, aggregates: [count] }, rollup: { table: v_1h } ]\n";
  const auto write = [&](const SeriesSchema& schema, int hour, RollupRefresher* refresher) {
    PointWriter writer(schema, &tables_, {}, &clock_, PointWriter::Target::kAll, {.refresher = refresher});
    ASSERT_TRUE(writer.Add({{"a"}, kDay + hour * kMicrosPerHour, {"1"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  };
  RollupRefresher before(&tables_, &clock_), after(&tables_, &clock_);
  write(declared("table: v_1\nbucket: day\nkey: [host, bucket]\n" + derive), 1, &before);
  const SeriesSchema now = declared(
      "table: v_2\nbucket: hour\nkey: [host, bucket]\nversions:\n  - { until: 2021-03-04-1200, table: v_1, "
      "bucket: day, key: [host, bucket] }\nderive: [ rollup: { table: v_1d, every: day, aggregates: [count] "
      "} "
      "]\n");
  write(now, 13, &after);
  ASSERT_TRUE(after.Refresh().ok());
  ASSERT_TRUE(before.Refresh().ok());
  ASSERT_EQ(tables_.tables["v_1d"].rows.size(), 1);
  EXPECT_EQ(tables_.tables["v_1d"].rows.begin()->second[kCount].begin()->second, "2");
  EXPECT_TRUE(tables_.tables["v_1h"].rows.empty()) << "nobody declares it any more";
  EXPECT_EQ(Marks(), 0);
}

// The other roll-ups go on.
TEST_F(RollupRefresherTest, ATableThatWasDroppedIsPassedOver) {
  RollupTable other = schema_.rollups[0];
  other.table = "s_other";
  schema_.rollups.insert(schema_.rollups.begin(), other);
  ASSERT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
  RollupRefresher refresher(&tables_, &clock_);
  Write(0, &refresher);
  ASSERT_TRUE(tables_.DropTable("s_other").ok());
  EXPECT_EQ(refresher.Refresh(), absl::OkStatus());
  EXPECT_EQ(CountOf(tables_.tables["s_1h"].rows.begin()->first), "1");
  EXPECT_EQ(Marks(), 0);
}

// Its marks are of pieces that begin within one of those that it has now.
TEST_F(RollupRefresherTest, PiecesThatDiedWithAnotherWidthAreRefreshedWhole) {
  {
    RollupRefresher refresher(&tables_, &clock_);
    for (const int hour : {0, 7}) {
      PointWriter writer(schema_, &tables_, {}, &clock_, PointWriter::Target::kAll,
                         {.refresher = &refresher});
      ASSERT_TRUE(writer.Add({{"a"}, kDay + hour * kMicrosPerHour, {"1"}}).ok());
      ASSERT_TRUE(writer.Flush().ok());
    }
  }
  schema_.rollups[0].every = ParseBucketWidth("day").value();
  RollupRefresher next(&tables_, &clock_);
  ASSERT_TRUE(next.Recover(schema_).ok());
  ASSERT_EQ(tables_.tables["s_1h"].rows.size(), 1);
  EXPECT_EQ(CountOf(tables_.tables["s_1h"].rows.begin()->first), "2");
}

TEST_F(RollupRefresherTest, AfterADeathTheNextStartRecovers) {
  {
    RollupRefresher refresher(&tables_, &clock_);
    Write(0, &refresher);
  }
  EXPECT_EQ(CountOf("a#1614816000000"), "none");
  RollupRefresher next(&tables_, &clock_);
  ASSERT_TRUE(next.Recover(schema_).ok());
  EXPECT_EQ(CountOf("a#1614816000000"), "1");
  clock_.Advance(kMicrosPerHour);
  ASSERT_TRUE(next.Recover(schema_).ok());
  EXPECT_EQ(Marks(), 0);
}

TEST_F(RollupRefresherTest, TakesNoMoreThanItMayHold) {
  RollupRefresher refresher(&tables_, &clock_, 3);
  Write(0, &refresher);
  Write(1, &refresher);
  EXPECT_EQ(refresher.pieces_waiting(), 4);
  clock_.Advance(1'000);
  Write(2, &refresher);  // refreshes by itself
  EXPECT_EQ(refresher.pieces_waiting(), 4);
  EXPECT_EQ(CountOf("a#1614816000000"), "3");
}

}  // namespace
}  // namespace sonde::series
