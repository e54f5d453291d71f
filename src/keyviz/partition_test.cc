#include "keyviz/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace sonde {
namespace {

std::string RandomKey(RandomSource* random, const std::string& prefix) {
  std::string key = prefix;
  for (uint64_t i = random->Uniform(12); i > 0; --i)
    key.push_back(
        "\x00\x01"
        "ab\xff"[random->Uniform(5)]);
  return key;
}

TEST(Partition, FindsTheBucketThatHoldsTheKey) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    const std::string prefix = seed % 2 == 0 ? "" : "meter#";
    std::set<std::string> starts = {""};
    for (uint64_t i = random.Uniform(50); i > 0; --i) starts.insert(RandomKey(&random, prefix));
    const Partition partition(std::vector<std::string>(starts.begin(), starts.end()));
    for (int i = 0; i < 200; ++i) {
      const std::string key = RandomKey(&random, random.Uniform(4) == 0 ? "" : prefix);
      const size_t bucket = partition.Find(key);
      ASSERT_LT(bucket, partition.size());
      EXPECT_LE(partition.start(bucket), key);
      if (bucket + 1 < partition.size()) {
        EXPECT_LT(key, partition.end(bucket));
      }
      const size_t from = partition.FirstFrom(key);
      EXPECT_TRUE(from == partition.size() || partition.start(from) >= key);
      EXPECT_TRUE(from == 0 || partition.start(from - 1) < key);
    }
  }
}

TEST(Project, LosesNothing) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SeededRandom random(seed);
    const auto random_partition = [&] {
      std::set<std::string> starts = {""};
      for (uint64_t i = random.Uniform(30); i > 0; --i) starts.insert(RandomKey(&random, ""));
      return Partition(std::vector<std::string>(starts.begin(), starts.end()));
    };
    const Partition from = random_partition(), to = random_partition();
    std::vector<AccessCounts> counts(from.size()), sums(to.size());
    AccessCounts before, after;
    for (AccessCounts& one : counts) {
      one = {random.Uniform(10), random.Uniform(10), random.Uniform(1000), 7, 1, random.Uniform(100), 5, 0};
      before.Add(one);
    }
    Project(from, counts, to, &sums);
    for (const AccessCounts& one : sums) after.Add(one);
    EXPECT_EQ(before, after);
  }
}

TEST(Project, PutsWhatFitsWhereItFits) {
  const Partition from({"", "b", "c"}), to({"", "a", "b", "bb", "c"});
  std::vector<AccessCounts> sums(to.size());
  Project(from, {{.reads = 10}, {.reads = 5}, {.reads = 3}}, to, &sums);
  std::vector<uint64_t> reads;
  for (const AccessCounts& one : sums) reads.push_back(one.reads);
  EXPECT_EQ(reads, (std::vector<uint64_t>{5, 5, 3, 2, 3}));
}

}  // namespace
}  // namespace sonde
