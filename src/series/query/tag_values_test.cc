#include "series/query/tag_values.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

using testing::ElementsAre;

constexpr int64_t kDay = 18'690 * kMicrosPerDay;

struct Point {
  std::vector<std::string> tags;  // a, b, n
  int64_t time_micros = 0;
};

class Store {
 public:
  explicit Store(std::string_view rest) {
    series_.yaml = fmt::format(
        "series: s\ntags: {{ a: string, b: string, n: {{ type: int, width: 4 }} }}\nfields: {{ x: double, w: "
        "string }}\n{}\n",
        rest);
    series_.schema = ParseSchema(series_.yaml, "x.yaml").value();
    EXPECT_TRUE(EnsureSeriesTables(series_.schema, &tables_).ok());
  }

  void Write(const std::vector<Point>& points) {
    PointWriter writer(series_.schema, &tables_);
    for (const Point& point : points) {
      EXPECT_TRUE(
          writer.Add({{point.tags[0], point.tags[1], point.tags[2]}, point.time_micros, {"1", "text"}}).ok());
    }
    EXPECT_TRUE(writer.Flush().ok());
  }

  TagValues Find(size_t tag, const std::string& prefix = "", Query query = {}, size_t values_max = 1'000) {
    const auto found = ListTagValues(series_, std::move(query), tag, prefix, values_max, &tables_);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : TagValues{};
  }

  KnownSeries series_;
  MemoryTables tables_;
};

const std::vector<Point> kPoints = {{{"web1", "eu", "7"}, kDay},
                                    {{"web1", "us", "70"}, kDay},
                                    {{"web10", "eu", "8"}, kDay + kMicrosPerHour},
                                    {{"db", "asia", "7"}, kDay + 50 * kMicrosPerHour}};

TEST(TagValues, AreThoseOfThePointsThatAreAskedFor) {
  Store store("bucket: day\nkey: [a, b, n, bucket]");
  store.Write(kPoints);
  EXPECT_THAT(store.Find(0).values, ElementsAre("db", "web1", "web10"));
  EXPECT_THAT(store.Find(1).values, ElementsAre("asia", "eu", "us"));
  EXPECT_THAT(store.Find(2).values, ElementsAre("7", "70", "8"));
  EXPECT_THAT(store.Find(0, "web").values, ElementsAre("web1", "web10"));
  EXPECT_THAT(store.Find(2, "7").values, ElementsAre("7", "70"));
  EXPECT_THAT(store.Find(0, "no such").values, ElementsAre());
  EXPECT_FALSE(store.Find(0).has_more);
  EXPECT_THAT(store.Find(0, "", {.selection = {.from_micros = kDay + 1}}).values, ElementsAre("db", "web10"));
  EXPECT_THAT(store.Find(1, "", {.selection = {.tags = {{.values = {"web1"}}}}}).values,
              ElementsAre("eu", "us"));
  EXPECT_THAT(store.Find(0, "", {.conditions = {{1, "eu", true}}}).values, ElementsAre("db", "web1"));
}

TEST(TagValues, AreCutWithAWord) {
  Store store("bucket: day\nkey: [a, b, n, bucket]");
  store.Write(kPoints);
  const TagValues two = store.Find(0, "", {}, 2);
  EXPECT_THAT(two.values, ElementsAre("db", "web1"));
  EXPECT_TRUE(two.has_more);
  EXPECT_FALSE(store.Find(0, "", {}, 3).has_more);
}

TEST(TagValues, OfATagInFrontCostARowEach) {
  Store store("bucket: minute\nkey: [a, b, n, bucket]");
  std::vector<Point> points;
  for (int host = 0; host < 5; ++host) {
    for (int minute = 0; minute < 200; ++minute) {
      points.push_back({{fmt::format("h{}", host), fmt::format("r{}", minute % 3), "1"},
                        kDay + minute * 60 * kMicrosPerSecond});
    }
  }
  store.Write(points);
  const TagValues hosts = store.Find(0);
  EXPECT_EQ(hosts.values.size(), 5);
  EXPECT_LE(hosts.rows_read, 5);
  const TagValues regions = store.Find(1);
  EXPECT_EQ(regions.values.size(), 3);
  EXPECT_LE(regions.rows_read, 15);
}

TEST(TagValues, AreWhatWasFoundWhenTheTimeIsOver) {
  Store store("layout: row\nkey: [time, a, b, n]");
  std::vector<Point> points;
  for (int i = 0; i < 2'000; ++i) points.push_back({{fmt::format("h{}", i), "r", "1"}, kDay + i * 1'000});
  store.Write(points);
  const TagValues found = store.Find(
      0, "", {.interrupted = [] { return absl::DeadlineExceededError("the time is over"); }}, 1'000);
  EXPECT_TRUE(found.has_more);
  EXPECT_GT(found.values.size(), 0);
  EXPECT_LT(found.values.size(), 1'000);
  const auto gone = ListTagValues(store.series_, {.interrupted = [] { return absl::CancelledError("gone"); }},
                                  0, "", 1'000, &store.tables_);
  EXPECT_TRUE(absl::IsCancelled(gone.status()));
}

TEST(TagValues, AreThoseOfAllPointsWhateverTheKey) {
  SeededRandom random(7);
  for (const char* rest :
       {"bucket: day\nkey: [a, b, n, bucket]", "bucket: day\nkey: [n, bucket, a, b]",
        "layout: row\nkey: [{ salt: 4, of: [a] }, a, b, n, time]",
        "layout: row\nkey: [{ salt: 3, of: time }, a, b, n, time]", "layout: row\nkey: [time, n, b, a]",
        "layout: row\nkey: [{ const: s }, b, a, n, { time: epoch_ms, reverse: true }]",
        "layout: blob\nkey: [a, n, b, time]",
        "bucket: day\nlayout: offsets\nslot: 1h\nkey: [b, n, a, bucket]"}) {
    Store store(rest);
    std::vector<Point> points;
    for (int i = 0; i < 300; ++i) {
      points.push_back({{fmt::format("a{}", random.Uniform(20)), fmt::format("b{}", random.Uniform(6)),
                         fmt::format("{}", random.Uniform(30))},
                        kDay + static_cast<int64_t>(random.Uniform(72)) * kMicrosPerHour});
    }
    store.Write(points);
    for (size_t tag = 0; tag < 3; ++tag) {
      for (const std::string prefix : {"", "a1", "b", "2"}) {
        std::set<std::string> expected;
        const int64_t from = kDay + static_cast<int64_t>(random.Uniform(72)) * kMicrosPerHour;
        for (const Point& point : points) {
          if (point.time_micros >= from && point.tags[tag].starts_with(prefix))
            expected.insert(point.tags[tag]);
        }
        const TagValues found = store.Find(tag, prefix, {.selection = {.from_micros = from}});
        EXPECT_EQ(std::set<std::string>(found.values.begin(), found.values.end()), expected)
            << rest << " tag " << tag << " prefix '" << prefix << "'";
        EXPECT_FALSE(found.has_more);
      }
    }
  }
}

}  // namespace
}  // namespace sonde::series
