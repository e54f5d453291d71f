#include "promql/http/prometheus_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "prometheus/remote_messages.h"
#include "promql/samples/samples.h"
#include "series/http/series_http_test_support.h"

namespace sonde::promql {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class PrometheusApiTest : public testing::Test {
 protected:
  PrometheusApiTest() : api_(fixture_.service_.get(), {"projects/p/instances/i", "1.2.3", {}}) {
    api_.AddRoutes(&fixture_.router_);
  }

  // Samples of up{instance="a",job="x"} and so on.
  void Write(const std::string& labels, const std::vector<std::pair<int64_t, double>>& samples) {
    std::string lines;
    for (const auto& [seconds, value] : samples)
      lines += fmt::format("{} value={} {}\n", labels, value, seconds);
    ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  }

  HttpResponse Get(const std::string& path) { return fixture_.Call("GET", "/api/v1/" + path); }
  HttpResponse Post(const std::string& path, const std::string& form) {
    return fixture_.Call("POST", "/api/v1/" + path, form,
                         {{"content-type", "application/x-www-form-urlencoded"}});
  }
  std::string DataOf(const HttpResponse& response) {
    EXPECT_EQ(response.code, 200) << response.body;
    return json::parse(response.body)["data"].dump();
  }
  // CODE TYPE: TEXT
  std::string ErrorOf(const HttpResponse& response) {
    const json body = json::parse(response.body);
    EXPECT_EQ(body["status"], "error");
    return fmt::format("{} {}: {}", response.code, body.value("errorType", ""), body.value("error", ""));
  }

  series::Fixture fixture_;
  PrometheusApi api_;
};

TEST_F(PrometheusApiTest, AnswersOnAnEmptyStore) {
  EXPECT_EQ(Post("query", "query=1%2B1&time=4").body,
            R"({"status":"success","data":{"resultType":"scalar","result":[4,"2"]}})");
  EXPECT_EQ(Get("query?query=up").body, R"({"status":"success","data":{"resultType":"vector","result":[]}})");
  EXPECT_EQ(Get("query?query=\"a<b\"&time=4").body,
            R"({"status":"success","data":{"resultType":"string","result":[4,"a<b"]}})");
  EXPECT_EQ(Get("query_range?query=up&start=0&end=60&step=15").body,
            R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
  EXPECT_EQ(Get("labels").body, R"({"status":"success","data":[]})");
  EXPECT_EQ(Get("label/__name__/values").body, R"({"status":"success","data":[]})");
  EXPECT_EQ(Get("metadata").body, R"({"status":"success","data":{}})");
  EXPECT_EQ(Get("rules").body, R"({"status":"success","data":{"groups":[]}})");
  EXPECT_EQ(
      Get("status/buildinfo").body,
      R"({"status":"success","data":{"version":"3.14.0","revision":"1.2.3","branch":"sonde","buildUser":"","buildDate":"","goVersion":""}})");
}

TEST_F(PrometheusApiTest, QueriesAtOneTimeAndAtSteps) {
  Write("up,instance=a,job=x", {{1'000, 1}, {1'015, 2}, {1'030, 3.5}});
  Write("up,instance=b,job=x", {{1'000, 10}});
  EXPECT_EQ(
      Get("query?query=up&time=1020.5").body,
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","instance":"a","job":"x"},"value":[1020.500,"2"]},{"metric":{"__name__":"up","instance":"b","job":"x"},"value":[1020.500,"10"]}]}})");
  EXPECT_EQ(
      Post("query", "query=up%7Binstance%3D%22a%22%7D%5B1m%5D&time=1030").body,
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","instance":"a","job":"x"},"values":[[1000,"1"],[1015,"2"],[1030,"3.5"]]}]}})");
  EXPECT_EQ(
      Get("query_range?query=sum(up)&start=1000&end=1030&step=15s").body,
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1000,"11"],[1015,"12"],[1030,"13.5"]]}]}})");
  // A form's parameters come before the URL's; the path below /prometheus says the same.
  EXPECT_EQ(DataOf(fixture_.Call("POST", "/prometheus/api/v1/query?query=2", "query=1&time=0",
                                 {{"content-type", "application/x-www-form-urlencoded"}})),
            R"({"result":[0,"1"],"resultType":"scalar"})");
  const json limited = json::parse(Get("query?query=up&time=1020&limit=1").body);
  EXPECT_EQ(limited["data"]["result"].size(), 1);
  EXPECT_EQ(limited["warnings"], json({"results truncated due to limit"}));
  EXPECT_EQ(json::parse(Get("query?query=up&time=1020&limit=2").body).count("warnings"), 0);
  EXPECT_EQ(json::parse(Get("query?query=up&time=1020&lookback_delta=6").body)["data"]["result"].size(), 1);
  // The whole parts of an answer are one text.
  std::string lines;
  for (int i = 0; i < 3'000; ++i) lines += fmt::format("many,i={} value={} 1000\n", i, i);
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  EXPECT_EQ(json::parse(Get("query?query=many&time=1000").body)["data"]["result"].size(), 3'000);
  EXPECT_EQ(fixture_.service_->admission().Taken().bytes, 0);
}

TEST_F(PrometheusApiTest, SaysWhatItNoticed) {
  Write("up,instance=a", {{1'000, 1}, {1'015, 2}});
  const json answer = json::parse(Get("query?query=rate(up[1m])&time=1020&stats=all").body);
  EXPECT_EQ(answer["infos"], json({"PromQL info: metric might not be a counter, name does not end in "
                                   "_total/_sum/_count/_bucket: \"up\" (1:6)"}));
  EXPECT_EQ(answer["data"]["stats"]["samples"]["samplesRead"], 2);
  EXPECT_EQ(answer["data"]["stats"]["samples"]["totalQueryableSamples"], 2);
  EXPECT_TRUE(answer["data"]["stats"]["timings"].contains("execTotalTime"));
  EXPECT_THAT(Get("query?query=up&stats=some").body,
              HasSubstr("is deprecated and will be rejected in the next major release"));
}

TEST_F(PrometheusApiTest, RefusesInPrometheusWords) {
  const auto instant = [&](const std::string& form) { return ErrorOf(Get("query?" + form)); };
  EXPECT_EQ(instant("query="),
            "400 bad_data: invalid parameter \"query\": unknown position: parse error: no expression found "
            "in input");
  EXPECT_THAT(instant("query=up{"),
              HasSubstr("400 bad_data: invalid parameter \"query\": 1:4: parse error: "));
  EXPECT_EQ(
      instant("query=up&time=abc"),
      "400 bad_data: invalid parameter \"time\": invalid time value for 'time': cannot parse \"abc\" to a "
      "valid timestamp");
  EXPECT_EQ(instant("query=up&timeout=abc"),
            "400 bad_data: invalid parameter \"timeout\": cannot parse \"abc\" to a valid duration");
  EXPECT_EQ(instant("query=up&timeout=0"),
            "400 bad_data: invalid parameter \"query\": context deadline exceeded");
  EXPECT_EQ(instant("query=up&limit=a"),
            "400 bad_data: invalid parameter \"limit\": strconv.Atoi: parsing \"a\": invalid syntax");
  EXPECT_EQ(instant("query=up&limit=-1"),
            "400 bad_data: invalid parameter \"limit\": limit must be non-negative");
  EXPECT_EQ(instant("query=up&lookback_delta=a"),
            "400 bad_data: error parsing lookback delta duration: cannot parse \"a\" to a valid duration");
  Write("g,i=a,j=x", {{1'000, 1}});
  Write("g,i=b,j=x", {{1'000, 2}});
  EXPECT_THAT(instant("query=g+on(j)g&time=1000"),
              HasSubstr("422 execution: found duplicate series for the match group {j=\"x\"}"));
  const auto range = [&](const std::string& form) { return ErrorOf(Get("query_range?query=up&" + form)); };
  EXPECT_EQ(range("end=1&step=1"),
            "400 bad_data: invalid parameter \"start\": cannot parse \"\" to a valid timestamp");
  EXPECT_EQ(range("start=2&end=1&step=1"),
            "400 bad_data: invalid parameter \"end\": end timestamp must not be before start time");
  EXPECT_EQ(range("start=1&end=2&step=0"),
            "400 bad_data: invalid parameter \"step\": zero or negative query resolution step widths are not "
            "accepted. Try a positive integer");
  EXPECT_EQ(range("start=1&end=2&step=0.0001"),
            "400 bad_data: invalid parameter \"step\": the step is below one millisecond, the least");
  EXPECT_EQ(
      range("start=0&end=11001&step=1"),
      "400 bad_data: exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query "
      "resolution (?step=XX)");
  EXPECT_EQ(Get("query_range?query=up&start=0&end=11000&step=1").code, 200);
  EXPECT_EQ(
      ErrorOf(Get("query_range?query=up[1m]&start=0&end=1&step=1")),
      "400 bad_data: invalid parameter \"query\": invalid expression type \"range vector\" for range query, "
      "must be Scalar or instant Vector");
}

TEST_F(PrometheusApiTest, EndsWithItsClientItsTimeAndItsMemory) {
  Write("up,instance=a", {{1'000, 1}});
  fixture_.is_client_gone_ = [] { return true; };
  EXPECT_EQ(ErrorOf(Get("query?query=up")), "499 canceled: query was canceled in expression evaluation");
  fixture_.is_client_gone_ = nullptr;
  // A nanosecond is over before the evaluation begins.
  EXPECT_EQ(ErrorOf(Get("query?query=up&timeout=0.000000001")),
            "503 timeout: query timed out in expression evaluation");
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += fmt::format("many,i={} value=1 1000\n", i);
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", lines).code, 204);
  auto place = fixture_.service_->admission().Admit(250 << 20);
  ASSERT_TRUE(place.ok());
  const HttpResponse busy = Get("query_range?query=many&start=0&end=11000&step=1");
  EXPECT_THAT(ErrorOf(busy), HasSubstr("503 unavailable: "));
  EXPECT_THAT(busy.headers, testing::Contains(testing::Pair("Retry-After", "1")));
  *place = Admission::Place();
  EXPECT_EQ(Get("query_range?query=many&start=0&end=11000&step=1").code, 200);
  EXPECT_EQ(fixture_.service_->admission().Taken().bytes, 0);
}

TEST_F(PrometheusApiTest, ListsSeriesLabelsAndValues) {
  Write("up,instance=a,job=x", {{1'000, 1}});
  Write("up,instance=b,job=y", {{5'000, 1}});
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", "cpu,host=h user=1,note=\"n\" 1000\n").code, 204);
  EXPECT_EQ(DataOf(Post("series", "match%5B%5D=up{job=\"x\"}&match%5B%5D=cpu_user&start=0&end=2000")),
            R"([{"__name__":"cpu_user","host":"h"},{"__name__":"up","instance":"a","job":"x"}])");
  // By days: both have samples on this one.
  EXPECT_EQ(json::parse(DataOf(Post("series", "match%5B%5D=up&start=0&end=2000"))).size(), 2);
  EXPECT_EQ(DataOf(Post("series", "match%5B%5D=up&start=86400&end=90000")), "[]");
  EXPECT_EQ(DataOf(fixture_.Call("GET", "/prometheus/api/v1/series?match[]={job=\"y\"}")),
            R"([{"__name__":"up","instance":"b","job":"y"}])");
  EXPECT_EQ(ErrorOf(Post("series", "")), "400 bad_data: no match[] parameter provided");
  EXPECT_THAT(ErrorOf(Post("series", "match%5B%5D=up%7B")),
              HasSubstr("400 bad_data: invalid parameter \"match[]\": 1:4: parse error: "));
  const json limited = json::parse(Post("series", "match%5B%5D=up&limit=1").body);
  EXPECT_EQ(limited["data"].size(), 1);
  EXPECT_EQ(limited["warnings"], json({"results truncated due to limit"}));
  EXPECT_EQ(DataOf(Get("labels")), R"(["__name__","host","instance","job"])");
  EXPECT_EQ(DataOf(Get("labels?match[]=cpu_user")), R"(["__name__","host"])");
  EXPECT_EQ(DataOf(Get("labels?start=2&end=1")), "[]");
  EXPECT_EQ(DataOf(Get("label/__name__/values")), R"(["cpu_user","up"])");
  EXPECT_EQ(DataOf(Get("label/__name__/values?match[]={job=\"x\"}")), R"(["up"])");
  EXPECT_EQ(DataOf(Get("label/instance/values")), R"(["a","b"])");
  EXPECT_EQ(DataOf(Get("label/instance/values?match[]=up{job=\"y\"}")), R"(["b"])");
  // These, too.
  EXPECT_EQ(DataOf(Get("label/instance/values?start=0&end=2000")), R"(["a","b"])");
  EXPECT_EQ(DataOf(Get("label/instance/values?start=86400&end=90000")), "[]");
  EXPECT_EQ(DataOf(Get("labels?match[]=up&start=86400&end=90000")), "[]");
  EXPECT_EQ(DataOf(Get("label/U__instance/values?limit=1")), R"(["a"])");
  EXPECT_EQ(DataOf(Get("label/none/values")), "[]");
  EXPECT_EQ(ErrorOf(Get("label/U__/values")), "400 bad_data: invalid label name: \"\"");
}

TEST_F(PrometheusApiTest, SeesWhereASeriesHasEnded) {
  const double mark = std::bit_cast<double>(kStaleBits);
  const auto write = [&](const std::string& name, std::vector<prometheus::RemoteSample> samples) {
    const HttpResponse answer =
        fixture_.Call("POST", "/api/v1/write",
                      prometheus::EncodeWrite({{{{"__name__", name}, {"job", "x"}}, std::move(samples)}},
                                              prometheus::WriteVersion::k1),
                      {{"content-encoding", "snappy"}, {"content-type", "application/x-protobuf"}});
    EXPECT_EQ(answer.code, 204) << answer.body;
  };
  write("none", {{mark, 1'000'000}});  // opens no series
  write("up", {{1, 1'000'000}, {2, 1'015'000}});
  write("up", {{mark, 1'030'000}, {3, 1'060'000}, {mark, 1'075'000}, {4, 1'075'000}});
  const auto at = [&](int seconds) {
    return json::parse(Get(fmt::format("query?query=up&time={}", seconds)).body)["data"]["result"];
  };
  EXPECT_EQ(at(1'029)[0]["value"][1], "2");
  EXPECT_EQ(at(1'030), json::array());
  EXPECT_EQ(at(1'059), json::array());
  EXPECT_EQ(at(1'060)[0]["value"][1], "3");
  EXPECT_EQ(at(1'075)[0]["value"][1], "4");  // a sample of that time
  EXPECT_EQ(
      DataOf(Get("query?query=up[2m]&time=1060")),
      R"({"result":[{"metric":{"__name__":"up","job":"x"},"values":[[1000,"1"],[1015,"2"],[1060,"3"]]}],)"
      R"("resultType":"matrix"})");
  EXPECT_EQ(DataOf(Get("label/__name__/values")), R"(["up"])");
  EXPECT_EQ(DataOf(Post("series", "match%5B%5D=%7Bjob%3D%22x%22%7D")), R"([{"__name__":"up","job":"x"}])");
  const prometheus::RemoteMatcher name{prometheus::RemoteMatcher::Type::kEqual, "__name__", "up"};
  const auto read = prometheus::DecodeReadResponse(
      fixture_.Call("POST", "/api/v1/read", prometheus::EncodeRead({{0, 2'000'000, {name}}})).body);
  EXPECT_EQ((*read)[0][0].samples.size(), 5);
  EXPECT_TRUE(IsStale((*read)[0][0].samples[2].value));
}

// NaN and infinities are values; a series may begin with one.
TEST_F(PrometheusApiTest, KeepsValuesThatAreNoNumbers) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double mark = std::bit_cast<double>(kStaleBits);
  const std::string write = prometheus::EncodeWrite(
      {{{{"__name__", "odd"}, {"job", "x"}},
        {{nan, 1'000'000}, {infinite, 1'015'000}, {-infinite, 1'030'000}, {4, 1'045'000}, {mark, 1'060'000}}},
       {{{"__name__", "none"}}, {{nan, 1'000'000}}}},
      prometheus::WriteVersion::k1);
  const std::map<std::string, std::string> headers = {{"content-encoding", "snappy"},
                                                      {"content-type", "application/x-protobuf"}};
  EXPECT_EQ(fixture_.Call("POST", "/api/v1/write", write, headers).code, 204);
  EXPECT_EQ(DataOf(Get("query?query=odd[2m]&time=1060")),
            R"({"result":[{"metric":{"__name__":"odd","job":"x"},"values":[[1000,"NaN"],[1015,"+Inf"],)"
            R"([1030,"-Inf"],[1045,"4"]]}],"resultType":"matrix"})");
  EXPECT_EQ(DataOf(Get("query?query=odd&time=1060")), R"({"result":[],"resultType":"vector"})");
  EXPECT_EQ(DataOf(Get("query?query=none&time=1060")),
            R"({"result":[{"metric":{"__name__":"none"},"value":[1060,"NaN"]}],"resultType":"vector"})");
  EXPECT_EQ(DataOf(Post("series", "match%5B%5D=none")), R"([{"__name__":"none"}])");
  const prometheus::RemoteMatcher name{prometheus::RemoteMatcher::Type::kEqual, "__name__", "odd"};
  const auto read = prometheus::DecodeReadResponse(
      fixture_.Call("POST", "/api/v1/read", prometheus::EncodeRead({{0, 2'000'000, {name}}})).body);
  EXPECT_EQ((*read)[0][0].samples.size(), 5);
  EXPECT_EQ((*read)[0][0].samples[2].value, -infinite);
}

// A declared series has no marks unless it declares their field.
TEST_F(PrometheusApiTest, PassesOverMarksThatNobodyDeclared) {
  ASSERT_EQ(fixture_
                .Call("PUT", "/api/v1/series/temp",
                      "series: temp\ntable: temp\ntags: { job: string }\nfields: { value: double }\n"
                      "key: [job, bucket]\nbucket: day\nretention: { max_versions: all }\n")
                .code,
            200);
  const double mark = std::bit_cast<double>(kStaleBits);
  const HttpResponse answer = fixture_.Call(
      "POST", "/api/v1/write",
      prometheus::EncodeWrite({{{{"__name__", "temp"}, {"job", "x"}}, {{1, 1'000'000}, {mark, 1'015'000}}}},
                              prometheus::WriteVersion::k1),
      {{"content-encoding", "snappy"}, {"content-type", "application/x-protobuf"}});
  EXPECT_EQ(answer.code, 204) << answer.body;
  EXPECT_EQ(json::parse(Get("query?query=temp&time=1020").body)["data"]["result"][0]["value"][1], "1");
}

// GET /api/v1/series is of two APIs; who may list series may not read them.
TEST_F(PrometheusApiTest, SeriesOfMatchersNeedTheRightToRead) {
  Write("up,instance=a", {{1'000, 1}});
  HttpRequest request;
  request.method = "GET";
  request.query.emplace("match[]", "up");
  HttpResponse response;
  ASSERT_TRUE(api_.AnswerSeriesOfMatchers(request, &response).ok());
  EXPECT_EQ(response.body, R"({"status":"success","data":[{"__name__":"up","instance":"a"}]})");
  request.check_access = [](Permission permission, std::string_view resource) {
    EXPECT_EQ(NameOf(permission), "bigtable.tables.readRows");
    EXPECT_EQ(resource, "projects/p/instances/i");
    return absl::PermissionDeniedError("no");
  };
  EXPECT_TRUE(absl::IsPermissionDenied(api_.AnswerSeriesOfMatchers(request, &response)));
}

TEST_F(PrometheusApiTest, DeletesSeries) {
  Write("up,instance=a,job=x", {{1'000, 1}, {2'000, 2}, {3'000, 3}});
  Write("up,instance=b,job=y", {{1'000, 1}});
  ASSERT_EQ(fixture_.Call("POST", "/write?precision=s", "cpu,job=x user=1,idle=2 1000\n").code, 204);
  const auto at = [&](const std::string& query) {
    return json::parse(Get("query?query=" + query + "&time=3000").body)["data"]["result"].size();
  };
  EXPECT_EQ(ErrorOf(Post("admin/tsdb/delete_series", "")), "400 bad_data: no match[] parameter provided");
  EXPECT_EQ(
      ErrorOf(Post("admin/tsdb/delete_series", "match%5B%5D=%7Bjob%3D~%22.*%22%7D")),
      "400 bad_data: invalid parameter \"match[]\": match[] must contain at least one non-empty matcher");
  EXPECT_EQ(ErrorOf(Post("admin/tsdb/delete_series", "match%5B%5D=up&start=2&end=1")),
            "400 bad_data: end timestamp must not be before start timestamp");
  // A part of the time; both ends are in it.
  EXPECT_EQ(Post("admin/tsdb/delete_series", "match%5B%5D=up&start=1000&end=2000").code, 204);
  EXPECT_EQ(DataOf(Get("query?query=up[1h]&time=3000")),
            R"({"result":[{"metric":{"__name__":"up","instance":"a","job":"x"},"values":[[3000,"3"]]}],)"
            R"("resultType":"matrix"})");
  // One metric of two in a row.
  EXPECT_EQ(at("count_over_time(cpu_user[1h])"), 1);
  EXPECT_EQ(fixture_
                .Call("PUT",
                      "/prometheus/api/v1/admin/tsdb/delete_series?match[]=cpu_user&match[]={job=\"x\","
                      "__name__=\"up\"}")
                .code,
            204);
  EXPECT_EQ(at("count_over_time(cpu_user[1h])"), 0);
  EXPECT_EQ(at("count_over_time(cpu_idle[1h])"), 1);
  EXPECT_EQ(at("count_over_time(up[1h])"), 0);
  // Nothing is deleted where a selector means what cannot be deleted.
  ASSERT_EQ(fixture_.Call("PUT", "/api/v1/series/meters", series::kMeters).code, 200);
  EXPECT_THAT(
      ErrorOf(Post("admin/tsdb/delete_series", "match%5B%5D=meters_hourly_kwh_max&match%5B%5D=cpu_idle")),
      HasSubstr("422 execution: the selector means 'meters_hourly_kwh_max', of a derived table"));
  EXPECT_EQ(at("count_over_time(cpu_idle[1h])"), 1);
}

TEST_F(PrometheusApiTest, FormatsAndParses) {
  EXPECT_EQ(DataOf(Get("format_query?query=sum(up)by(job)>1")), R"("sum by (job) (up) > 1")");
  EXPECT_THAT(Get("format_query?query=a>1").body, HasSubstr(R"("a \u003e 1")"));
  EXPECT_EQ(DataOf(Get("parse_query?query=up{job=\"x\"}offset 1m")),
            R"({"anchored":false,"matchers":[{"name":"job","type":"=","value":"x"},)"
            R"({"name":"__name__","type":"=","value":"up"}],"name":"up","offset":60000,"smoothed":false,)"
            R"("startOrEnd":null,"timestamp":null,"type":"vectorSelector"})");
  EXPECT_EQ(DataOf(Get("parse_query?query=1+2")),
            R"({"bool":false,"lhs":{"type":"numberLiteral","val":"1"},"matching":null,"op":"+",)"
            R"("rhs":{"type":"numberLiteral","val":"2"},"type":"binaryExpr"})");
  EXPECT_THAT(ErrorOf(Post("parse_query", "query=%28")),
              HasSubstr("invalid parameter \"query\": 1:2: parse error"));
  EXPECT_EQ(DataOf(Get("query_exemplars?query=up&start=0&end=1")), "[]");
  EXPECT_EQ(Get("query_exemplars?query=1&start=0&end=1").code, 204);
}

}  // namespace
}  // namespace sonde::promql
