#include "promql/transfer/transfer_routes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "prometheus/remote_messages.h"
#include "promql/samples/samples.h"
#include "promql/transfer/metric_import.h"
#include "series/http/series_http_test_support.h"

namespace sonde::promql {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Store {
  Store() { AddTransferRoutes(service(), &fixture.router_); }

  series::IngestService* service() { return fixture.service_.get(); }
  std::string Export(const std::string& parameters = "") {
    const HttpResponse response = fixture.Call("GET", "/api/v1/export" + parameters);
    EXPECT_EQ(response.code, 200) << response.body;
    return response.body;
  }
  HttpResponse Import(const std::string& text, const std::string& format = "json") {
    return fixture.Call("POST", "/api/v1/import?format=" + format, text);
  }
  void WriteLines(const std::string& lines) {
    ASSERT_EQ(fixture.Call("POST", "/write?precision=s", lines).code, 204);
  }

  series::Fixture fixture;
};

TEST(TransferRoutesTest, ExportsLinesOfJson) {
  Store store;
  EXPECT_EQ(store.Export(), "");
  store.WriteLines(
      "up,job=a value=1 1000\nup,job=a value=2.5 1015\nup,job=b value=3 1000\n"
      "cpu,host=h user=1,idle=7i,note=\"n\" 1000\n");
  EXPECT_EQ(store.Export(),
            R"({"metric":{"__name__":"cpu_user","host":"h"},"values":[1],"timestamps":[1000000]})"
            "\n"
            R"({"metric":{"__name__":"cpu_idle","host":"h"},"values":[7],"timestamps":[1000000]})"
            "\n"
            R"({"metric":{"__name__":"up","job":"a"},"values":[1,2.5],"timestamps":[1000000,1015000]})"
            "\n"
            R"({"metric":{"__name__":"up","job":"b"},"values":[3],"timestamps":[1000000]})"
            "\n");
  EXPECT_EQ(store.Export("?match[]=up&start=1001&end=1015"),
            R"({"metric":{"__name__":"up","job":"a"},"values":[2.5],"timestamps":[1015000]})"
            "\n");
  // Of several matchers, each series comes once.
  EXPECT_EQ(store.Export("?match[]=up{job=\"b\"}&match[]={job=~\"b|c\"}&match[]=cpu_idle"),
            R"({"metric":{"__name__":"cpu_idle","host":"h"},"values":[7],"timestamps":[1000000]})"
            "\n"
            R"({"metric":{"__name__":"up","job":"b"},"values":[3],"timestamps":[1000000]})"
            "\n");
  const HttpResponse refused = store.fixture.Call("GET", "/api/v1/export?match[]=up{");
  EXPECT_EQ(refused.code, 400);
  EXPECT_THAT(refused.body, HasSubstr("bad_data"));
  EXPECT_THAT(store.fixture.Call("GET", "/api/v1/export?format=xml").body,
              HasSubstr("format 'xml'; allowed: json, openmetrics"));
}

TEST(TransferRoutesTest, ExportsOpenMetrics) {
  Store store;
  EXPECT_EQ(store.Export("?format=openmetrics"), "# EOF\n");
  store.WriteLines(
      "up,job=a value=1 1000\nup,job=b value=3 1000\nrequests_total value=4 1000\n"
      "requests,path=/ total=5 1001\nmy.temp,a\\ b=\"x value=1.5 1000\n");
  ASSERT_TRUE(store.service()
                  ->metadata()
                  .Keep({{"up", {"gauge", "Whether it\nis up", ""}}, {"requests_total", {"counter", "", ""}}})
                  .ok());
  // The metric of two known series has one head.
  EXPECT_EQ(store.Export("?format=openmetrics"),
            "# TYPE \"my.temp\" unknown\n"
            "{\"my.temp\",\"a b\"=\"\\\"x\"} 1.5 1000\n"
            "# TYPE requests counter\n"
            "requests_total{path=\"/\"} 5 1001\n"
            "requests_total 4 1000\n"
            "# TYPE up gauge\n"
            "# HELP up Whether it\\nis up\n"
            "up{job=\"a\"} 1 1000\n"
            "up{job=\"b\"} 3 1000\n"
            "# EOF\n");
  EXPECT_EQ(store.Export("?format=openmetrics&match[]={job=\"b\"}"),
            "# TYPE up gauge\n# HELP up Whether it\\nis up\nup{job=\"b\"} 3 1000\n# EOF\n");
}

// A declared series, and a derived table where it is named.
TEST(TransferRoutesTest, ExportsDerivedTablesWhereTheyAreNamed) {
  Store store;
  ASSERT_EQ(store.fixture.Call("PUT", "/api/v1/series/meters", series::kMeters).code, 200);
  ASSERT_EQ(store.fixture
                .Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms",
                      series::MeterLine("a", series::kNow - 60'000'000, 5))
                .code,
            200);
  const std::string point =
      fmt::format(R"({{"metric":{{"__name__":"meters_kwh","meter":"a"}},"values":[5],"timestamps":[{}]}})"
                  "\n",
                  series::kNow / 1'000 - 60'000);
  EXPECT_EQ(store.Export(), point);
  EXPECT_EQ(store.Export("?match[]={__name__=~\"meters.*\"}"), point);
  EXPECT_THAT(store.Export("?match[]={__name__=~\"meters.*\"}&match[]=meters_now_kwh"),
              HasSubstr(R"("__name__":"meters_now_kwh")"));
  EXPECT_THAT(store.Export("?format=openmetrics&match[]=meters_now_kwh"),
              HasSubstr("meters_now_kwh{meter=\"a\"} 5 "));
}

// What comes out goes into another store, and comes out of it the same.
TEST(TransferRoutesTest, AllComesBack) {
  SeededRandom random(11);
  const double marks[] = {std::bit_cast<double>(kStaleBits), std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  std::vector<prometheus::RemoteSeries> all;
  for (int i = 0; i < 60; ++i) {
    prometheus::RemoteSeries& series = all.emplace_back();
    series.labels = {{"__name__", fmt::format("m{}", i % 7)}, {"i", fmt::format("v {}\"\\ä", i)}};
    if (i % 3 == 0) series.labels.emplace_back("l.x", std::string(1 + i % 4, ','));
    const int64_t step = 1 + static_cast<int64_t>(random.Uniform(100'000));
    for (int64_t k = 0; k < (i == 0 ? 5'000 : 40); ++k) {
      const bool is_mark = k > 0 && random.Uniform(20) == 0;
      const double value = static_cast<double>(random.Uniform(1'000'000)) / 7 - 50'000;
      series.samples.push_back(
          {is_mark ? marks[random.Uniform(std::size(marks))] : value, 1'700'000'000'000 + k * step});
    }
  }
  Store from;
  ASSERT_EQ(from.fixture
                .Call("POST", "/api/v1/write", prometheus::EncodeWrite(all, prometheus::WriteVersion::k1),
                      {{"content-encoding", "snappy"}, {"content-type", "application/x-protobuf"}})
                .code,
            204);
  ASSERT_TRUE(from.service()->metadata().Keep({{"m1", {"gauge", "Help \\ \"text\"", ""}}}).ok());
  for (const std::string format : {"json", "openmetrics"}) {
    const std::string text = from.Export("?format=" + format);
    EXPECT_GT(text.size(), 100'000);
    Store to;
    const HttpResponse answer = to.Import(text, format);
    ASSERT_EQ(answer.code, 200) << answer.body;
    const json told = json::parse(answer.body);
    EXPECT_EQ(told["refused_lines"], 0);
    EXPECT_EQ(told["passed_over"], 0);
    EXPECT_EQ(to.Export("?format=" + format), text);
    if (format == "openmetrics") {
      EXPECT_EQ((*series::ReadMetadata("", to.fixture.tables_))["m1"].help, "Help \\ \"text\"");
    }
    EXPECT_EQ(to.service()->admission().Taken().bytes, 0);
    // In pieces of any length it is the same.
    Store pieces;
    auto place = pieces.service()->admission().Admit(1);
    MetricImport import(pieces.service(),
                        format == "json" ? TransferFormat::kJsonLines : TransferFormat::kOpenMetrics,
                        &*place);
    for (size_t at = 0; at < text.size();) {
      const size_t bytes = std::min<size_t>(text.size() - at, 1 + random.Uniform(2'000));
      ASSERT_TRUE(import.Add(std::string_view(text).substr(at, bytes)).ok());
      at += bytes;
    }
    ASSERT_TRUE(import.Finish().ok());
    EXPECT_EQ(import.lines(), told["lines"]);
    EXPECT_EQ(pieces.Export("?format=" + format), text);
  }
  EXPECT_EQ(from.service()->admission().Taken().bytes, 0);
}

TEST(TransferRoutesTest, RefusesLinesWithTheirNumbers) {
  Store store;
  const HttpResponse answer = store.Import(
      "{\"metric\":{\"__name__\":\"up\"},\"values\":[1,\"NaN\",\"+Inf\"],\"timestamps\":[1,2,3]}\n"
      "\n"
      "no json\n"
      "{\"metric\":{\"job\":\"x\"},\"values\":[1,2],\"timestamps\":[1,2]}\r\n"
      "{\"metric\":{\"__name__\":\"up\",\"job\":\"\"},\"values\":[2],\"timestamps\":[2]}");
  EXPECT_EQ(answer.code, 400);
  EXPECT_EQ(json::parse(answer.body).dump(),
            R"({"error":{"code":400,"message":"2 lines were refused; the others are written",)"
            R"("status":"INVALID_ARGUMENT"},"lines":4,"passed_over":0,)"
            R"("problems":[{"line":3,"reason":"the line is no JSON, from byte 2 on"},)"
            R"({"line":4,"reason":"a series without __name__"}],)"
            R"("refused_lines":2,"refused_samples":2,"samples":4})");
  // A number comes before what is none, of the same time.
  EXPECT_EQ(store.Export(), R"({"metric":{"__name__":"up"},"values":[1,2,"+Inf"],"timestamps":[1,2,3]})"
                            "\n");
  // A text that was cut off says so; what stands behind the end is refused.
  EXPECT_THAT(store.Import("up 1 5\n", "openmetrics").body,
              HasSubstr(R"({"line":2,"reason":"the text ends without # EOF: it may have been cut off"})"));
  EXPECT_THAT(store.Import("# EOF\nup 1 5\n", "openmetrics").body,
              HasSubstr(R"({"line":2,"reason":"a line behind # EOF"})"));
  EXPECT_EQ(store.fixture
                .Call("POST", "/api/v1/import", "up 1 5\n# EOF\n",
                      {{"content-type", "application/openmetrics-text; version=1.0.0"}})
                .code,
            200);
}

TEST(TransferRoutesTest, RefusesALineThatIsTooLong) {
  Store store;
  auto place = store.service()->admission().Admit(1);
  MetricImport import(store.service(), TransferFormat::kJsonLines, &*place);
  const std::string piece(1 << 20, ' ');
  for (size_t i = 0; i < kImportLineBytesMax / piece.size() + 3; ++i) ASSERT_TRUE(import.Add(piece).ok());
  ASSERT_TRUE(import.Add("\n{\"metric\":{\"__name__\":\"up\"},\"values\":[1],\"timestamps\":[1]}\n").ok());
  ASSERT_TRUE(import.Finish().ok());
  EXPECT_EQ(import.samples(), 1);
  ASSERT_EQ(import.problems().size(), 1);
  EXPECT_EQ(import.problems()[0].line, 1);
  EXPECT_EQ(import.problems()[0].reason, "the line has more than 8388608 bytes, the limit");
}

// A line waits for no room: the sender tries again.
TEST(TransferRoutesTest, SaysWhereThereIsNoRoom) {
  Store store;
  auto place = store.service()->admission().Admit(250 << 20);
  const HttpResponse answer = store.Import("{}");
  EXPECT_EQ(answer.code, 503);
  EXPECT_THAT(answer.headers, testing::Contains(testing::Pair("Retry-After", "1")));
}

}  // namespace
}  // namespace sonde::promql
