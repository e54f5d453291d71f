#include "keyviz/key_sample.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(sample.size(), KeySample::kKeysMax);
}

TEST(KeySample, HoldsEachKeyWithTheSameChance) {
  KeySample sample;
  AddAll(&sample, 200'000, 50, 0);
  int tenth = 0;
  for (const std::string& key : sample.SortedKeys()) tenth += key.back() == '0' ? 1 : 0;
  EXPECT_NEAR(tenth, KeySample::kKeysMax / 10, 100);
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
