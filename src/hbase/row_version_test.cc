#include "hbase/row_version.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace sonde::hbase {
namespace {

TEST(RowVersionTest, JudgesWhatHappened) {
  SeededRandom random(1);
  const std::string seen = FirstVersion(&random);
  const std::string mine = VersionAfter(seen, &random);
  EXPECT_EQ(Judge(seen, mine, mine), Verdict::kMade);
  EXPECT_EQ(Judge(seen, mine, VersionAfter(mine, &random)), Verdict::kMade);
  EXPECT_EQ(Judge(seen, mine, seen), Verdict::kNotYet);
  EXPECT_EQ(Judge(seen, mine, VersionAfter(seen, &random)), Verdict::kNeverMade);
  EXPECT_EQ(Judge(seen, mine, FirstVersion(&random)), Verdict::kUnknown);
}

TEST(RowVersionTest, JudgesTheFirstChangeOfARow) {
  SeededRandom random(2);
  const std::string mine = VersionAfter("", &random);
  EXPECT_EQ(Judge("", mine, ""), Verdict::kNotYet);
  EXPECT_EQ(Judge("", mine, mine), Verdict::kMade);
  EXPECT_EQ(Judge("", mine, VersionAfter("", &random)), Verdict::kNeverMade);
  EXPECT_EQ(Judge("", mine, FirstVersion(&random)), Verdict::kUnknown);
}

TEST(RowVersionTest, HistoryIsBounded) {
  SeededRandom random(3);
  std::string version;
  for (int i = 0; i < 100; ++i) version = VersionAfter(version, &random);
  EXPECT_EQ(version.size(), (1 + kVersionsBefore) * kVersionIdBytes);
}

// Random histories of a row: one change is guarded by what it saw, may be made at any moment as long as its guard holds, or never,
// among others that are guarded or not.  A verdict that says something must be true.
TEST(RowVersionTest, VerdictsAreTrue) {
  SeededRandom random(4);
  int counts[4] = {};
  for (int round = 0; round < 20'000; ++round) {
    std::string row;
    for (uint64_t i = random.Uniform(4); i > 0; --i)
      row = random.Uniform(3) == 0 ? FirstVersion(&random) : VersionAfter(row, &random);
    const std::string seen = row;
    const std::string mine = VersionAfter(seen, &random);
    const uint64_t others = random.Uniform(12);
    const uint64_t made_after = random.Uniform(2 * (others + 1));
    bool was_made = false;
    for (uint64_t i = 0; i <= others; ++i) {
      if (i == made_after && row == seen) row = mine, was_made = true;
      if (i < others) row = random.Uniform(8) == 0 ? FirstVersion(&random) : VersionAfter(row, &random);
    }
    const Verdict verdict = Judge(seen, mine, row);
    ++counts[static_cast<int>(verdict)];
    switch (verdict) {
      case Verdict::kMade:
        ASSERT_TRUE(was_made);
        break;
      case Verdict::kNotYet:
        ASSERT_FALSE(was_made);
        ASSERT_EQ(row, seen);
        break;
      case Verdict::kNeverMade:
        ASSERT_FALSE(was_made);
        ASSERT_NE(row, seen);
        break;
      case Verdict::kUnknown:
        break;
    }
  }
  for (const int count : counts) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace sonde::hbase
