#include "promql/http/series_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "promql/samples/labels.h"

namespace sonde::promql {
namespace {

std::vector<std::pair<std::string, uint64_t>> Pairs(const std::vector<NamedCount>& counts) {
  std::vector<std::pair<std::string, uint64_t>> pairs;
  for (const NamedCount& one : counts) pairs.emplace_back(one.name, one.count);
  return pairs;
}

// The naive model: all names with their counts, sorted.
std::vector<std::pair<std::string, uint64_t>> Sorted(const std::map<std::string, uint64_t>& counts,
                                                     size_t limit) {
  std::vector<std::pair<std::string, uint64_t>> all(counts.begin(), counts.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  all.resize(std::min(all.size(), limit));
  return all;
}

TEST(SeriesCountsTest, CountsAsANaiveModelDoes) {
  std::mt19937 random(7);
  std::set<Labels> all;
  while (all.size() < 500) {
    Labels labels = {{"__name__", "m" + std::to_string(random() % 5)}};
    if (random() % 3 > 0) labels.emplace_back("host", std::to_string(random() % 200));
    if (random() % 2 > 0) labels.emplace_back("job", "a" + std::string(random() % 4, 'b'));
    all.insert(labels);
  }
  const rows::Hold no_hold;
  SeriesCounts counts(no_hold);
  std::map<std::string, uint64_t> by_metric, values, bytes, by_pair;
  for (const Labels& labels : all) {
    counts.AddSeries(1);
    for (const auto& [name, value] : labels) {
      ASSERT_TRUE(counts.AddValue(name, value, 1).ok());
      if (name == "__name__") ++by_metric[value];
      if (++by_pair[name + "=" + value] == 1) ++values[name];
      bytes[name] += value.size();
    }
  }
  EXPECT_EQ(counts.series(), all.size());
  EXPECT_EQ(counts.label_pairs(), by_pair.size());
  for (const size_t limit : {1, 3, 10'000}) {
    EXPECT_EQ(Pairs(counts.SeriesByMetric(limit)), Sorted(by_metric, limit));
    EXPECT_EQ(Pairs(counts.ValuesByLabel(limit)), Sorted(values, limit));
    EXPECT_EQ(Pairs(counts.BytesByLabel(limit)), Sorted(bytes, limit));
    EXPECT_EQ(Pairs(counts.SeriesByPair(limit)), Sorted(by_pair, limit));
  }
}

TEST(SeriesCountsTest, StopsWhereThereIsNoRoom) {
  int64_t held = 0;
  const rows::Hold hold = [&held](int64_t more) -> absl::Status {
    if (held + more > (2 << 20)) return absl::ResourceExhaustedError("no room");
    held += more;
    return absl::OkStatus();
  };
  {
    SeriesCounts counts(hold);
    absl::Status status;
    int added = 0;
    for (; status.ok() && added < 100'000; ++added) status = counts.AddValue("id", std::to_string(added), 1);
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    EXPECT_LT(added, 100'000);
    EXPECT_GT(held, 0);
  }
  EXPECT_EQ(held, 0);
}

}  // namespace
}  // namespace sonde::promql
