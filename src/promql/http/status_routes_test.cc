// What the API says of series and of metrics.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <nlohmann/json.hpp>
#include <string>

#include "prometheus/remote_messages.h"
#include "promql/http/prometheus_api.h"
#include "series/http/series_http_test_support.h"

namespace sonde::promql {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A field of a message that is a text, or a number.
std::string Field(int number, const std::string& text) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
}
std::string Field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

class StatusRoutesTest : public testing::Test {
 protected:
  StatusRoutesTest() : api_(fixture_.service_.get(), {"projects/p/instances/i", "1.2.3", {}}) {
    api_.AddRoutes(&fixture_.router_);
  }

  json Get(const std::string& path) { return json::parse(fixture_.Call("GET", "/api/v1/" + path).body); }
  void WriteRemote(const std::string& message, bool is_2 = false) {
    std::string packed;
    snappy::Compress(message.data(), message.size(), &packed);
    const std::string type =
        is_2 ? "application/x-protobuf;proto=io.prometheus.write.v2.Request" : "application/x-protobuf";
    const HttpResponse answer = fixture_.Call("POST", "/api/v1/write", packed,
                                              {{"content-encoding", "snappy"}, {"content-type", type}});
    EXPECT_EQ(answer.code, 204) << answer.body;
  }

  series::Fixture fixture_;
  PrometheusApi api_;
};

TEST_F(StatusRoutesTest, CountsSeriesByMetricLabelAndValue) {
  EXPECT_EQ(
      Get("status/tsdb?start=0&end=10").dump(),
      R"({"data":{"headStats":{"chunkCount":0,"maxTime":10000,"minTime":0,"numLabelPairs":0,"numSeries":0},)"
      R"("labelValueCountByLabelName":[],"memoryInBytesByLabelName":[],"seriesCountByLabelValuePair":[],)"
      R"("seriesCountByMetricName":[]},"status":"success"})");
  const int64_t now = series::kNow / series::kMicrosPerSecond;
  std::string lines = fmt::format("old,host=x value=1 {}\n", now - 3 * 86'400);
  for (int i = 0; i < 5; ++i) lines += fmt::format("up,host=h{},job=a value=1 {}\n", i, now - 60);
  lines += fmt::format("cpu,host=h0 user=1,idle=2 {}\n", now - 60);
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  const json data = Get("status/tsdb?limit=2")["data"];
  EXPECT_EQ(data["headStats"]["numSeries"], 7);
  EXPECT_EQ(data["headStats"]["numLabelPairs"], 3 + 5 + 1);  // names, hosts, job
  EXPECT_EQ(data["headStats"]["maxTime"], now * 1'000);
  EXPECT_EQ(data["headStats"]["minTime"], (now - 86'400) * 1'000);
  EXPECT_EQ(data["seriesCountByMetricName"].dump(),
            R"([{"name":"up","value":5},{"name":"cpu_idle","value":1}])");
  EXPECT_EQ(data["labelValueCountByLabelName"].dump(),
            R"([{"name":"host","value":5},{"name":"__name__","value":3}])");
  EXPECT_EQ(data["memoryInBytesByLabelName"].dump(),
            R"([{"name":"__name__","value":26},{"name":"host","value":14}])");
  EXPECT_EQ(data["seriesCountByLabelValuePair"].dump(),
            R"([{"name":"__name__=up","value":5},{"name":"job=a","value":5}])");
  EXPECT_EQ(Get("status/tsdb?start=0")["data"]["headStats"]["numSeries"], 8);
  EXPECT_EQ(Get("status/tsdb?limit=0")["error"], "limit must be a positive number");
  EXPECT_EQ(Get("status/tsdb?limit=a")["error"], "limit must be a positive number");
  EXPECT_EQ(Get("status/tsdb?limit=10001")["error"], "limit must not exceed 10000");
  EXPECT_EQ(Get("status/tsdb?start=2&end=1")["errorType"], "bad_data");
  EXPECT_EQ(fixture_.service_->admission().Taken().bytes, 0);
}

TEST_F(StatusRoutesTest, SaysWhereItHasStoppedToCount) {
  const int64_t now = series::kNow / series::kMicrosPerSecond;
  std::string lines;
  for (int i = 0; i < 30'000; ++i) lines += fmt::format("up,id=a{:050} value=1 {}\n", i, now - 60);
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  EXPECT_EQ(Get("status/tsdb")["data"]["headStats"]["numSeries"], 30'000);
  auto place = fixture_.service_->admission().Admit(255 << 20);
  ASSERT_TRUE(place.ok());
  const json cut = Get("status/tsdb");
  EXPECT_EQ(cut["status"], "success") << cut;
  EXPECT_LT(cut["data"]["headStats"]["numSeries"], 30'000);
  ASSERT_EQ(cut["warnings"].size(), 1) << cut;
  EXPECT_THAT(cut["warnings"][0].get<std::string>(), HasSubstr("series were counted, there are more: "));
}

// An operator deletes where there is no room for questions.
TEST_F(StatusRoutesTest, DeletesWhereThereIsNoRoom) {
  const int64_t now = series::kNow / series::kMicrosPerSecond;
  std::string lines;
  for (int i = 0; i < 30'000; ++i)
    lines += fmt::format("up,id=a{:050},shard=s{} value=1 {}\n", i, i % 3, now - 60);
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  const auto list = [&] {
    return json::parse(fixture_.Call("GET", "/prometheus/api/v1/series?match[]=up").body);
  };
  {
    auto place = fixture_.service_->admission().Admit(256 << 20);
    ASSERT_TRUE(place.ok());
    EXPECT_EQ(list()["status"], "error");
    const HttpResponse deleted =
        fixture_.Call("POST", "/api/v1/admin/tsdb/delete_series?match[]=up{shard=~\"s[12]\"}");
    EXPECT_EQ(deleted.code, 204) << deleted.body;
  }
  const json found = list();
  ASSERT_EQ(found["status"], "success") << found;
  EXPECT_EQ(found["data"].size(), 10'000);
  for (const json& labels : found["data"]) EXPECT_EQ(labels["shard"], "s0");
}

TEST_F(StatusRoutesTest, CountsForSoMuchTime) {
  const int64_t now = series::kNow / series::kMicrosPerSecond;
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", fmt::format("up value=1 {}\n", now)).code, 204);
  EXPECT_EQ(Get("status/tsdb?timeout=60")["data"]["headStats"]["numSeries"], 1);
  const json cut = Get("status/tsdb?timeout=0.000000001");
  EXPECT_EQ(cut["data"]["headStats"]["numSeries"], 0);
  EXPECT_EQ(cut["warnings"],
            json({"only 0 series were counted, there are more: query timed out in expression "
                  "evaluation; ask for a shorter time with start and end"}));
  EXPECT_EQ(Get("status/tsdb?timeout=a")["error"],
            "invalid parameter \"timeout\": cannot parse \"a\" to a valid duration");
}

TEST_F(StatusRoutesTest, KeepsWhatSendersSayAboutMetrics) {
  EXPECT_EQ(Get("metadata")["data"], json::object());
  // 1.0: names the family; 9 is no type.
  WriteRemote(
      Field(3, Field(1, 1) + Field(2, "requests_total") + Field(4, "All \"requests\"") + Field(5, "")) +
      Field(3, Field(1, 9) + Field(2, "temp") + Field(4, "It is warm") + Field(5, "celsius")) +
      Field(3, Field(1, 2) + Field(2, std::string("\xff\xfe"))));
  EXPECT_EQ(Get("metadata")["data"].dump(),
            R"({"requests_total":[{"help":"All \"requests\"","type":"counter","unit":""}],)"
            R"("temp":[{"help":"It is warm","type":"unknown","unit":"celsius"}]})");
  // 2.0: names the series; of a histogram it is one of its parts.
  const std::string symbols = Field(4, "") + Field(4, "__name__") + Field(4, "took_seconds_bucket") +
                              Field(4, "How long it took") + Field(4, "seconds");
  WriteRemote(
      symbols + Field(5, Field(5, Field(1, 3) + Field(3, 3) + Field(4, 4)) + Field(1, std::string("\1\2"))),
      true);
  EXPECT_EQ(Get("metadata?metric=took_seconds")["data"].dump(),
            R"({"took_seconds":[{"help":"How long it took","type":"histogram","unit":"seconds"}]})");
  EXPECT_EQ(Get("metadata?metric=none")["data"], json::object());
  EXPECT_EQ(Get("metadata?limit=1")["data"].size(), 1);
  EXPECT_EQ(Get("metadata?limit=0")["data"].size(), 0);
  EXPECT_EQ(Get("metadata?limit=a")["error"], "limit must be a number");
  // What is said later counts; a text that is too long is cut.
  const std::string help(100, 'x');
  WriteRemote(Field(3, Field(1, 2) + Field(2, "temp") + Field(4, help)));
  EXPECT_EQ(Get("metadata?metric=temp")["data"]["temp"][0].dump(),
            R"({"help":")" + help + R"(","type":"gauge","unit":""})");
  ASSERT_TRUE(fixture_.service_->metadata()
                  .Keep({{"temp", {"gauge", std::string(series::kHelpBytesMax - 1, 'x') + "\xc3\xa4", ""}}})
                  .ok());
  EXPECT_EQ(Get("metadata?metric=temp")["data"]["temp"][0]["help"].get<std::string>().size(),
            series::kHelpBytesMax - 1);
  // No series comes of it.
  EXPECT_EQ(Get("label/__name__/values")["data"], json::array());
}

TEST_F(StatusRoutesTest, RefusesMetadataThatNamesNoSymbol) {
  std::string packed;
  const std::string message = Field(4, "") + Field(5, Field(5, Field(1, 1) + Field(3, 7)));
  snappy::Compress(message.data(), message.size(), &packed);
  const HttpResponse answer =
      fixture_.Call("POST", "/api/v1/write", packed,
                    {{"content-encoding", "snappy"},
                     {"content-type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"}});
  EXPECT_EQ(answer.code, 400);
  EXPECT_EQ(answer.body, "the metadata of a metric names symbol 7; there are 1\n");
}

}  // namespace
}  // namespace sonde::promql
