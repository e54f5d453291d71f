#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(NearestWord, IsNothingWhereNoWordIsNear) {
  EXPECT_EQ(NearestWord("hosst", {"region", "host"}), "host");
  EXPECT_EQ(NearestWord("comp", {"compact", "check"}), "compact");
  EXPECT_EQ(NearestWord("zzz", {"host"}), std::nullopt);
}

}  // namespace
}  // namespace sonde
