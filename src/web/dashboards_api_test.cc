#include "web/dashboards_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "web/dashboard_store.h"

namespace sonde {
namespace {

using testing::HasSubstr;

constexpr char kPower[] =
    R"({"title":"Power","variables":[{"name":"house","series":"boiler","tag":"house"}],)"
    R"("panels":[{"title":"Degrees","query":"SELECT time, degrees FROM series.boiler WHERE house = @house"},)"
    R"({"query":"SELECT 1","shown":"rows"}]})";

class DashboardsApiTest : public testing::Test {
 protected:
  DashboardsApiTest() { AddDashboardsApi(engine_.get(), &router_); }

  HttpResponse Call(const std::string& method, const std::string& path, const std::string& body = "") {
    const Router::Match match = router_.Find(method, path);
    if (match.route == nullptr) return ErrorResponse(404, "NOT_FOUND", "no route");
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.parts = match.parts;
    HttpBody source(
        [rest = body](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
          const size_t bytes = rest.copy(buffer, bytes_max);
          rest.erase(0, bytes);
          return bytes;
        },
        match.route->body_bytes_max);
    HttpResponse response;
    const absl::Status status = match.route->handler(request, &source, &response);
    return status.ok() ? response : ErrorResponse(status);
  }
  HttpResponse Put(const std::string& name, const std::string& body) {
    return Call("PUT", "/api/v1/dashboards/" + name, body);
  }
  std::string PutError(const std::string& body) {
    const HttpResponse response = Put("d", body);
    EXPECT_EQ(response.code, 400) << response.body;
    return nlohmann::json::parse(response.body)["error"]["message"];
  }
  std::string List() { return Call("GET", "/api/v1/dashboards").body; }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  Router router_;
};

TEST_F(DashboardsApiTest, SavesGivesListsAndDeletes) {
  EXPECT_EQ(List(), "{\"dashboards\":[]}\n");
  const HttpResponse saved = Put("power", kPower);
  ASSERT_EQ(saved.code, 200) << saved.body;
  const auto json = nlohmann::ordered_json::parse(saved.body);
  const std::string etag = json["etag"];
  EXPECT_EQ(
      saved.body,
      fmt::format(R"({{"name":"power","etag":"{}","version":1,"title":"Power","instance":"",)"
                  R"("variables":[{{"name":"house","series":"boiler","tag":"house"}}],"panels":[)"
                  R"({{"title":"Degrees","query":"SELECT time, degrees FROM series.boiler WHERE house = )"
                  R"(@house","shown":"chart"}},{{"title":"","query":"SELECT 1","shown":"rows"}}]}})"
                  "\n",
                  etag));
  EXPECT_EQ(Call("GET", "/api/v1/dashboards/power").body, saved.body);
  EXPECT_EQ(Put("a", R"({"title":"A"})").code, 200);
  EXPECT_THAT(List(),
              testing::MatchesRegex(R"(\{"dashboards":\[\{"name":"a","title":"A","etag":"[0-9a-f]+"\},)"
                                    R"(\{"name":"power","title":"Power","etag":"[0-9a-f]+"\}\]\})"
                                    "\n"));
  EXPECT_EQ(Call("POST", "/api/v1/dashboards/power/delete").body, "{\"deleted\":\"power\"}\n");
  EXPECT_EQ(Call("GET", "/api/v1/dashboards/power").code, 404);
  EXPECT_EQ(Call("POST", "/api/v1/dashboards/power/delete").code, 404);
  EXPECT_EQ(Call("GET", "/api/v1/dashboards/a").code, 200);
}

// What GET gives is a file that another server takes.
TEST_F(DashboardsApiTest, WhatIsExportedCanBeImported) {
  ASSERT_EQ(Put("power", kPower).code, 200);
  const std::string exported = Call("GET", "/api/v1/dashboards/power").body;
  auto other = MemoryEngine::Create();
  engine_.swap(other);
  router_ = Router();
  AddDashboardsApi(engine_.get(), &router_);
  auto json = nlohmann::json::parse(exported);
  EXPECT_EQ(Put("power", exported).code, 409) << "it says which dashboard it replaces";
  json.erase("etag");
  const HttpResponse imported = Put("power", json.dump());
  EXPECT_EQ(imported.body, exported);
}

TEST_F(DashboardsApiTest, AnEtagSaysWhichIsReplaced) {
  const std::string etag = nlohmann::json::parse(Put("d", R"({"title":"one"})").body)["etag"];
  ASSERT_EQ(Put("d", R"({"title":"two"})").code, 200) << "without one, any";
  const HttpResponse late = Put("d", R"({"title":"three","etag":")" + etag + "\"}");
  EXPECT_EQ(late.code, 409);
  EXPECT_THAT(late.body, HasSubstr("has changed since etag"));
  EXPECT_THAT(Call("GET", "/api/v1/dashboards/d").body, HasSubstr("\"title\":\"two\""));
}

TEST_F(DashboardsApiTest, SaysWhatIsWrongWithADocument) {
  EXPECT_THAT(PutError("[]"), HasSubstr("A dashboard must be a JSON object"));
  EXPECT_THAT(PutError("{"), HasSubstr("A dashboard must be a JSON object"));
  EXPECT_EQ(PutError("{}"), "dashboard.title is missing");
  EXPECT_EQ(PutError(R"({"title":7})"), "dashboard.title must be a text");
  EXPECT_EQ(PutError(R"({"title":""})"), "dashboard.title is empty");
  EXPECT_EQ(PutError(R"({"title":")" + std::string(201, 't') + "\"}"),
            "dashboard.title has 201 bytes; at most 200 are allowed");
  EXPECT_EQ(
      PutError(R"({"title":"t","color":"red"})"),
      "dashboard has a member 'color'; allowed: version, name, etag, title, instance, variables, panels");
  EXPECT_EQ(PutError(R"({"title":"t","version":2})"), "dashboard.version must be 1");
  EXPECT_EQ(PutError(R"({"title":"t","name":"e"})"), "dashboard.name is 'e', but the path says 'd'");
  EXPECT_THAT(PutError(R"({"title":"t","instance":"i"})"), HasSubstr("i"));
  EXPECT_EQ(PutError(R"({"title":"t","panels":{}})"), "dashboard.panels must be a list");
  EXPECT_EQ(PutError(R"({"title":"t","panels":[{}]})"), "panels[0].query is missing");
  EXPECT_EQ(PutError(R"({"title":"t","panels":[{"query":"q"},{"query":"q","shown":"pie"}]})"),
            "panels[1].shown is 'chart' or 'rows', but is 'pie'");
  EXPECT_EQ(PutError(R"({"title":"t","variables":[{"name":"1a","series":"s","tag":"t"}]})"),
            "variables[0].name is the name of a query parameter, of letters, digits and '_', but is '1a'");
  EXPECT_EQ(PutError(R"({"title":"t","variables":[{"name":"a","series":"s","tag":"t"},)"
                     R"({"name":"A","series":"s","tag":"u"}]})"),
            "variables[1].name is 'A', as another one is");
  std::string many = R"({"title":"t","panels":[)";
  for (size_t i = 0; i <= kPanelsMax; ++i) many += std::string(i == 0 ? "" : ",") + R"({"query":"q"})";
  EXPECT_EQ(PutError(many + "]}"), "dashboard.panels has 51 elements; at most 50 are allowed");
  EXPECT_EQ(PutError("{\"version\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
            "dashboard.version must be 1");
  EXPECT_EQ(List(), "{\"dashboards\":[]}\n");
  const HttpResponse name = Put("a b", R"({"title":"t"})");
  EXPECT_EQ(name.code, 400);
  EXPECT_THAT(name.body, HasSubstr("has 1 to 64 letters, digits, '-' and '_', but is 'a b'"));
  EXPECT_EQ(Put("d", std::string(kDashboardBytesMax + 1, ' ')).code, 429) << "as for every body";
}

TEST_F(DashboardsApiTest, ThereAreNoMoreThanTheLimit) {
  DashboardStore store(engine_.get());
  for (size_t i = 0; i < DashboardStore::kDashboardsMax; ++i) {
    const RecordChange change{fmt::format("dashboard/{}", i), R"({"title":"t"})"};
    ASSERT_TRUE(engine_->WriteRecords({change}, absl::InfiniteFuture()).ok());
  }
  EXPECT_EQ(Put("0", R"({"title":"another"})").code, 200);
  const HttpResponse refused = Put("one-more", R"({"title":"t"})");
  EXPECT_EQ(refused.code, 429);
  EXPECT_THAT(refused.body, HasSubstr("There are 1000 dashboards; at most 1000 are allowed"));
}

// Two that save at the same moment: the second is told.
TEST_F(DashboardsApiTest, NobodysChangeIsLost) {
  DashboardStore one(engine_.get());
  const absl::StatusOr<Dashboard> before = one.Put("d", "1", "");
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(one.Put("d", "2", before->etag).ok());
  EXPECT_TRUE(absl::IsAborted(one.Put("d", "3", before->etag).status()));
  EXPECT_EQ(one.Get("d")->document, "2");
}

}  // namespace
}  // namespace sonde
