#include "wire/call/ended_call.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

TEST(EndedCall, TheRoutingHeaderNamesTableAndProfile) {
  const RoutedTo to =
      ParseRouting("table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=a%20b");
  EXPECT_EQ(to.resource, "projects/p/instances/i/tables/t");
  EXPECT_EQ(to.app_profile, "a b");
}

TEST(EndedCall, TheViewCountsBeforeTheTable) {
  EXPECT_EQ(ParseRouting("table_name=t&authorized_view_name=v").resource, "v");
  EXPECT_EQ(ParseRouting("authorized_view_name=v&table_name=t").resource, "v");
  EXPECT_EQ(ParseRouting("authorized_view_name=&table_name=t").resource, "t");
}

TEST(EndedCall, OtherHeadersNameNothing) {
  for (const char* header : {"", "&&", "=", "x=y", "table_name", "%"}) {
    EXPECT_EQ(ParseRouting(header).resource, "") << header;
    EXPECT_EQ(ParseRouting(header).app_profile, "") << header;
  }
  EXPECT_EQ(ParseRouting("name=100%&app_profile_id=%4").resource, "100%");
  EXPECT_EQ(ParseRouting("table_name=" + std::string(5'000, 'x')).resource, "");
}

}  // namespace
}  // namespace sonde
