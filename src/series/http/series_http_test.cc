#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "prometheus/remote_messages.h"
#include "series/http/series_http_test_support.h"

namespace sonde::series {
namespace {

TEST(SeriesHttp, TakesLineProtocolAndAnswersQueries) {
  Fixture fixture;
  EXPECT_EQ(
      fixture
          .Call("POST", "/write?precision=s", "cpu,host=a,zone=x usage=1,n=2i 100\ncpu,host=b usage=3 160\n")
          .code,
      204);
  EXPECT_EQ(
      fixture.Call("POST", "/api/v2/write?bucket=b&org=o", "cpu,host=a,zone=x usage=5 110000000000").code,
      204);
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/cpu/query?where=host=a&field=usage")),
            R"([["a","x","1970-01-01T00:01:40Z",1.0],["a","x","1970-01-01T00:01:50Z",5.0]])");
  EXPECT_EQ(Rows(fixture.Call(
                "POST", "/api/v1/series/cpu/query",
                R"({"agg": ["max", "count"], "every": "minute", "group_by": ["zone"], "field": "usage"})")),
            R"([["","1970-01-01T00:02:00Z",3.0,1],["x","1970-01-01T00:01:00Z",5.0,2]])");
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/cpu/query?where=zone=x&field=n&format=csv").body,
            "host,zone,time,n\r\na,x,1970-01-01T00:01:40Z,2\r\n");
  const auto list = nlohmann::json::parse(fixture.Call("GET", "/api/v1/series").body);
  EXPECT_EQ(list["series"][0]["tags"][1]["name"], "zone");
  // The first label is where keys begin: its value narrows the scan.
  const auto narrow =
      nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/cpu/query?where=host=b").body);
  EXPECT_EQ(narrow["stats"]["rows_read"], 1);
  EXPECT_EQ(narrow["stats"]["ranges"][0][0], "cpu#host=b#");
  EXPECT_EQ(narrow["stats"]["is_whole_series"], false);
  // Another label's value is looked for in the index.
  const auto by_zone =
      nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/cpu/query?where=zone=x").body);
  EXPECT_EQ(by_zone["stats"]["rows_read"], 1);
  EXPECT_EQ(by_zone["stats"]["is_whole_series"], false);
  // Without a time, it is now.
  EXPECT_EQ(fixture.Call("POST", "/write", "mem free=1").code, 204);
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/mem/query?last=1s")),
            R"([["2023-11-14T22:13:20Z",1.0]])");
}

TEST(SeriesHttp, NamesTheUnitsOfColumns) {
  Fixture fixture;
  ASSERT_EQ(
      fixture
          .Call("PUT", "/api/v1/series/disk",
                "series: disk\ntags: { host: string }\nfields: { used: { type: int, unit: bytes }, n: int }\n"
                "key: [host, bucket]\nbucket: day\nretention: { max_versions: all }\n")
          .code,
      200);
  const auto described = nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/disk").body);
  EXPECT_EQ(described["fields"].dump(),
            R"([{"name":"used","type":"int","unit":"bytes"},{"name":"n","type":"int"}])");
  const auto units = [&](const std::string& question) {
    std::string text;
    const auto answer =
        nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/disk/query?field=used,n&" + question).body);
    for (const auto& column : answer["columns"]) text += column.value("unit", "-") + " ";
    return text;
  };
  EXPECT_EQ(units("limit=1"), "- - bytes - ");
  EXPECT_EQ(units("agg=max,count&group_by=-"), "- bytes - - - ");
  EXPECT_EQ(units("agg=avg&change=rate&group_by=-"), "- bytes/s - ");
}

TEST(SeriesHttp, AnswersTheTwoQueriesThatSendersAskFirst) {
  Fixture fixture;
  EXPECT_EQ(fixture.Call("GET", "/query?q=CREATE DATABASE \"x\"").body,
            "{\"results\":[{\"statement_id\":0}]}\n");
  // In a body they are a form.
  for (const char* form :
       {"q=SHOW+DATABASES", "q=show%20databases", "epoch=ns&q=SHOW+DATABASES&db=x", "SHOW DATABASES"}) {
    const HttpResponse response = fixture.Call("POST", "/query", form);
    EXPECT_EQ(response.code, 200) << form;
    EXPECT_THAT(response.body, testing::HasSubstr("databases")) << form;
  }
  const HttpResponse other = fixture.Call("POST", "/query", "db=x&q=DROP+DATABASE+%22x%22");
  EXPECT_EQ(other.code, 400);
  EXPECT_THAT(other.body, testing::HasSubstr("InfluxQL 'DROP DATABASE"));
}

TEST(SeriesHttp, TakesTimesBefore1970OfSeriesWithAnOrigin) {
  Fixture fixture;
  ASSERT_EQ(fixture
                .Call("PUT", "/api/v1/series/co2",
                      "series: co2\ntags: { place: string }\nfields: { ppm: double }\nbucket: month\n"
                      "key: [place, bucket]\ntime: { resolution: 1s, origin: 1850-01-01 }\n"
                      "retention: { max_versions: all }\nderive: [ latest: co2_now ]\n")
                .code,
            200);
  EXPECT_EQ(fixture.Call("POST", "/write?precision=s", "co2,place=a ppm=285.2 -3786825600").code, 204);
  EXPECT_EQ(fixture.Call("POST", "/write", "co2,place=a ppm=315.7 -373680000000000001").code, 204);
  EXPECT_EQ(fixture
                .Call("POST", "/api/v1/series/co2/write",
                      "{\"place\": \"a\", \"time\": \"2200-01-01T00:00:00Z\", \"ppm\": 800}\n")
                .code,
            200);
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/co2/query")),
            R"([["a","1850-01-01T00:00:00Z",285.2],["a","1958-02-27T23:59:59Z",315.7],)"
            R"(["a","2200-01-01T00:00:00Z",800.0]])");
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/co2/query?from=1850-01-01&to=1900-01-01")),
            R"([["a","1850-01-01T00:00:00Z",285.2]])");
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/co2/query?latest=1")),
            R"([["a","2200-01-01T00:00:00Z",800.0]])");
  const HttpResponse refused = fixture.Call("POST", "/write?precision=s", "co2,place=a ppm=280 -3786825601");
  EXPECT_EQ(refused.code, 400);
  EXPECT_NE(refused.body.find("time 1849-12-31T23:59:59Z"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("from the origin 1850-01-01T00:00:00Z"), std::string::npos) << refused.body;
}

TEST(SeriesHttp, SaysWhichPointsWereRefused) {
  Fixture fixture;
  const HttpResponse v1 =
      fixture.Call("POST", "/write", "cpu usage=1 1\ncpu usage=\"x\" 2\nnonsense\ncpu usage=2 -3");
  EXPECT_EQ(v1.code, 400);
  EXPECT_EQ(nlohmann::json::parse(v1.body)["error"],
            "partial write: line 2: field type conflict: input field \"usage\" on measurement \"cpu\" is "
            "type string, "
            "already exists as type float; line 3: unable to parse 'nonsense': the fields are missing; line "
            "4: time 1969-12-31T23:59:59.999999Z: a series that nobody declared takes times from "
            "1970-01-01T00:00:00Z on; earlier ones take a declaration with time: { origin: 0001-01-01 } "
            "dropped=3");
  EXPECT_EQ(
      nlohmann::json::parse(
          fixture.Call("POST", "/write?precision=s", "cpu usage=1 1614945600000").body)["error"],
      "partial write: line 1: time 1614945600000 in s since 1970; allowed: the years 0001 to 9999; is it of "
      "another precision? dropped=1");
  const HttpResponse v2 = fixture.Call("POST", "/api/v2/write?precision=fortnight", "cpu usage=1 1");
  EXPECT_EQ(v2.code, 400);
  EXPECT_EQ(nlohmann::json::parse(v2.body)["code"], "invalid");
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/cpu/query")), R"([["1970-01-01T00:00:00Z",1.0]])");
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/none/query").code, 404);
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/cpu/query?colour=red").code, 400);
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/cpu/query?limit=0").code, 400);
  Fixture strict({.takes_undeclared = false});
  EXPECT_EQ(strict.Call("POST", "/write", "cpu usage=1 1").code, 400);
  EXPECT_TRUE(strict.tables_->tables["timeseries"].rows.empty());
}

TEST(SeriesHttp, AsksToRetryWhenTheStoreIsBusy) {
  Fixture fixture;
  EXPECT_EQ(fixture.Call("POST", "/write", "cpu,host=a usage=1 1").code, 204);
  fixture.tables_->refused_rows = {"cpu#host=a#1970010100"};
  const HttpResponse response = fixture.Call("POST", "/write", "cpu,host=a usage=1 2");
  EXPECT_EQ(response.code, 503);
  EXPECT_THAT(response.headers, testing::Contains(std::pair<std::string, std::string>("Retry-After", "1")));
}

TEST(SeriesHttp, DeclaresAndTakesJsonAndCsv) {
  Fixture fixture;
  const std::string yaml =
      "series: w\ntags: { place: string }\nfields: { t: double }\nkey: [place, bucket]\nbucket: day\n";
  EXPECT_EQ(fixture.Call("PUT", "/api/v1/series/other", yaml).code, 400);
  EXPECT_EQ(fixture.Call("PUT", "/api/v1/series/w", yaml).code, 200);
  EXPECT_EQ(nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/w").body)["declaration"], yaml);
  const auto check = nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/w").body)["check"];
  ASSERT_EQ(check.size(), 1) << check;
  EXPECT_EQ(check[0]["severity"], "warning");
  EXPECT_THAT(check[0]["reason"].get<std::string>(), testing::HasSubstr("retention"));
  const HttpResponse json = fixture.Call("POST", "/api/v1/series/w/write",
                                         "{\"place\":\"a\",\"time\":\"2020-01-01T00:00:00Z\",\"t\":1,"
                                         "\"colour\":2}\n{}\n",
                                         {{"content-type", "application/x-www-form-urlencoded"}});
  EXPECT_EQ(json.code, 400);
  EXPECT_EQ(nlohmann::json::parse(json.body)["ignored"][0], "colour");
  EXPECT_EQ(nlohmann::json::parse(json.body)["points"], 1);
  EXPECT_EQ(nlohmann::json::parse(json.body)["problems"][0]["line"], 2);
  EXPECT_EQ(fixture
                .Call("POST", "/api/v1/series/w/write", "place,time,t\nb,2020-01-01T00:00:00Z,2\n",
                      {{"content-type", "text/csv"}})
                .code,
            200);
  // Clients have no options of a command line.
  const HttpResponse untagged = fixture.Call(
      "POST", "/api/v1/series/w/write", "time,t\n2020-01-01T00:00:00Z,2\n", {{"content-type", "text/csv"}});
  EXPECT_EQ(untagged.code, 400);
  EXPECT_THAT(
      untagged.body,
      testing::HasSubstr("no column for tag 'place'; name one so, or declare csv: { columns: { COLUMN: "
                         "place } }; the file has: time, t"));
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/w/query")),
            R"([["a","2020-01-01T00:00:00Z",1.0],["b","2020-01-01T00:00:00Z",2.0]])");
}

// What is declared when there are points already does not have them: that is said, and no answer changes.
TEST(SeriesHttp, SaysWhichTablesAreNotComplete) {
  Fixture fixture;
  const std::string yaml =
      "series: w\ntags: { place: string }\nfields: { t: double }\nkey: [place, bucket]\nbucket: day\n"
      "retention: { max_versions: all }\n";
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/w", yaml).code, 200);
  ASSERT_EQ(fixture.Call("POST", "/write", "w,place=a t=1 1614816000000000000").code, 204);
  const HttpResponse put = fixture.Call("PUT", "/api/v1/series/w", yaml + "derive: [ latest: w_now ]\n");
  ASSERT_EQ(put.code, 200) << put.body;
  for (const std::string& body : {put.body, fixture.Call("GET", "/api/v1/series/w").body}) {
    const auto check = nlohmann::json::parse(body)["check"];
    ASSERT_EQ(check.size(), 1) << check;
    EXPECT_EQ(check[0]["severity"], "warning");
    EXPECT_EQ(check[0]["line"], 7);
    EXPECT_EQ(
        check[0]["reason"],
        "table 'w_now' is not complete: what was written before it was declared so, or by a declaration "
        "without it, may be missing; the series is not answered from it");
    EXPECT_EQ(check[0]["remedy"], "fill it: sonde series rebuild stored:w --table 'w_now'");
  }
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/w/query?latest=1")),
            R"([["a","2021-03-04T00:00:00Z",1.0]])");
}

TEST(SeriesHttp, SpeaksOfItsParametersAndNotOfFlags) {
  Fixture fixture;
  EXPECT_EQ(fixture.Call("POST", "/write", "cpu,host=x v=1 1").code, 204);
  const auto message = [&](const std::string& path) {
    const HttpResponse answer = fixture.Call("GET", "/api/v1/series" + path);
    EXPECT_EQ(answer.code, 400) << path;
    return nlohmann::json::parse(answer.body)["error"].value("message", "");
  };
  EXPECT_THAT(message("/cpu/query?where=x"), testing::StartsWith("where 'x'; allowed: "));
  EXPECT_THAT(message("/cpu/query?where=hosst=a"), testing::EndsWith(". Did you mean 'host'?"));
  EXPECT_EQ(message("/cpu/query?agg=max&window=3"), "window counts buckets: it needs every");
  EXPECT_EQ(message("/cpu/query?latest=1&every=day"), "the latest points and every exclude each other");
  EXPECT_THAT(message("/cpu/query?group_by=--group-byte"),
              testing::StartsWith("group_by '--group-byte'; allowed: "));
  EXPECT_EQ(message("?colour=red"), "unknown parameter 'colour'; allowed: limit, start");
  EXPECT_EQ(message("/cpu?colour=red"), "unknown parameter 'colour'; allowed: none");
}

// With which a page can ask for a part of a series that is a few ranges of keys.
TEST(SeriesHttp, NamesTheTagsThatKeysBeginWith) {
  Fixture fixture;
  EXPECT_EQ(fixture.Call("POST", "/write", "cpu,host=x,zone=y v=1 1").code, 204);
  EXPECT_EQ(fixture
                .Call("PUT", "/api/v1/series/w",
                      "series: w\ntable: W\ntags: { place: string, sensor: string }\nfields: { t: double }\n"
                      "key: [sensor, bucket, place]\nbucket: day\nretention: { max_age: 1d }\n")
                .code,
            200);
  const auto tags = [&](const std::string& name) {
    return nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/" + name).body)["key_tags"].dump();
  };
  EXPECT_EQ(tags("cpu"), R"(["host","zone"])");
  EXPECT_EQ(tags("w"), R"(["sensor"])");
}

TEST(SeriesHttp, AnswersFromDerivedTables) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  const std::string path = "/api/v1/series/meters/write?time_format=epoch_ms";
  ASSERT_EQ(
      fixture.Call("POST", path, MeterLine("a", kNow, 3) + MeterLine("a", kNow - kMicrosPerSecond, 5)).code,
      200);
  ASSERT_TRUE(fixture.service_->refresher().Refresh().ok());
  const auto described = nlohmann::json::parse(fixture.Call("GET", "/api/v1/series/meters").body);
  EXPECT_EQ(described["derived"].dump(),
            R"([{"kind":"latest","name":"meters@now","table":"now"},)"
            R"({"kind":"order","name":"meters@by_time","table":"by_time"},)"
            R"({"kind":"rollup","name":"meters@hourly","table":"hourly"},)"
            R"({"kind":"period","name":"meters@m_20231114","table":"m_20231114"}])");
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/meters@hourly/query")),
            R"([["a","2023-11-14T22:00:00Z",2,5]])");
  for (const char* table : {"by_time", "m_20231114"}) {
    EXPECT_EQ(Rows(fixture.Call("GET", fmt::format("/api/v1/series/meters@{}/query", table))),
              R"([["a","2023-11-14T22:13:19Z",5],["a","2023-11-14T22:13:20Z",3]])")
        << table;
  }
  const HttpResponse none = fixture.Call("GET", "/api/v1/series/meters@daily/query");
  EXPECT_EQ(none.code, 404);
  EXPECT_EQ(nlohmann::json::parse(none.body)["error"]["message"], "series 'meters' has no table 'daily'");
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/other@hourly/query").code, 404);
  EXPECT_EQ(fixture.Call("POST", "/api/v1/series/meters@hourly/write", "{}").code, 404);

  prometheus::RemoteMatcher name{prometheus::RemoteMatcher::Type::kEqual, "__name__",
                                 "meters_hourly_kwh_max"};
  const auto samples = [&] {
    const HttpResponse response =
        fixture.Call("POST", "/api/v1/read",
                     prometheus::EncodeRead({{(kNow - kMicrosPerDay) / 1000, kNow / 1000, {name}}}));
    const auto results = prometheus::DecodeReadResponse(response.body).value();
    return results[0].empty() ? 0 : results[0][0].samples.size();
  };
  EXPECT_EQ(samples(), 1);
  name.value = "meters_daily_kwh_max";
  EXPECT_EQ(samples(), 0);
}

TEST(SeriesHttp, ZonesAreNamesOfTheTzDatabase) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  const auto ask = [&](const std::string& zone) {
    return fixture.Call("GET", "/api/v1/series/meters/query?every=day&zone=" + zone);
  };
  EXPECT_EQ(ask("Europe/Rome").code, 200);
  for (const char* zone : {"file:/etc/hostname", "localtime", "/etc/localtime", "libc:localtime"}) {
    const HttpResponse refused = ask(zone);
    EXPECT_EQ(refused.code, 400);
    EXPECT_EQ(nlohmann::json::parse(refused.body)["error"]["message"],
              fmt::format("zone: time zone '{}'; allowed: UTC, or a name that this machine knows (package "
                          "tzdata), such as Europe/Rome",
                          zone));
  }
}

TEST(SeriesHttp, SaysWhatWasPassedOverAndWhatComesTooLate) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  const std::string path = "/api/v1/series/meters/write?time_format=epoch_ms";
  const std::string unknown = "{\"meter\":\"a\",\"time\":1700000000000,\"kwh\":1,\"volt\":2}\n";
  const auto answer = nlohmann::json::parse(fixture.Call("POST", path, unknown + unknown).body);
  EXPECT_EQ(answer["ignored"].dump(), R"(["volt"])");
  EXPECT_EQ(answer["ignored_values"], 2);
  EXPECT_FALSE(answer.contains("warnings"));
  EXPECT_EQ(fixture.Call("POST", path + "&strict=true", unknown).code, 400);
  const auto write = [&](int64_t time_micros) {
    return nlohmann::json::parse(fixture.Call("POST", path, MeterLine("a", time_micros, 1)).body);
  };
  EXPECT_FALSE(
      write(kNow - 30 * kMicrosPerDay + 1'000).contains("warnings"));  // in an hour that began before
  EXPECT_EQ(
      write(kNow - 30 * kMicrosPerDay - 1'000)["warnings"][0],
      "points before 2023-10-15T22:13:20Z are not in roll-ups: they are forgotten already (max_age 30d)");
}

TEST(SeriesHttp, ListsSeriesByPages) {
  Fixture fixture;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(fixture.Call("POST", "/write", fmt::format("{},host=x v=1 1", name)).code, 204);
  }
  const auto list = [&](const std::string& path) {
    const auto json = nlohmann::json::parse(fixture.Call("GET", path).body);
    std::string names;
    for (const auto& series : json["series"]) names += series["name"].get<std::string>();
    return names + " " + json["next"].dump();
  };
  EXPECT_EQ(list("/api/v1/series"), "abc null");
  EXPECT_EQ(list("/api/v1/series?limit=2"), "ab \"c\"");
  EXPECT_EQ(list("/api/v1/series?limit=2&start=c"), "c null");
  const auto counted = nlohmann::json::parse(fixture.Call("GET", "/api/v1/series?limit=1").body);
  EXPECT_EQ(counted["count"], 3);
  EXPECT_EQ(counted["count_max"], 100'000);
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series?limit=0").code, 400);
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series?limit=1001").code, 400);
}

// One text a series: its labels, and its samples as VALUE@MILLIS.
std::vector<std::string> ReadRemote(Fixture& fixture, std::vector<prometheus::RemoteMatcher> matchers,
                                    int64_t start_millis = 0, int64_t end_millis = 10'000) {
  const HttpResponse response = fixture.Call(
      "POST", "/api/v1/read", prometheus::EncodeRead({{start_millis, end_millis, std::move(matchers)}}));
  EXPECT_EQ(response.code, 200) << response.body;
  std::vector<std::string> result;
  const auto results = prometheus::DecodeReadResponse(response.body).value();
  for (const prometheus::RemoteSeries& found : results[0]) {
    std::string text;
    for (const auto& [name, value] : found.labels) text += fmt::format("{}={} ", name, value);
    for (const auto& sample : found.samples)
      text += fmt::format("{}@{} ", sample.value, sample.timestamp_millis);
    result.push_back(text);
  }
  return result;
}

TEST(SeriesHttp, PrometheusWritesAndReadsBack) {
  using prometheus::RemoteMatcher;
  Fixture fixture;
  const std::vector<prometheus::RemoteSeries> series = {
      {{{"__name__", "up"}, {"instance", "a:1"}, {"job", "node"}}, {{1, 1'000}, {0, 2'000}, {NAN, 3'000}}},
      {{{"__name__", "up"}, {"instance", "b:1"}, {"job", "node"}, {"extra", "x"}}, {{1, 1'500}}},
      {{{"__name__", "load"}, {"job", "node"}}, {{0.1, 1'000}}},
  };
  for (const bool is_second : {false, true}) {
    const auto version = is_second ? prometheus::WriteVersion::k2 : prometheus::WriteVersion::k1;
    const HttpResponse written = fixture.Call(
        "POST", "/api/v1/write", prometheus::EncodeWrite(series, version),
        {{"content-encoding", "snappy"},
         {"content-type", is_second ? "application/x-protobuf;proto=io.prometheus.write.v2.Request"
                                    : "application/x-protobuf"}});
    EXPECT_EQ(written.code, 204) << written.body;
    if (is_second) {
      EXPECT_THAT(written.headers, testing::Contains(std::pair<std::string, std::string>(
                                       "X-Prometheus-Remote-Write-Samples-Written", "5")));
    }
  }
  EXPECT_EQ(fixture.Call("POST", "/api/v1/write", "x", {{"content-type", "text/plain"}}).code, 415);
  EXPECT_EQ(fixture.Call("POST", "/api/v1/write", "not snappy", {}).code, 400);

  const auto read = [&](std::vector<RemoteMatcher> matchers, int64_t start = 0, int64_t end = 10'000) {
    return ReadRemote(fixture, std::move(matchers), start, end);
  };
  using Texts = std::vector<std::string>;
  using Type = RemoteMatcher::Type;
  const std::string up_a = "__name__=up instance=a:1 job=node 1@1000 0@2000 nan@3000 ";
  const std::string up_b = "__name__=up extra=x instance=b:1 job=node 1@1500 ";
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}}), (Texts{up_b, up_a}));
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}, {Type::kEqual, "instance", "a:1"}}), Texts{up_a});
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}, {Type::kEqual, "extra", ""}}), Texts{up_a});
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}, {Type::kNotEqual, "instance", "a:1"}}), Texts{up_b});
  EXPECT_EQ(read({{Type::kMatches, "__name__", "u.*|load"}, {Type::kMatchesNot, "instance", "b.*"}}),
            (Texts{"__name__=load job=node 0.1@1000 ", up_a}));
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}}, 1'000, 1'000),
            Texts{"__name__=up instance=a:1 job=node 1@1000 "});
  EXPECT_EQ(read({{Type::kEqual, "__name__", "up"}, {Type::kEqual, "nolabel", "x"}}), Texts{});
}

TEST(SeriesHttp, ARefusedPointLeavesNoSeries) {
  Fixture fixture;
  EXPECT_EQ(fixture.Call("POST", "/write", "new x=18446744073709551615u 1").code, 400);
  EXPECT_EQ(fixture.Call("GET", "/api/v1/series/new").code, 404);
}

TEST(SeriesHttp, EmptyTextsAreReadAsTheyWereWritten) {
  Fixture fixture;
  const std::string yaml =
      "series: es\ntags: { a: string }\nfields: { s: string, x: double }\nkey: [a, bucket]\nbucket: day\n";
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/es", yaml).code, 200);
  EXPECT_EQ(fixture.Call("POST", "/write?precision=s", "es,a=p s=\"\" 1").code, 204);
  EXPECT_EQ(fixture
                .Call("POST", "/api/v1/series/es/write?time_format=epoch_s",
                      "{\"a\":\"p\",\"time\":2,\"s\":\"\"}\n{\"a\":\"p\",\"time\":3,\"s\":null,\"x\":1}\n")
                .code,
            200);
  EXPECT_EQ(Rows(fixture.Call("GET", "/api/v1/series/es/query")),
            R"([["p","1970-01-01T00:00:01Z","",null],["p","1970-01-01T00:00:02Z","",null],)"
            R"(["p","1970-01-01T00:00:03Z",null,1.0]])");
  const HttpResponse twice = fixture.Call("POST", "/write", "es,a=p,a=q x=1 1");
  EXPECT_EQ(twice.code, 400);
  EXPECT_THAT(twice.body, testing::HasSubstr("tag 'a' comes twice"));
}

// Writes by remote write, and says what was answered.
HttpResponse WriteRemote(Fixture& fixture, const std::vector<prometheus::RemoteSeries>& series) {
  return fixture.Call("POST", "/api/v1/write", prometheus::EncodeWrite(series, prometheus::WriteVersion::k1),
                      {{"content-type", "application/x-protobuf"}});
}

TEST(SeriesHttp, PrometheusReadsNamesAsTheyWereWritten) {
  using Type = prometheus::RemoteMatcher::Type;
  using Texts = std::vector<std::string>;
  Fixture fixture;
  const std::vector<prometheus::RemoteSeries> series = {
      {{{"__name__", "my.metric.total"}, {"service.name", "x"}, {"service_name", "y"}}, {{1, 1'000}}},
      {{{"__name__", "my_metric_total"}, {"service.name", "x"}, {"service_name", "y"}}, {{2, 1'000}}},
      {{{"__name__", "température"}, {"où", "ici"}}, {{3, 1'000}}},
      {{{"__name__", "1 {}\"/\\"}, {"a=b,c#d%", "e"}}, {{4, 1'000}}},
  };
  ASSERT_EQ(WriteRemote(fixture, series).code, 204);
  const std::string dots = "__name__=my.metric.total service.name=x service_name=y 1@1000 ";
  const std::string lines = "__name__=my_metric_total service.name=x service_name=y 2@1000 ";
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "__name__", "my.metric.total"}}), Texts{dots});
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "__name__", "my_metric_total"}}), Texts{lines});
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "service.name", "x"}}), (Texts{dots, lines}));
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "service_name", "x"}}), Texts{});
  EXPECT_EQ(ReadRemote(fixture, {{Type::kMatches, "où", "i.*"}}),
            Texts{"__name__=température où=ici 3@1000 "});
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "a=b,c#d%", "e"}}),
            Texts{"__name__=1 {}\"/\\ a=b,c#d%=e 4@1000 "});
  // What other senders write has its names, too.
  ASSERT_EQ(fixture.Call("POST", "/write?precision=ms", "disk-io,path.on=/ read.bytes=5 1000").code, 204);
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "__name__", "disk-io_read.bytes"}}),
            Texts{"__name__=disk-io_read.bytes path.on=/ 5@1000 "});
}

// As in Prometheus, a series is its name and its labels, whoever sent it, and has one sample of a time.
TEST(SeriesHttp, TwoSourcesOfAMetricAreOneSeriesWithOneSampleOfATime) {
  using Type = prometheus::RemoteMatcher::Type;
  using Texts = std::vector<std::string>;
  Fixture fixture;
  ASSERT_EQ(fixture
                .Call("POST", "/write?precision=ms",
                      "pg,host=a usage=5 1000\npg,host=a usage=6 2000\n"
                      "pg,host=b usage=7 1000")
                .code,
            204);
  ASSERT_EQ(WriteRemote(fixture, {{{{"__name__", "pg_usage"}, {"host", "a"}}, {{50, 1'000}, {70, 3'000}}},
                                  {{{"__name__", "pg_usage"}, {"host", "c"}}, {{80, 1'000}}}})
                .code,
            204);
  EXPECT_EQ(ReadRemote(fixture, {{Type::kEqual, "__name__", "pg_usage"}}),
            (Texts{"__name__=pg_usage host=a 50@1000 6@2000 70@3000 ", "__name__=pg_usage host=b 7@1000 ",
                   "__name__=pg_usage host=c 80@1000 "}));
}

TEST(SeriesHttp, RefusesNamesThatPrometheusCouldNotRead) {
  Fixture fixture;
  const HttpResponse twice =
      WriteRemote(fixture, {{{{"__name__", "a"}, {"__name__", "b"}}, {{1, 1'000}}},
                            {{{"__name__", "c"}, {"l", "1"}, {"l", "2"}}, {{1, 1'000}}},
                            {{{"__name__", "d"}, {"", "1"}}, {{1, 1'000}}},
                            {{{"__name__", "e"}, {"l", "1"}}, {{1, 1'000}}}});
  EXPECT_EQ(twice.code, 400);
  EXPECT_EQ(
      twice.body,
      "3 samples were refused: a series with more than one __name__; c: tag 'l' comes twice; d: label '' "
      "of 0 bytes; allowed: 1 to 1024\n");
  const HttpResponse line = fixture.Call("POST", "/write", "cpu,__name__=x v=1 1");
  EXPECT_EQ(line.code, 400);
  EXPECT_THAT(line.body, testing::HasSubstr("tag '__name__': it is Prometheus' name of the metric"));
  EXPECT_EQ(fixture.service_->declarations().List().size(), 1);
}

}  // namespace
}  // namespace sonde::series
