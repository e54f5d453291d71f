#include "web/login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "access/access_test_support.h"
#include "identity/check/file_authenticator.h"
#include "identity/proof/static_token.h"
#include "web/http/http_door.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A browser before a door, its routes, and a server's authentication file.
class LoginTest : public ::testing::Test {
 protected:
  LoginTest() {
    AddLogin({.access = &access_, .sessions = &sessions_, .audit = nullptr, .clock = &clock_}, &router_);
    AddSession(&router_);
    for (const char* path : {"/", "/metrics"}) {
      router_.Add({.method = "GET", .path = path, .handler = [](const auto&, auto*, HttpResponse* response) {
                     response->body = "the page";
                     return absl::OkStatus();
                   }});
    }
    router_.Add({.method = "POST", .path = "/query", .handler = [](const auto&, auto*, auto*) {
                   return absl::OkStatus();
                 }});
  }

  AuthConfig Config() const {
    AuthConfig config;
    config.tokens = {{.id = token_.id, .sha256 = Sha256(token_.text), .member = "user:a@example.com"}};
    return config;
  }
  HttpResponse Ask(const std::string& method, const std::string& path,
                   std::map<std::string, std::string> headers = {}, std::string form = "") {
    HttpRequest request{.method = method, .path = path, .headers = std::move(headers)};
    const Router::Match match = router_.Find(method, path);
    if (std::optional<HttpResponse> refusal = door_.Refuse(&request, match)) return *refusal;
    HttpBody body(
        [form, at = size_t{0}](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
          const size_t bytes = std::min(bytes_max, form.size() - at);
          std::memcpy(buffer, form.data() + at, bytes);
          at += bytes;
          return bytes;
        },
        match.route->body_bytes_max);
    HttpResponse response;
    const absl::Status status = match.route->handler(request, &body, &response);
    return status.ok() ? response : ErrorResponse(status);
  }
  static std::string HeaderOf(const HttpResponse& response, const std::string& name) {
    for (const auto& [one, value] : response.headers) {
      if (one == name) return value;
    }
    return "";
  }
  // Logs in; returns what the browser sends from then on.
  std::string LogIn() {
    const HttpResponse response = Ask("POST", "/login", {}, "token=" + token_.text);
    EXPECT_EQ(response.code, 303) << response.body;
    const std::string cookie = HeaderOf(response, "Set-Cookie");
    return cookie.substr(0, cookie.find(';'));
  }

  const NewStaticToken token_ = MakeStaticToken();
  ManualClock clock_{1'795'593'600'000'000};
  const std::unique_ptr<FileAuthenticator> authenticator_ = FileAuthenticator::Create(Config());
  FakePolicies policies_;
  AccessControl access_{authenticator_.get(), &policies_, {}};
  WebSessions sessions_;
  HttpDoor door_{&access_, nullptr, &clock_, "projects/sonde/instances/sonde", &sessions_};
  Router router_;
};

TEST_F(LoginTest, ATokenGivesACookieThatIsNoToken) {
  const HttpResponse response = Ask("POST", "/login", {}, "token=+" + token_.text + "%0A");
  EXPECT_EQ(response.code, 303);
  EXPECT_EQ(HeaderOf(response, "Location"), "./");
  EXPECT_THAT(HeaderOf(response, "Set-Cookie"),
              testing::MatchesRegex("__Host-sonde=[A-Za-z0-9_-]+; Path=/; Max-Age=43200; HttpOnly; Secure; "
                                    "SameSite=Strict"));
  EXPECT_THAT(HeaderOf(response, "Set-Cookie"), Not(HasSubstr(token_.text)));
  EXPECT_THAT(response.body, Not(HasSubstr(token_.text)));
}

TEST_F(LoginTest, NoOtherTextGivesOne) {
  for (const std::string& form :
       {std::string(), std::string("token="), std::string("token=secret"), "token=" + token_.text + "x",
        "token=" + token_.id, "other=" + token_.text}) {
    const HttpResponse response = Ask("POST", "/login", {}, form);
    EXPECT_EQ(response.code, 401) << form;
    EXPECT_EQ(HeaderOf(response, "Set-Cookie"), "") << form;
    EXPECT_THAT(response.body, HasSubstr("Nobody is known by this token."));
  }
  EXPECT_EQ(sessions_.size(), 0U);
}

TEST_F(LoginTest, ATokenIsNotTakenFromTheAddress) {
  HttpRequest request{.method = "POST", .path = "/login"};
  request.query = {{"token", token_.text}};
  const Router::Match match = router_.Find("POST", "/login");
  HttpBody body([](char*, size_t) -> absl::StatusOr<size_t> { return size_t{0}; }, 100);
  HttpResponse response;
  ASSERT_TRUE(match.route->handler(request, &body, &response).ok());
  EXPECT_EQ(response.code, 401);
}

TEST_F(LoginTest, TheCookieProvesItsBearerUntilTheLogout) {
  const std::string cookie = LogIn();
  EXPECT_EQ(Ask("GET", "/", {{"cookie", "theme=dark; " + cookie}}).body, "the page");
  EXPECT_EQ(Ask("GET", "/api/v1/session", {{"cookie", cookie}}).body,
            "{\"is_session\":true,\"member\":\"user:a@example.com\"}\n");
  EXPECT_EQ(Ask("GET", "/metrics", {{"cookie", cookie}}).code, 403) << "the bearer has no role";
  const HttpResponse left = Ask("POST", "/logout", {{"cookie", cookie}, {"sec-fetch-site", "same-origin"}});
  EXPECT_EQ(left.code, 204);
  EXPECT_EQ(HeaderOf(left, "Set-Cookie"),
            "__Host-sonde=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict");
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 401);
}

TEST_F(LoginTest, TheCookieEndsAfterTwelveHours) {
  const std::string cookie = LogIn();
  clock_.Advance(absl::ToInt64Microseconds(absl::Hours(12)) - 1);
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 200);
  clock_.Advance(1);
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 401);
}

TEST_F(LoginTest, TheCookieEndsWithItsToken) {
  const std::string cookie = LogIn();
  AuthConfig other = Config();
  other.tokens[0].sha256 = Sha256("another secret of the same id");
  authenticator_->Replace(other);
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 401);
  AuthConfig expired = Config();
  expired.tokens[0].expires = absl::FromUnixMicros(clock_.NowMicros());
  authenticator_->Replace(expired);
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 401);
  authenticator_->Replace({});
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 401);
  authenticator_->Replace(Config());
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}}).code, 200);
}

TEST_F(LoginTest, AWrongHeaderIsNotRescuedByACookie) {
  const std::string cookie = LogIn();
  EXPECT_EQ(Ask("GET", "/", {{"cookie", cookie}, {"authorization", "Bearer wrong"}}).code, 401);
  EXPECT_EQ(Ask("GET", "/", {{"authorization", "Bearer " + cookie.substr(cookie.find('=') + 1)}}).code, 401);
}

TEST_F(LoginTest, ARequestThatChangesSomethingMustSayItsOrigin) {
  const std::string cookie = LogIn();
  EXPECT_EQ(Ask("POST", "/query", {{"cookie", cookie}}).code, 403);
  EXPECT_EQ(Ask("POST", "/logout", {{"cookie", cookie}}).code, 403);
  EXPECT_EQ(Ask("POST", "/logout", {{"cookie", cookie}, {"sec-fetch-site", "none"}}).code, 403);
  EXPECT_EQ(sessions_.size(), 1U);
  // The server compares it with its own (request_check.h) before.
  EXPECT_EQ(Ask("POST", "/logout", {{"cookie", cookie}, {"origin", "https://localhost"}}).code, 204);
}

TEST_F(LoginTest, ABrowserWithoutASessionIsShownTheLogin) {
  const HttpResponse shown = Ask("GET", "/", {{"accept", "text/html,*/*"}});
  EXPECT_EQ(shown.code, 303);
  EXPECT_EQ(HeaderOf(shown, "Location"), "login");
  EXPECT_EQ(Ask("GET", "/").code, 401);
  EXPECT_EQ(Ask("GET", "/metrics", {{"accept", "text/html"}}).code, 401);
  const HttpResponse form = Ask("GET", "/login");
  EXPECT_EQ(form.code, 200);
  EXPECT_THAT(form.body, HasSubstr("<form method=\"post\" action=\"login\">"));
  EXPECT_THAT(form.body, Not(HasSubstr("Nobody is known")));
}

TEST(Session, IsNobodyWithoutAuthentication) {
  Router router;
  AddSession(&router);
  const Router::Match match = router.Find("GET", "/api/v1/session");
  HttpResponse response;
  ASSERT_TRUE(match.route->handler({}, nullptr, &response).ok());
  EXPECT_EQ(response.body, "{\"is_session\":false,\"member\":null}\n");
}

}  // namespace
}  // namespace sonde
