// What questions over HTTP may take.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "prometheus/remote_messages.h"
#include "series/http/series_http_test_support.h"

namespace sonde::series {
namespace {

TEST(SeriesHttpBounds, NeverCutsCsvSilently) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  const std::string path = "/api/v1/series/meters/write?time_format=epoch_ms";
  std::string lines;
  for (int i = 0; i <= 100'000; ++i) lines += MeterLine("a", kNow - i * kMicrosPerSecond, i);
  ASSERT_EQ(fixture.Call("POST", path, lines).code, 200);
  const auto is_truncated = [&](const std::string& limit) {
    const HttpResponse response =
        fixture.Call("GET", "/api/v1/series/meters/query?format=csv&limit=" + limit);
    EXPECT_EQ(response.code, 200);
    EXPECT_EQ(response.headers.size(), 1);
    EXPECT_EQ(response.headers[0].first, "Sonde-Is-Truncated");
    EXPECT_EQ(std::count(response.body.begin(), response.body.end(), '\n'),
              std::min(100'001, std::stoi(limit)) + 1);
    return response.headers[0].second;
  };
  EXPECT_EQ(is_truncated("5"), "true");
  EXPECT_EQ(is_truncated("100000"), "true");
  EXPECT_EQ(is_truncated("100001"), "false");
  const HttpResponse usual = fixture.Call("GET", "/api/v1/series/meters/query?format=csv");
  EXPECT_EQ(usual.code, 400);
  EXPECT_EQ(
      nlohmann::json::parse(usual.body)["error"]["message"],
      "the answer has more than 100000 rows: say limit (1 to 1000000) to have that many, or ask for less");
  const auto json =
      nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/meters/query?limit=100001").body);
  EXPECT_EQ(json["is_truncated"], false);
  EXPECT_EQ(json["rows"].size(), 100'001);
}

// A question that asks for too much is wrong: to ask it again, as clients do after 429, is no cure.
TEST(SeriesHttpBounds, RefusesWhatAsksForTooMuch) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  ASSERT_EQ(fixture
                .Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms",
                      MeterLine("a", kNow - 20 * kMicrosPerDay, 1) + MeterLine("a", kNow, 2))
                .code,
            200);
  const HttpResponse filled = fixture.Call("GET", "/api/v1/series/meters/query?every=1s&agg=max&fill=null");
  EXPECT_EQ(filled.code, 400);
  EXPECT_EQ(nlohmann::json::parse(filled.body)["error"]["message"],
            "filling gaps of more than 1000000 buckets a group; ask for wider buckets or a shorter time");
}

// Nobody works for who is not there any more.
TEST(SeriesHttpBounds, QueriesEndWhenTheirClientIsGone) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += MeterLine("a", kNow - i * kMicrosPerMinute, i);
  ASSERT_EQ(fixture.Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms", lines).code, 200);
  const std::vector<std::string> questions = {"every=minute&agg=p95&window=1,2,100",
                                              "every=minute&fill=linear", "format=json"};
  for (const std::string& question : questions) {
    fixture.is_client_gone_ = nullptr;
    EXPECT_EQ(fixture.Call("GET", "/api/v1/series/meters/query?" + question).code, 200) << question;
    fixture.is_client_gone_ = [] { return false; };
    EXPECT_EQ(fixture.Call("GET", "/api/v1/series/meters/query?" + question).code, 200) << question;
    fixture.is_client_gone_ = [] { return true; };
    const HttpResponse left = fixture.Call("GET", "/api/v1/series/meters/query?" + question);
    EXPECT_EQ(left.code, 499) << question;
    EXPECT_EQ(nlohmann::json::parse(left.body)["error"]["message"], "the client has gone");
  }
}

TEST(SeriesHttpBounds, BoundsWhatWindowsJoin) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += MeterLine("a", kNow - i * kMicrosPerMinute, i);
  ASSERT_EQ(fixture.Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms", lines).code, 200);
  std::string windows = "1";
  for (int i = 2; i <= 1'000; ++i) windows += fmt::format(",{}", i);
  const HttpResponse refused =
      fixture.Call("GET", "/api/v1/series/meters/query?every=minute&agg=p95&window=" + windows);
  EXPECT_EQ(refused.code, 400);
  EXPECT_EQ(nlohmann::json::parse(refused.body)["error"]["message"],
            "the windows join 40039920000 buckets and values or more; allowed: 1000000000; ask for fewer or "
            "shorter window, wider buckets, fewer groups or a shorter time");
  std::string percentiles = "p0";
  for (int i = 1; i <= 10'000; ++i) percentiles += fmt::format(",p{}", 0.01 * i);
  EXPECT_EQ(
      nlohmann::json::parse(
          fixture.Call("GET", "/api/v1/series/meters/query?agg=" + percentiles).body)["error"]["message"],
      "10001 columns; allowed: 10000; ask for fewer fields, agg or window");
}

// The memory is one account: what never fits is wrong for good, whichever part of the question takes it.
TEST(SeriesHttpBounds, RefusesWhatTakesTooMuchMemory) {
  Fixture fixture({}, /*bytes_under_way_max=*/7 << 20);
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  for (int day = 0; day < 10; ++day) {
    std::string lines;
    for (int i = 0; i < 50'000; ++i)
      lines += MeterLine("a", kNow - day * kMicrosPerDay - i * kMicrosPerSecond, i);
    ASSERT_EQ(fixture.Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms", lines).code, 200);
  }
  const auto ask = [&](const std::string& question) {
    return fixture.Call("GET", "/api/v1/series/meters/query?" + question);
  };
  for (const char* question :
       {"limit=1000000", "limit=1000000&format=csv", "agg=p95", "agg=max&every=1s", "latest=1000000"}) {
    const HttpResponse refused = ask(question);
    EXPECT_EQ(refused.code, 400) << question;
    EXPECT_THAT(refused.body, testing::HasSubstr("bytes of memory")) << question;
    EXPECT_EQ(fixture.service_->admission().Taken().bytes, 0) << question;
  }
  const prometheus::RemoteMatcher name{prometheus::RemoteMatcher::Type::kEqual, "__name__", "meters_kwh"};
  const HttpResponse remote =
      fixture.Call("POST", "/api/v1/read", prometheus::EncodeRead({{0, kNow / 1000, {name}}}));
  EXPECT_EQ(remote.code, 400);
  EXPECT_THAT(remote.body, testing::HasSubstr("bytes of memory"));
  EXPECT_EQ(ask("agg=max").code, 200);
  // While others have most of the room, it is busy.
  auto place = fixture.service_->admission().Admit(6 << 20);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(ask("limit=50000").code, 503);
  *place = Admission::Place();
  EXPECT_EQ(ask("limit=50000").code, 200);
  EXPECT_EQ(fixture.service_->admission().Taken().bytes, 0);
}

}  // namespace
}  // namespace sonde::series
