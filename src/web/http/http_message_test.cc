#include "web/http/http_message.h"

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

TEST(HttpMessage, SaysWhoAsks) {
  HttpRequest request;
  EXPECT_EQ(request.Caller(), "An HTTP client from an unknown address");
  request.peer = "10.0.0.7";
  request.headers["user-agent"] = "nightly\x01report";
  EXPECT_EQ(request.Caller(), "nightly\\x01report from 10.0.0.7");
}

}  // namespace
}  // namespace sonde
