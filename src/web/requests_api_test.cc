#include "web/requests_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class RequestsApiTest : public testing::Test {
 protected:
  RequestsApiTest() {
    latency_ = LatencyHistory::Open({}, absl::ToUnixSeconds(absl::Now())).value();
    const auto port = [this](const char* name, absl::Duration age) {
      return RunningCallsAccess{
          .list =
              [name, age](size_t) {
                return std::vector<RunningCall>{
                    {.name = name, .port = name, .method = "ReadRows", .came = absl::Now() - age}};
              },
          .cancel =
              [this, name](const std::string& cancelled) {
                if (cancelled == name) cancelled_.push_back(cancelled);
                return cancelled == name;
              }};
    };
    AddRequestsApi({.failed = &failed_,
                    .latency = latency_.get(),
                    .callers = metrics_.callers(),
                    .running = {port("young", absl::Seconds(1)), port("old", absl::Seconds(100))}},
                   &router_);
  }

  absl::StatusOr<Json> Ask(const std::string& method, const std::string& path,
                           std::multimap<std::string, std::string> query = {}) {
    const Router::Match match = router_.Find(method, path);
    if (match.route == nullptr) return absl::NotFoundError("no route");
    HttpResponse response;
    const absl::Status status =
        match.route->handler({.method = method, .path = path, .query = std::move(query)}, nullptr, &response);
    if (!status.ok()) return status;
    return Json::parse(response.body);
  }

  FailedCalls failed_;
  RequestMetrics metrics_;
  std::unique_ptr<LatencyHistory> latency_;
  std::vector<std::string> cancelled_;
  Router router_;
};

TEST_F(RequestsApiTest, ListsWhatRunsOfAllPortsTheOldestFirst) {
  const absl::StatusOr<Json> answer = Ask("GET", "/api/v1/running");
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ((*answer)["calls"].size(), 2);
  EXPECT_EQ((*answer)["calls"][0]["name"], "old");
  EXPECT_GE((*answer)["calls"][0]["seconds"].get<double>(), 100);
  EXPECT_EQ((*answer)["calls"][1]["name"], "young");
  EXPECT_FALSE(Ask("GET", "/api/v1/running", {{"x", "1"}}).ok());
}

TEST_F(RequestsApiTest, CancelsByName) {
  EXPECT_TRUE(Ask("POST", "/api/v1/running/cancel", {{"name", "old"}}).ok());
  EXPECT_EQ(cancelled_, std::vector<std::string>{"old"});
  const absl::Status gone = Ask("POST", "/api/v1/running/cancel", {{"name", "gone"}}).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(gone.message()), HasSubstr("'gone'"));
  EXPECT_EQ(Ask("POST", "/api/v1/running/cancel").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RequestsApiTest, TellsWhatFailed) {
  failed_.Record({.ended = absl::FromUnixMillis(1'500),
                  .method = "ReadRows",
                  .code = absl::StatusCode::kNotFound,
                  .message = "no table \xff",
                  .client = "ipv4:127.0.0.1:1"});
  const absl::StatusOr<Json> answer = Ask("GET", "/api/v1/errors");
  ASSERT_TRUE(answer.ok()) << answer.status();
  const Json& error = (*answer)["errors"].at(0);
  EXPECT_EQ(error["time"], "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(error["status"], "NOT_FOUND");
  EXPECT_EQ(error["message"], "no table \xEF\xBF\xBD");
  EXPECT_EQ(error["times"], 1);
}

TEST_F(RequestsApiTest, TellsHowLongRequestsTook) {
  metrics_.Record("ReadRows", absl::StatusCode::kOk, 300);
  metrics_.Record("MutateRow", absl::StatusCode::kInternal, 3'000);
  latency_->Tick(metrics_, absl::ToUnixSeconds(absl::Now()));
  const absl::StatusOr<Json> all = Ask("GET", "/api/v1/latency", {{"seconds", "600"}});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ((*all)["step_seconds"], 10);
  EXPECT_EQ((*all)["methods"], Json({"MutateRow", "ReadRows"}));
  ASSERT_EQ((*all)["points"].size(), 1);
  EXPECT_EQ((*all)["points"][0][1], 2);
  EXPECT_EQ((*all)["points"][0][2], 1);
  const absl::StatusOr<Json> one =
      Ask("GET", "/api/v1/latency", {{"seconds", "600"}, {"method", "ReadRows"}});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ((*one)["points"][0][1], 1);
  EXPECT_LE((*one)["points"][0][4].get<double>(), 0.5);
  EXPECT_EQ(Ask("GET", "/api/v1/latency", {{"seconds", "1"}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RequestsApiTest, TellsWhoAsks) {
  const absl::Time now = absl::Now();
  metrics_.callers()->Add({.method = "ReadRows", .client = "10.0.0.1"}, 1, now);
  metrics_.callers()->Add({.method = "MutateRow",
                           .resource = "projects/p/instances/i/tables/t",
                           .principal = "user:a@example.com",
                           .client = "10.0.0.2",
                           .agent = "\xff"},
                          32, now);
  const absl::StatusOr<Json> answer = Ask("GET", "/api/v1/callers", {{"limit", "1"}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ((*answer)["callers"].size(), 1);
  EXPECT_EQ((*answer)["left_out"], 1);
  EXPECT_EQ((*answer)["minutes"], 10);
  const Json& first = (*answer)["callers"][0];
  EXPECT_EQ(first["resource"], "projects/p/instances/i/tables/t");
  EXPECT_EQ(first["principal"], "user:a@example.com");
  EXPECT_EQ(first["client"], "10.0.0.2");
  EXPECT_EQ(first["agent"], "\xEF\xBF\xBD");
  EXPECT_EQ(first["calls"], 32);
  EXPECT_EQ(Ask("GET", "/api/v1/callers", {{"limit", "1001"}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
