#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "series/http/series_http_test_support.h"

namespace sonde::series {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string ValuesOf(Fixture* fixture, const std::string& path) {
  const HttpResponse response = fixture->Call("GET", path);
  EXPECT_EQ(response.code, 200) << path << " " << response.body;
  return Json::parse(response.body)["values"].dump();
}

TEST(TagRoutes, CompleteTheValuesOfALabel) {
  Fixture fixture;
  ASSERT_EQ(fixture
                .Call("POST", "/write?precision=s",
                      "cpu,host=web1,region=eu usage=1 100\ncpu,host=web10,region=us usage=1 100\n"
                      "cpu,host=db usage=1 5000\ncpu,region=asia usage=1 100\nother,host=x v=1 100\n")
                .code,
            204);
  EXPECT_EQ(ValuesOf(&fixture, "/api/v1/series/cpu/tags/host/values"), R"(["db","web1","web10"])");
  EXPECT_EQ(ValuesOf(&fixture, "/api/v1/series/cpu/tags/region/values"), R"(["asia","eu","us"])");
  EXPECT_EQ(ValuesOf(&fixture, "/api/v1/series/cpu/tags/host/values?prefix=web"), R"(["web1","web10"])");
  EXPECT_EQ(ValuesOf(&fixture, "/api/v1/series/cpu/tags/region/values?where=host=web1"), R"(["eu"])");
  EXPECT_EQ(ValuesOf(&fixture, "/api/v1/series/cpu/tags/host/values?from=1970-01-01T01:00:00Z"), R"(["db"])");
  const Json two = Json::parse(fixture.Call("GET", "/api/v1/series/cpu/tags/host/values?limit=2").body);
  EXPECT_EQ(two["values"].size(), 2);
  EXPECT_EQ(two["has_more"], true);
}

TEST(TagRoutes, SayWhatIsAllowed) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("POST", "/write", "cpu,host=a usage=1").code, 204);
  const auto refuses = [&](const std::string& path, int code, const std::string& words) {
    const HttpResponse response = fixture.Call("GET", path);
    EXPECT_EQ(response.code, code) << path;
    EXPECT_THAT(response.body, HasSubstr(words)) << path;
  };
  refuses("/api/v1/series/none/tags/host/values", 404, "no series 'none'");
  refuses("/api/v1/series/cpu/tags/hosst/values", 404, "series 'cpu' has no tag 'hosst'; there are: host");
  refuses("/api/v1/series/cpu/tags/host/values?limit=0", 400, "from 1 to 1000");
  refuses("/api/v1/series/cpu/tags/host/values?colour=red", 400, "unknown parameter 'colour'");
  refuses("/api/v1/series/cpu/tags/host/values?where=x", 400, "where 'x'; allowed: TAG=VALUE");
}

// The labels of the points themselves, beside what comes from the keys of their series.
TEST(TagRoutes, HaveTheValuesOfAllPointsOfAnOpenSeries) {
  Fixture fixture;
  SeededRandom random(11);
  std::vector<std::vector<std::string>> points;
  std::string lines;
  // Signs that sort before and behind the comma that is between the labels of a key.
  const std::vector<std::string> signs = {"", "!", "$", "+", "-", ".", "0", "a", "%", "#", "\xC3\xA9"};
  const std::vector<std::string> names = {"first", "second", "third"};
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> values;
    std::string line = "m";
    for (const std::string& name : names) {
      values.push_back(random.Uniform(4) == 0
                           ? ""
                           : fmt::format("v{}{}", random.Uniform(4), signs[random.Uniform(signs.size())]));
      if (!values.back().empty()) line += fmt::format(",{}={}", name, values.back());
    }
    lines += fmt::format("{} x=1 {}\n", line, 100 + i);
    points.push_back(std::move(values));
  }
  ASSERT_EQ(fixture.Call("POST", "/write?precision=s", lines).code, 204);
  for (size_t label = 0; label < names.size(); ++label) {
    for (const std::string prefix : {"", "v1", "v2-"}) {
      std::set<std::string> expected;
      for (const std::vector<std::string>& point : points) {
        if (!point[label].empty() && point[label].starts_with(prefix)) expected.insert(point[label]);
      }
      EXPECT_EQ(
          Json::parse(ValuesOf(&fixture, fmt::format("/api/v1/series/m/tags/{}/values?limit=1000&prefix={}",
                                                     names[label], prefix))),
          Json(expected))
          << names[label] << " " << prefix;
    }
  }
}

}  // namespace
}  // namespace sonde::series
