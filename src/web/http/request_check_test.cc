#include "web/http/request_check.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Headers = std::map<std::string, std::string>;

absl::StatusCode Check(Headers headers, const std::string& method = "POST") {
  HttpRequest request;
  request.method = method;
  request.headers = std::move(headers);
  return CheckHostAndOrigin(request, {"meters.example"}).code();
}

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kDenied = absl::StatusCode::kPermissionDenied;

TEST(CheckHostAndOrigin, TakesAddressesAndItsOwnNames) {
  for (const std::string host : {"127.0.0.1:8087", "127.0.0.1", "localhost:8087", "LocalHost", "[::1]:8087",
                                 "10.1.2.3:80", "meters.example:8087"}) {
    EXPECT_EQ(Check({{"host", host}}), kOk) << host;
  }
}

TEST(CheckHostAndOrigin, RefusesNamesThatMayPointHere) {
  for (const std::string host :
       {"evil.example", "evil.example:8087", "127.0.0.1.evil.example", "localhost.evil.example"}) {
    EXPECT_EQ(Check({{"host", host}}), kDenied) << host;
  }
}

TEST(CheckHostAndOrigin, RefusesWhatIsNoHost) {
  EXPECT_EQ(Check({}), kInvalid);
  for (const std::string host :
       {"", ":8087", "[::1", "[::1]x", "localhost:", "localhost:80a", "localhost:123456", "::1"}) {
    EXPECT_EQ(Check({{"host", host}}), kInvalid) << host;
  }
}

TEST(CheckHostAndOrigin, TheOriginMustBeTheHost) {
  const std::string host = "127.0.0.1:8087";
  EXPECT_EQ(Check({{"host", host}, {"origin", "http://127.0.0.1:8087"}}), kOk);
  for (const std::string origin : {"http://127.0.0.1:8088", "http://localhost:8087", "https://127.0.0.1:8087",
                                   "http://evil.example", "null", ""}) {
    EXPECT_EQ(Check({{"host", host}, {"origin", origin}}), kDenied) << origin;
    EXPECT_EQ(Check({{"host", host}, {"origin", origin}}, "GET"), kDenied) << origin;
  }
}

TEST(CheckHostAndOrigin, OtherSitesMayOnlyLinkHere) {
  const std::string host = "127.0.0.1:8087";
  EXPECT_EQ(Check({{"host", host}, {"sec-fetch-site", "same-origin"}}), kOk);
  EXPECT_EQ(Check({{"host", host}, {"sec-fetch-site", "cross-site"}}, "GET"), kDenied);
  EXPECT_EQ(Check({{"host", host}, {"sec-fetch-site", "same-site"}}, "GET"), kDenied);
  const Headers link = {{"host", host}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}};
  EXPECT_EQ(Check(link, "GET"), kOk);
  EXPECT_EQ(Check(link, "POST"), kDenied);
}

}  // namespace
}  // namespace sonde
