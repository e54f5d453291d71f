#include "bench/data/line_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::bench {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(LineBodies, SayWhatReadingsSay) {
  LineBodies bodies({.kind = DataKind::kCpu, .hosts = 2, .cells_per_row = 2}, 0, 2, 3, 4);
  const std::string first(bodies.Next());
  EXPECT_THAT(first, StartsWith("cpu,hostname=host_0,region="));
  EXPECT_THAT(first.substr(0, first.find('\n')),
              MatchesRegex("cpu,[^ ]* usage_user=[0-9]+i,usage_system=[0-9]+i 1451606400000000000"));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 4);
  const std::string second(bodies.Next());
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'), 2);
  EXPECT_EQ(bodies.Next(), "");
  EXPECT_EQ(bodies.lines(), 6);
  EXPECT_EQ(bodies.points(), 12);
  EXPECT_EQ(bodies.bytes(), first.size() + second.size());
}

TEST(LineBodies, KeepFractionsApartFromWholeNumbers) {
  LineBodies bodies({.kind = DataKind::kMeters, .hosts = 1}, 0, 1, 1, 1);
  EXPECT_THAT(std::string(bodies.Next()),
              MatchesRegex("meters,[^ ]* energy_wh=[0-9]+i,voltage=[0-9.]+ 1451606400000000000\n"));
}

}  // namespace
}  // namespace sonde::bench
