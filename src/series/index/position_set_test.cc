#include "series/index/position_set.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/random.h"

namespace sonde::series {
namespace {

std::vector<size_t> ListOf(const PositionSet& positions) {
  std::vector<size_t> all;
  positions.ForEach([&](size_t position) { all.push_back(position); });
  return all;
}

// Few and many, in one piece and scattered.
std::set<size_t> RandomPositions(RandomSource* random) {
  std::set<size_t> positions;
  const size_t bound = 1 + random->Uniform(random->Uniform(2) == 0 ? 200 : kBlockEntitiesMax);
  if (random->Uniform(4) == 0) {
    for (size_t i = 0; i < bound; ++i) positions.insert(i);
    return positions;
  }
  const size_t count = random->Uniform(random->Uniform(3) == 0 ? 2 * bound : 20);
  for (size_t i = 0; i < count; ++i) positions.insert(random->Uniform(bound));
  return positions;
}

PositionSet SetOf(const std::set<size_t>& positions) {
  PositionSet set;
  for (const size_t position : positions) set.Add(position);
  return set;
}

TEST(PositionSetTest, EqualsSetsOfNumbers) {
  SeededRandom random(1);
  for (int round = 0; round < 100; ++round) {
    const std::set<size_t> a = RandomPositions(&random);
    const std::set<size_t> b = RandomPositions(&random);
    PositionSet both = SetOf(a);
    both.And(SetOf(b));
    PositionSet any = SetOf(a);
    any.Or(SetOf(b));
    std::set<size_t> expected_any = a;
    expected_any.insert(b.begin(), b.end());
    std::vector<size_t> expected_both;
    for (const size_t position : a) {
      if (b.contains(position)) expected_both.push_back(position);
    }
    EXPECT_EQ(ListOf(both), expected_both);
    EXPECT_EQ(ListOf(any), std::vector<size_t>(expected_any.begin(), expected_any.end()));
    EXPECT_EQ(any.Count(), expected_any.size());
    EXPECT_EQ(both.IsEmpty(), expected_both.empty());
    EXPECT_EQ(SetOf(a) == SetOf(b), a == b);
    const size_t some = random.Uniform(kBlockEntitiesMax + 10);
    EXPECT_EQ(SetOf(a).Contains(some), a.contains(some));
  }
}

TEST(PositionSetTest, ComesBackFromItsBytes) {
  SeededRandom random(2);
  for (int round = 0; round < 100; ++round) {
    const std::set<size_t> a = RandomPositions(&random);
    const std::set<size_t> b = RandomPositions(&random);
    PositionSet read = SetOf(b);
    ASSERT_TRUE(AddPositions(EncodePositions(SetOf(a)), &read));
    std::set<size_t> expected = a;
    expected.insert(b.begin(), b.end());
    EXPECT_EQ(ListOf(read), std::vector<size_t>(expected.begin(), expected.end()));
  }
  EXPECT_EQ(EncodePositions(PositionSet::Below(kBlockEntitiesMax)).size(), 9U);
}

TEST(PositionSetTest, RefusesDamagedBytes) {
  SeededRandom random(3);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = EncodePositions(SetOf(RandomPositions(&random)));
    const PositionSet before = SetOf({1, 2, 70});
    PositionSet read = before;
    if (random.Uniform(2) == 0) {
      bytes[random.Uniform(bytes.size())] ^= static_cast<char>(1 << random.Uniform(8));
    } else {
      bytes.resize(random.Uniform(bytes.size()));
    }
    EXPECT_FALSE(AddPositions(bytes, &read));
    EXPECT_EQ(read, before);
  }
}

}  // namespace
}  // namespace sonde::series
