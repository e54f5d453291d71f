#include "web/http_message.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(HttpMessage, QueriesAreDecoded) {
  using Query = std::multimap<std::string, std::string>;
  EXPECT_EQ(ParseQueryOfTarget("/path"), Query{});
  EXPECT_EQ(ParseQueryOfTarget("/path?"), Query{});
  EXPECT_EQ(
      ParseQueryOfTarget("/path?where=host=a&where=b%3d%3D1&flag&x=a+b%20c&&y=%2&z=%zz"),
      (Query{
          {"where", "host=a"}, {"where", "b==1"}, {"flag", ""}, {"x", "a b c"}, {"y", "%2"}, {"z", "%zz"}}));
}

}  // namespace
}  // namespace sonde
