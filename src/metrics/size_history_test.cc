#include "metrics/size_history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;

constexpr int64_t kTime = 1'700'000'000;
constexpr int64_t kHour = 3'600;

std::vector<std::string> Texts(const SizeHistory::Answer& answer) {
  std::vector<std::string> texts;
  for (const SizeHistory::Grown& one : answer.sizes) {
    texts.push_back(fmt::format("{} {} {}", one.name, one.bytes, one.grew));
  }
  return texts;
}

TEST(SizeHistoryTest, TellsWhatGrewTheMostFirst) {
  SizeHistory history;
  EXPECT_THAT(Texts(history.Compare({{"a", 5}}, kTime, kHour)), ElementsAre("a 5 0"));
  history.Note({{"a", 10}, {"b", 20}}, kTime);
  history.Note({{"a", 11}, {"b", 20}}, kTime + kHour);
  history.Note({{"a", 15}, {"b", 19}}, kTime + 2 * kHour);
  const auto answer = history.Compare({{"a", 15}, {"b", 18}, {"c", 7}}, kTime + 2 * kHour + 10, kHour);
  EXPECT_EQ(answer.since_seconds, kTime + kHour);
  EXPECT_THAT(Texts(answer), ElementsAre("c 7 7", "a 15 4", "b 18 -2"));
  // Before the first moment nothing is known: that one is taken.
  const auto longer = history.Compare({{"a", 15}}, kTime + 2 * kHour, 24 * kHour);
  EXPECT_EQ(longer.since_seconds, kTime);
  EXPECT_THAT(Texts(longer), ElementsAre("a 15 5"));
}

TEST(SizeHistoryTest, TakesAMomentAStep) {
  SizeHistory history;
  EXPECT_TRUE(history.Wants(kTime));
  history.Note({{"a", 1}}, kTime);
  EXPECT_FALSE(history.Wants(kTime + SizeHistory::kStep - 1));
  history.Note({{"a", 2}}, kTime + SizeHistory::kStep - 1);
  EXPECT_THAT(Texts(history.Compare({{"a", 3}}, kTime + SizeHistory::kStep, 0)), ElementsAre("a 3 2"));
  EXPECT_TRUE(history.Wants(kTime + SizeHistory::kStep));
}

TEST(SizeHistoryTest, ForgetsWhatIsOldAndWhatIsSmall) {
  SizeHistory history;
  std::vector<SizeHistory::Size> sizes;
  for (uint64_t i = 0; i < 200; ++i) sizes.push_back({fmt::format("t{}", i), 1'000 + i});
  history.Note(sizes, kTime);
  // t99 is the largest that was not noted: no other can have been larger.
  const auto answer = history.Compare({{"t5", 5'000}, {"t150", 1'151}}, kTime + 10, 0);
  EXPECT_THAT(Texts(answer), ElementsAre("t5 5000 3901", "t150 1151 1"));
  history.Note({{"x", 1}}, kTime + SizeHistory::kKept + 1);
  EXPECT_THAT(Texts(history.Compare({{"t150", 7}}, kTime + SizeHistory::kKept + 1, SizeHistory::kKept)),
              ElementsAre("t150 7 7"));
}

}  // namespace
}  // namespace sonde
