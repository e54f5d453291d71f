#include "keyviz/table_collector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

namespace sonde {
namespace {

void Touch(TableCollector* collector, const std::string& key, AccessKind kind = AccessKind::kWrite,
           uint64_t bytes = 10, uint32_t rows = 1) {
  const AccessedRow row{key, bytes, rows};
  collector->Record(0, {.kind = kind, .rows = absl::MakeSpan(&row, 1), .latency_micros = 100, .errors = 0});
}

AccessCounts Sum(const TableCollector::Counted& counted) {
  AccessCounts sum;
  for (const AccessCounts& one : counted.counts) sum.Add(one);
  return sum;
}

TEST(TableCollector, CountsExactlyWhatItIsTold) {
  TableCollector collector(1);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&collector, t] {
      for (int i = 0; i < 10'000; ++i) {
        const std::string key = fmt::format("{:05}", i * 7 % 10'000);
        const AccessedRow row{key, 3, 2};
        collector.Record(t, {.kind = t % 2 == 0 ? AccessKind::kRead : AccessKind::kWrite,
                             .rows = absl::MakeSpan(&row, 1),
                             .latency_micros = 5,
                             .errors = 1});
      }
    });
  }
  AccessCounts sum;
  for (int second = 0; second < 20; ++second) sum.Add(Sum(collector.Drain(second)));
  for (std::thread& thread : threads) thread.join();
  sum.Add(Sum(collector.Drain(20)));
  EXPECT_EQ(sum.reads, 40'000);
  EXPECT_EQ(sum.writes, 40'000);
  EXPECT_EQ(sum.read_bytes, 120'000);
  EXPECT_EQ(sum.write_bytes, 120'000);
  EXPECT_EQ(sum.requests, 40'000);
  EXPECT_EQ(sum.latency_micros, 200'000);
  EXPECT_EQ(sum.errors, 40'000);
  EXPECT_TRUE(collector.Drain(21).counts.empty());
}

// As a scan tells that its client has gone: after many rows, that it came to an end, and where.
TEST(TableCollector, CountsAnErrorWhereNoRowWas) {
  TableCollector collector(1);
  for (int i = 0; i < 1'000; ++i) Touch(&collector, fmt::format("{:06}", i), AccessKind::kRead);
  const AccessedRow place{.row_key = "000999", .bytes = 0, .rows = 0};
  collector.Record(0, {.kind = AccessKind::kRead, .rows = absl::MakeSpan(&place, 1), .errors = 1});
  const AccessCounts sum = Sum(collector.Drain(0));
  EXPECT_EQ(sum.reads, 1'000);
  EXPECT_EQ(sum.errors, 1);
}

TEST(TableCollector, DividesTheTableByItsKeys) {
  TableCollector collector(1);
  for (int second = 0; second < 30; ++second) {
    for (int i = 0; i < 2'000; ++i)
      Touch(&collector, fmt::format("{:06}", (second * 2'000 + i) * 7919 % 100'003));
    collector.Drain(second);
  }
  EXPECT_GT(collector.partition()->size(), 500);
  EXPECT_LE(collector.partition()->size(), TableCollector::kBucketsMax);
  // No bucket holds many more keys than others.
  std::vector<int> keys(collector.partition()->size());
  for (int i = 0; i < 60'000; ++i)
    ++keys[collector.partition()->Find(fmt::format("{:06}", i * 7919 % 100'003))];
  EXPECT_LT(*std::max_element(keys.begin(), keys.end()), 500);
}

TEST(TableCollector, AHotRowGetsABucketOfItsOwn) {
  TableCollector collector(1);
  for (int second = 0; second < 30; ++second) {
    for (int i = 0; i < 1'000; ++i)
      Touch(&collector, fmt::format("{:06}", (second * 1'000 + i) * 7919 % 100'003));
    for (int i = 0; i < 300; ++i) Touch(&collector, "050000x");
    collector.Drain(second);
  }
  const size_t bucket = collector.partition()->Find("050000x");
  EXPECT_EQ(collector.partition()->start(bucket), "050000x");
  EXPECT_EQ(collector.partition()->end(bucket), std::string("050000x\0", 8));
  ASSERT_EQ(collector.HotRows(0.1).size(), 1);
  EXPECT_EQ(collector.HotRows(0.1)[0].row_key, "050000x");
}

TEST(TableCollector, BucketsMergeAgainWhenKeysAreForgotten) {
  TableCollector collector(1);
  int64_t second = 0;
  for (; second < 20; ++second) {
    for (int i = 0; i < 1'000; ++i) Touch(&collector, fmt::format("old{:06}", i));
    collector.Drain(second);
  }
  EXPECT_GT(collector.partition()->size(), 400);
  // A day later other keys are in use.
  for (second = 100'000'000; second < 100'001'300; ++second) {
    for (int i = 0; i < 10; ++i) Touch(&collector, fmt::format("new{:06}", i));
    collector.Drain(second);
  }
  EXPECT_EQ(collector.keys().KeyCount(), 10);
}

TEST(TableCollector, KnowsWhetherKeysComeInOrder) {
  TableCollector ascending(1), descending(1), mixed(1);
  ColumnFacts ascending_facts, descending_facts, mixed_facts;
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 100; ++i) {
      Touch(&ascending, fmt::format("{:06}", second * 100 + (i * 37) % 100));
      Touch(&descending, fmt::format("{:06}", 999'999 - second * 100 - (i * 37) % 100));
      Touch(&mixed, fmt::format("{:06}", (second * 100 + i) * 7919 % 100'003));
    }
    ascending_facts.Add(ascending.Drain(second).facts);
    descending_facts.Add(descending.Drain(second).facts);
    mixed_facts.Add(mixed.Drain(second).facts);
  }
  EXPECT_EQ(ascending_facts.order.above_all, 900);
  EXPECT_EQ(ascending_facts.order.writes, 900);
  EXPECT_EQ(ascending_facts.order.seconds, 9);  // before the first one there was nothing
  EXPECT_EQ(descending_facts.order.below_all, 900);
  EXPECT_LT(mixed_facts.order.above_all, 100);
}

TEST(TableCollector, TellsOfEachSecondWhichRowsTookMuchOfIt) {
  TableCollector collector(1);
  for (int i = 0; i < 700; ++i) Touch(&collector, fmt::format("{:06}", i));
  for (int i = 0; i < 300; ++i) Touch(&collector, "hot", AccessKind::kRead);
  const ColumnFacts facts = collector.Drain(0).facts;
  EXPECT_EQ(facts.ops, 1'000);
  EXPECT_EQ(facts.keys, 701);
  ASSERT_EQ(facts.rows.size(), 1);
  EXPECT_EQ(facts.rows[0].row_key, "hot");
  EXPECT_NEAR(facts.rows[0].reads, 300, 250);  // it was sampled
  EXPECT_TRUE(collector.Drain(1).facts.IsEmpty());
}

TEST(TableCollector, FindsRowsThatManyBytesGoInto) {
  TableCollector collector(1);
  for (int second = 0; second < 100; ++second) {
    Touch(&collector, "large", AccessKind::kWrite, 1'000'000);
    for (int i = 0; i < 1'000; ++i)
      Touch(&collector, fmt::format("{}-{}", second, i), AccessKind::kWrite, 10'000);
    collector.Drain(second);
  }
  ASSERT_FALSE(collector.HeavyRows().empty());
  EXPECT_EQ(collector.HeavyRows()[0].row_key, "large");
  EXPECT_NEAR(static_cast<double>(collector.HeavyRows()[0].bytes_written), 1e8, 2e7);
}

TEST(TableCollector, TellsWhoScansAndHowMuch) {
  TableCollector collector(1);
  for (int i = 0; i < 100; ++i) collector.RecordScan({TableCollector::kFullScanRowsMin - 1, "a look"});
  for (int i = 0; i < 100; ++i) collector.RecordScan({1'000 + i, fmt::format("somebody {}", i)});
  for (int i = 1; i <= 3; ++i) collector.RecordScan({i * 2'000, "report" + std::string(1'000, '.')});
  const ColumnFacts facts = collector.Drain(200).facts;
  ASSERT_EQ(facts.scanners.size(), ColumnFacts::kScannersMax);
  EXPECT_TRUE(facts.scanners[0].caller.starts_with("report"));
  EXPECT_EQ(facts.scanners[0].caller.size(), ColumnFacts::kCallerBytesMax);
  EXPECT_EQ(facts.scanners[0].scans, 3);
  EXPECT_EQ(facts.scanners[0].rows, 12'000);
  EXPECT_EQ(facts.scanners[0].rows_max, 6'000);
  EXPECT_TRUE(collector.Drain(201).facts.IsEmpty());
}

}  // namespace
}  // namespace sonde
