#include "keyviz/key_sample.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>

namespace sonde {
namespace {

void AddAll(KeySample* sample, int count, int repeats, int64_t now_seconds) {
  for (int i = 0; i < count; ++i) {
    const std::string key = "row" + std::to_string(i);
    // Some are used much more than others.
    for (int j = 0; j < (i % 10 == 0 ? repeats : 1); ++j)
      sample->Add(KeySample::HashOf(key), key, now_seconds);
  }
}

TEST(KeySample, CountsDistinctKeys) {
  KeySample sample;
  AddAll(&sample, 1'000, 100, 0);
  EXPECT_EQ(sample.KeyCount(), 1'000);
  AddAll(&sample, 200'000, 3, 0);
  EXPECT_NEAR(sample.KeyCount(), 200'000, 10'000);
  EXPECT_GE(sample.size(), KeySample::kKeysKept);
  EXPECT_LE(sample.size(), KeySample::kKeysMax);
}

TEST(KeySample, HoldsEachKeyWithTheSameChance) {
  KeySample sample;
  AddAll(&sample, 200'000, 50, 0);
  int tenth = 0;
  for (const std::string& key : sample.SortedKeys()) tenth += key.back() == '0' ? 1 : 0;
  EXPECT_NEAR(tenth, static_cast<double>(sample.size()) / 10, 100);
}

TEST(KeySample, HoldsAllKeysUpToItsHash) {
  KeySample sample;
  std::map<uint64_t, std::string> all;
  for (int i = 0; i < 100'000; ++i) {
    const std::string key = "row" + std::to_string(i * 7919 % 60'000);
    all.emplace(KeySample::HashOf(key), key);
    sample.Add(KeySample::HashOf(key), key, 0);
    if (i % 9'973 != 0) continue;
    const size_t wanted = std::distance(all.begin(), all.upper_bound(sample.hash_max()));
    ASSERT_EQ(sample.size(), wanted) << i;
    for (const auto& [hash, entry] : sample.entries()) ASSERT_EQ(entry.key, all.at(hash));
  }
  EXPECT_LT(sample.hash_max(), UINT64_MAX);
}

TEST(KeySample, ForgetsWhatIsNoLongerUsed) {
  KeySample sample;
  AddAll(&sample, 100'000, 1, 10);
  AddAll(&sample, 1'000, 1, 20);
  sample.Forget(15);
  AddAll(&sample, 1'000, 1, 21);
  EXPECT_EQ(sample.KeyCount(), 1'000);
}

TEST(KeySample, CutsLongKeys) {
  KeySample sample;
  const std::string key(4096, 'x');
  sample.Add(KeySample::HashOf(key), key, 0);
  EXPECT_EQ(sample.SortedKeys()[0].size(), KeySample::kKeyBytesMax);
}

}  // namespace
}  // namespace sonde
