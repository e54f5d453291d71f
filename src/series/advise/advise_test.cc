#include "series/advise/advise.h"

#include <gtest/gtest.h>

#include <set>

#include "series/advise/tablets.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

class MemoryTrial final : public TrialStore {
 public:
  TableAccess* tables() override { return &tables_; }
  absl::StatusOr<int64_t> StoredBytes() override {
    int64_t bytes = 0;
    for (const auto& [key, row] : tables_.tables["candidate"].rows) {
      bytes += static_cast<int64_t>(key.size());
      for (const auto& [column, cells] : row) {
        for (const auto& [time, value] : cells)
          bytes += 8 + static_cast<int64_t>(value.size() + column.second.size());
      }
    }
    return bytes;
  }

 private:
  MemoryTables tables_;
};

absl::StatusOr<std::unique_ptr<TrialStore>> MakeTrial() { return std::make_unique<MemoryTrial>(); }

SeriesSchema Parse(std::string_view text) { return ParseSchema(text, "x.yaml").value(); }

constexpr std::string_view kMachines =
    "series: metrics\ntags: { dc: { count: 4 }, host: { count: 250 } }\n"
    "fields: { cpu: double, mem: int, load: double }\ntime: { resolution: 1s, interval: 10s }\n"
    "layout: row\nkey: [time, dc, host]\nretention: { max_age: 30d }\n"
    "queries:\n  - { ask: one host for an hour, tags: [dc, host], range: 1h }\n"
    "  - { ask: every host now, range: latest }\n";

TEST(Advise, MovesTheTimeBehindTheTags) {
  const SeriesSchema schema = Parse(kMachines);
  const Sample sample = MakeSample(schema, 20'000, 10);
  EXPECT_NEAR(static_cast<double>(sample.size()), 20'000, 2'000);
  AdviceOptions options;
  const auto advice = Advise(schema, sample, MakeTrial, options, nullptr);
  ASSERT_TRUE(advice.ok()) << advice.status();
  EXPECT_FALSE(advice->measures[0].candidate.is_declared);
  EXPECT_LT(advice->measures[0].hottest_share, 0.5);
  const auto declared = std::find_if(advice->measures.begin(), advice->measures.end(),
                                     [](const CandidateMeasure& m) { return m.candidate.is_declared; });
  ASSERT_NE(declared, advice->measures.end());
  EXPECT_GT(declared->hottest_share, 0.99);
  EXPECT_TRUE(declared->queries[1].is_full_scan || declared->queries[1].rows >= 1'000);
  // All candidates give the same answers.
  for (const CandidateMeasure& measure : advice->measures) {
    EXPECT_NEAR(measure.queries[1].results, declared->queries[1].results, 0.01) << measure.candidate.name;
  }
  EXPECT_NE(advice->recommendation.find("the hottest of 10 tablets gets"), std::string::npos);
  EXPECT_NE(AdviceText(schema, *advice).find("query 2: every host now"), std::string::npos);
  EXPECT_NE(AdviceJson(schema, *advice).find("\"recommendation\""), std::string::npos);
}

// A query without tags reads least under a bucket in front, and milliseconds of some points are noise:
// neither may win over a key that spreads the writes.
TEST(Advise, TakesAHotKeyOnlyWhereAllAreHot) {
  const SeriesSchema battery = Parse(
      "series: battery\nfields: { percentage: int }\ntime: { resolution: 1ms, interval: 1s }\nlayout: row\n"
      "key: [{ const: BATTERY }, { time: yyyymmddhhmmssmmm }]\n"
      "queries:\n  - { ask: all batteries of an hour, range: 1h }\n");
  const Sample sample = MakeSample(battery, 300, 1);
  const auto advice = Advise(battery, sample, MakeTrial, AdviceOptions(), nullptr);
  ASSERT_TRUE(advice.ok()) << advice.status();
  EXPECT_EQ(advice->measures[0].candidate.name, "row, [{ salt: 8, of: time }, time]");
  EXPECT_EQ(advice->measures[0].candidate.hot_key, "");
  EXPECT_LT(advice->measures[0].hottest_share, 0.5);
  EXPECT_NE(advice->measures.back().candidate.hot_key, "");
  EXPECT_NE(AdviceText(battery, *advice).find("hot key"), std::string::npos);

  AdviceOptions only_declared;
  only_declared.candidates_max = 1;
  const auto hot = Advise(battery, sample, MakeTrial, only_declared, nullptr);
  ASSERT_TRUE(hot.ok()) << hot.status();
  EXPECT_NE(
      hot->recommendation.find("gets 100% of the writes: hot, as every candidate is; the key has nothing "
                               "but constants before a timestamp"),
      std::string::npos)
      << hot->recommendation;
}

TEST(Advise, GivesTheSameAdviceEachTime) {
  const SeriesSchema schema = Parse(kMachines);
  const Sample sample = MakeSample(schema, 2'000, 10);
  std::set<std::string> orders;
  for (int run = 0; run < 3; ++run) {
    const auto advice = Advise(schema, sample, MakeTrial, AdviceOptions(), nullptr);
    ASSERT_TRUE(advice.ok()) << advice.status();
    std::string order;
    for (const CandidateMeasure& measure : advice->measures) order += measure.candidate.name + "\n";
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 1);
}

TEST(Advise, SizesTheDocumentsWorkloads) {
  CandidateMeasure measure;
  measure.bytes_per_point = 100;
  SeriesSchema machines = Parse(
      "series: METRIC\ntags: { host: { count: 100000 } }\nfields: { c0: double }\n"
      "time: { interval: 5s }\nlayout: row\nkey: [host, time]\nretention: { max_age: 1d }\n");
  for (int i = 1; i < 100; ++i) {
    Field field = machines.fields[0];
    field.name = field.qualifier = "c" + std::to_string(i);
    machines.fields.push_back(field);
  }
  measure.candidate.schema = machines;
  EXPECT_EQ(SizingText(machines, measure),
            "1.728 G rows, 172.8 G cells, 173 GB a day; 2 nodes of Cloud Bigtable (14,000 rows written a "
            "second, 5 TB "
            "each)");
  const SeriesSchema meters = Parse(
      "series: SENSOR\ntags: { meter: { type: int, width: 10, count: 10000000 } }\nfields: { kwh: double }\n"
      "time: { interval: 15m }\nlayout: offsets\nslot: 15m\nbucket: day\nkey: [meter, bucket]\n");
  measure.candidate.schema = meters;
  EXPECT_EQ(SizingText(meters, measure),
            "10 M rows, 960 M cells, 96 GB a day; 8 nodes of Cloud Bigtable (14,000 rows written a second, 5 "
            "TB each)");
}

TEST(Advise, FindsTheHottestTablet) {
  std::vector<std::string> growing;
  std::vector<std::string> spread;
  for (int i = 0; i < 10'000; ++i) {
    growing.push_back(std::to_string(1'000'000 + i));
    spread.push_back(std::to_string(i % 100 + 100) + std::to_string(1'000'000 + i));
  }
  EXPECT_EQ(HottestTabletShare(growing, 10, 24), 1);
  EXPECT_LT(HottestTabletShare(spread, 10, 24), 0.13);
}

TEST(Advise, MakesSamplesWithTheDeclaredSkew) {
  const SeriesSchema schema = Parse(
      "series: q\ntags: { exchange: { count: 2, width: 6 }, symbol: { count: 3000, width: 5, busy: { count: "
      "300, share: "
      "90 } } }\nfields: { bid: double }\nlayout: row\nkey: [exchange, symbol, time]\ntime: { interval: 1s "
      "}\n");
  const Sample sample = MakeSample(schema, 100'000, 40);
  std::map<std::string, int> of_symbol;
  for (const SamplePoint& point : sample) ++of_symbol[point.tags[1]];
  int busiest = 0;
  int all = 0;
  for (const auto& [symbol, points] : of_symbol) {
    busiest = std::max(busiest, points);
    all += points;
  }
  EXPECT_EQ(of_symbol.size(), 20);
  EXPECT_GT(busiest, all / 3);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end(), [](const SamplePoint& a, const SamplePoint& b) {
    return a.time_micros < b.time_micros;
  }));
}

TEST(Advise, RefusesAnEmptySample) {
  EXPECT_EQ(Advise(Parse(kMachines), {}, MakeTrial, {}, nullptr).status().message(),
            "the sample has no point");
}

}  // namespace
}  // namespace sonde::series
