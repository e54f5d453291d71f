#include "web/http/http_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "access/access_test_support.h"
#include "access/http_rules.h"
#include "audit/full_disk_test_support.h"
#include "web/http/http_server.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr char kSeries[] = "projects/sonde/instances/sonde";
constexpr char kTablePath[] = "/api/v1/tables/p/i/t/rows";
constexpr char kTable[] = "projects/p/instances/i/tables/t";

class HttpDoorTest : public testing::Test {
 protected:
  HttpDoorTest() {
    for (const HttpRule& rule : AllHttpRules()) {
      router_.Add({.method = std::string(rule.method), .path = std::string(rule.path)});
    }
    router_.Add({.method = "GET", .path = "/new"});
    it_.authenticator.Set("Bearer good", {.member = std::string(kSomebody)});
  }

  // 0: the request goes on.
  int CodeOf(std::string method, std::string path, std::string header, std::string* body = nullptr) {
    HttpRequest request{.method = std::move(method), .path = std::move(path)};
    if (!header.empty()) request.headers["authorization"] = std::move(header);
    const std::optional<HttpResponse> response =
        door_.Refuse(&request, router_.Find(request.method, request.path));
    if (response.has_value() && body != nullptr) *body = response->body;
    return response.has_value() ? response->code : 0;
  }

  AccessFixture it_;
  SystemClock clock_;
  Router router_;
  HttpDoor door_{&it_.access, nullptr, &clock_, kSeries};
};

TEST_F(HttpDoorTest, OnlyHealthAndLoginAreOpen) {
  for (const HttpRule& rule : AllHttpRules()) {
    const bool is_open = rule.path == "/healthz" || rule.path == "/readyz" || rule.path == "/login";
    EXPECT_EQ(CodeOf(std::string(rule.method), std::string(rule.path), ""), is_open ? 0 : 401) << rule.path;
  }
  EXPECT_EQ(CodeOf("GET", "/nowhere", ""), 401);
  EXPECT_EQ(CodeOf("GET", "/nowhere", "Bearer good"), 0);
}

TEST_F(HttpDoorTest, ARouteWithoutARuleIsRefused) {
  it_.Grant("", kAdminRole);
  std::string body;
  EXPECT_EQ(CodeOf("GET", "/new", "Bearer good", &body), 403);
  EXPECT_THAT(body, HasSubstr("in no table of permissions"));
}

TEST_F(HttpDoorTest, AsksForTheTableOfThePath) {
  std::string body;
  it_.Grant("projects/p/instances/i/tables/other", kReaderRole);
  EXPECT_EQ(CodeOf("GET", kTablePath, "Bearer good", &body), 403);
  EXPECT_THAT(body, HasSubstr("Access denied. Missing IAM permission: bigtable.tables.readRows."));
  it_.Grant(kTable, kViewerRole);
  EXPECT_EQ(CodeOf("GET", kTablePath, "Bearer good"), 403);
  it_.Grant(kTable, kReaderRole);
  EXPECT_EQ(CodeOf("GET", kTablePath, "Bearer good"), 0);
  EXPECT_EQ(CodeOf("GET", kTablePath, "Bearer forged"), 401);
}

TEST_F(HttpDoorTest, ACallerOverALimitIsToldToComeBack) {
  AccessControl::Configuration configuration;
  configuration.limits = {{{}, {.reads_per_second = 1, .writes_per_second = 1, .bytes_per_second = 100}}};
  it_.Grant(kTable, kReaderRole);
  it_.access.Configure(configuration);
  const ManualClock clock(1'795'593'600'000'000);
  const HttpDoor door(&it_.access, nullptr, &clock, kSeries);
  const auto code_of = [&](const std::string& path, const std::string& header) {
    HttpRequest one{.method = "GET", .path = path};
    if (!header.empty()) one.headers["authorization"] = header;
    const auto response = door.Refuse(&one, router_.Find("GET", path));
    return response.has_value() ? response->code : 0;
  };
  HttpRequest request{.method = "GET", .path = kTablePath};
  request.headers["authorization"] = "Bearer good";
  const auto match = router_.Find("GET", kTablePath);
  ASSERT_FALSE(door.Refuse(&request, match).has_value());
  ASSERT_TRUE(request.count_bytes);
  HttpRequest next = request;
  const auto refused = door.Refuse(&next, match);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, 429);
  EXPECT_THAT(refused->headers, testing::Contains(testing::Pair("Retry-After", "1")));
  EXPECT_THAT(refused->body, HasSubstr("The quota of 1 reads a second"));
  EXPECT_EQ(code_of("/ping", "Bearer good"), 0) << "it is no read";
  EXPECT_EQ(request.count_write(), absl::OkStatus());
  EXPECT_TRUE(absl::IsResourceExhausted(request.count_write()));
  request.count_bytes(1'000'000);
  EXPECT_EQ(code_of("/ping", "Bearer good"), 429);
  EXPECT_EQ(code_of("/ping", "Bearer forged"), 401);
  EXPECT_EQ(code_of("/healthz", ""), 0);
}

TEST_F(HttpDoorTest, SeriesAreOfTheirInstance) {
  it_.Grant(kSeries, kReaderRole);
  EXPECT_EQ(CodeOf("GET", "/api/v1/series/s/query", "Bearer good"), 0);
  EXPECT_EQ(CodeOf("POST", "/write", "Bearer good"), 403);
  EXPECT_EQ(CodeOf("GET", "/metrics", "Bearer good"), 403);
  it_.Grant("projects/p/instances/i", kAdminRole);
  EXPECT_EQ(CodeOf("GET", "/api/v1/series/s/query", "Bearer good"), 403);
  // Who may write and not make tables may not write where a write makes some.
  it_.Grant(kSeries, kUserRole);
  std::string body;
  EXPECT_EQ(CodeOf("POST", "/write", "Bearer good", &body), 403);
  EXPECT_THAT(body, HasSubstr("Missing IAM permission: bigtable.tables.create."));
  it_.Grant(kSeries, kEditorRole);
  EXPECT_EQ(CodeOf("POST", "/write", "Bearer good"), 0);
}

TEST_F(HttpDoorTest, TheAuditLogHasWhatItsRulesCover) {
  const std::string path = testing::TempDir() + "http_door_" + std::to_string(getpid()) + ".log";
  const auto methods_with = [&](AuditRules rules, int code_of_full_disk) {
    std::remove(path.c_str());
    const auto audit = *AuditLog::Open(path, rules);
    const HttpDoor door(&it_.access, audit.get(), &clock_, kSeries);
    const auto ask = [&](const char* method, const char* asked) {
      HttpRequest request{.method = method, .path = asked};
      request.headers["authorization"] = "Bearer good";
      const auto response = door.Refuse(&request, router_.Find(request.method, request.path));
      return response.has_value() ? response->code : 0;
    };
    EXPECT_EQ(ask("PUT", "/api/v1/series/s"), 0);
    EXPECT_EQ(ask("POST", "/api/v1/running/cancel"), 0);
    EXPECT_EQ(ask("POST", "/api/v1/write"), 0);
    EXPECT_EQ(ask("POST", "/api/v1/read"), 0);
    EXPECT_EQ(ask("GET", "/metrics"), 0);
    {
      const FullDisk full;
      EXPECT_EQ(ask("PUT", "/api/v1/series/s"), code_of_full_disk);
      EXPECT_EQ(ask("GET", "/metrics"), 0);
    }
    std::ifstream in(path);
    std::string methods;
    for (std::string line; std::getline(in, line);) {
      EXPECT_THAT(line, HasSubstr(R"("event":"begun","principal":"serviceAccount:somebody@sonde.local")"));
      const size_t at = line.find(R"("method":")") + 10;
      methods += line.substr(at, line.find('"', at) - at) + "; ";
    }
    std::remove(path.c_str());
    return methods;
  };
  it_.Grant("", kAdminRole);
  EXPECT_EQ(methods_with({}, 0), "PUT /api/v1/series/s; POST /api/v1/running/cancel; ");
  EXPECT_EQ(methods_with({.is_required = true, .data_reads = true}, 503),
            "PUT /api/v1/series/s; POST /api/v1/running/cancel; POST /api/v1/read; ");
  EXPECT_EQ(methods_with({.is_required = true, .data_writes = true}, 503),
            "PUT /api/v1/series/s; POST /api/v1/running/cancel; POST /api/v1/write; ");
}

TEST_F(HttpDoorTest, LetsHandlersCheckWhatABodyNames) {
  HttpRequest request{.method = "POST", .path = "/api/v1/sql"};
  request.headers["authorization"] = "Bearer good";
  it_.Grant(kTable, kReaderRole);
  ASSERT_FALSE(door_.Refuse(&request, router_.Find(request.method, request.path)).has_value());
  constexpr Permission kRead = PermissionOf("bigtable.tables.readRows");
  EXPECT_TRUE(request.check_access(kRead, kTable).ok());
  EXPECT_EQ(request.check_access(kRead, "projects/p/instances/i/tables/other").message(),
            "Access denied. Missing IAM permission: bigtable.tables.readRows.");
  EXPECT_FALSE(request.check_access(kRead, "no resource").ok());
}

TEST_F(HttpDoorTest, RefusalSaysHowToProveWhoCalls) {
  HttpRequest request{.method = "GET", .path = "/metrics"};
  const auto response = door_.Refuse(&request, router_.Find("GET", "/metrics"));
  ASSERT_TRUE(response.has_value());
  EXPECT_THAT(response->headers,
              testing::Contains(testing::Pair("WWW-Authenticate", "Bearer realm=\"sonde\"")));
  EXPECT_THAT(response->body, HasSubstr("Request had invalid authentication credentials."));
}

}  // namespace
}  // namespace sonde
