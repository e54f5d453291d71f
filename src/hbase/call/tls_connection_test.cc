// Calls over TLS, and what is said of servers with which TLS does not come about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "hbase/call/fake_server_test_support.h"
#include "hbase/call/servers.h"
#include "tls/testing.h"

namespace sonde::hbase {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::Duration kLongEnough = absl::Seconds(20);

FakeAnswer EchoOrNot(const FakeCall& call) {
  using Deed = FakeAnswer::Deed;
  if (call.method == "silent") return {.deed = Deed::kStaySilent};
  if (call.method == "close") return {.deed = Deed::kCloseConnection};
  return {.parameter = call.method + ":" + call.parameter, .cells = call.cells};
}

class TlsConnectionTest : public testing::Test {
 protected:
  TlsConnectionTest() {
    tls::WriteTestFile(ca_file_, authority_.certificate);
    Show(tls::TestCertificate(authority_, {"IP:127.0.0.1"}));
  }

  // The server shows this certificate from the next connection on.
  void Show(const tls::Pair& pair) {
    tls::WriteTestFile(server_files_.certificate, pair.certificate);
    tls::WriteTestFile(server_files_.key, pair.key);
    const auto context = tls::Context::Load(server_files_, absl::Now());
    ASSERT_TRUE(context.ok()) << context.status();
    server_.SetTls({*context});
  }
  // The same of a certificate that Context::Load refuses, as it has expired.
  void ShowExpired() {
    const absl::Time then = absl::Now() - absl::Minutes(30);
    const tls::Pair pair = tls::TestCertificate(authority_, {"IP:127.0.0.1"}, false, then + absl::Minutes(1));
    tls::WriteTestFile(server_files_.certificate, pair.certificate);
    tls::WriteTestFile(server_files_.key, pair.key);
    server_.SetTls({*tls::Context::Load(server_files_, then)});
  }
  void Connect(absl::Duration connect_timeout = absl::Seconds(10)) {
    absl::StatusOr<std::unique_ptr<Servers>> servers =
        Servers::Create({.user = "user", .connect_timeout = connect_timeout, .tls = wanted_});
    ASSERT_TRUE(servers.ok()) << servers.status();
    servers_ = *std::move(servers);
  }
  StartedCall Start(std::string_view method, std::string_view parameter = {},
                    absl::Duration timeout = kLongEnough, std::string_view cells = {}) {
    return servers_->Start({server_.address(), kRegionService, method, parameter, cells}, timeout);
  }
  // Why a call fails; nothing of it was done.
  Failure FailureOf(std::string_view method = "echo", absl::Duration timeout = kLongEnough) {
    const CallResult result = Start(method, {}, timeout).Wait();
    if (!result.failure.has_value()) return {.message = "(no failure)"};
    EXPECT_FALSE(result.failure->may_be_done) << result.failure->message;
    return *result.failure;
  }
  // As long as the settings may be what is wrong, nobody tries again.
  void ExpectFinal(const std::string& message) {
    Connect();
    const Failure failure = FailureOf();
    EXPECT_EQ(failure.message, "The TLS handshake with " + server_.address().Text() + " failed: " + message);
    EXPECT_EQ(failure.code, absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(failure.remedy, Remedy::kNone);
  }

  const tls::Pair authority_ = tls::TestAuthority();
  const std::string ca_file_ = tls::TemporaryFile("hbase_ca.pem");
  tls::Files server_files_{.certificate = tls::TemporaryFile("hbase_server.pem"),
                           .key = tls::TemporaryFile("hbase_server.key")};
  FakeServer server_{0, EchoOrNot};
  TlsToServers wanted_{.files = {.ca = ca_file_}};
  std::unique_ptr<Servers> servers_;
};

TEST_F(TlsConnectionTest, ManyCallsShareAConnection) {
  Connect();
  std::vector<StartedCall> calls;
  for (int i = 0; i < 2'000; ++i)
    calls.push_back(Start("echo", std::to_string(i), kLongEnough, std::string(i % 7 * 100, 'x')));
  for (int i = 0; i < 2'000; ++i) {
    const CallResult result = calls[i].Wait();
    ASSERT_FALSE(result.failure.has_value()) << result.failure->message;
    EXPECT_EQ(result.answer.parameter(), "echo:" + std::to_string(i));
    EXPECT_EQ(result.answer.cells().size(), i % 7 * 100u);
  }
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(TlsConnectionTest, LargeCallsAndAnswersPass) {
  Connect();
  std::string large(40 << 20, 'v');
  for (size_t i = 0; i < large.size(); i += 1'000) large[i] = static_cast<char>(i / 1'000);
  const CallResult result = Start("echo", "p", kLongEnough, large).Wait();
  ASSERT_FALSE(result.failure.has_value()) << result.failure->message;
  EXPECT_TRUE(result.answer.cells() == large);
}

TEST_F(TlsConnectionTest, LostConnectionLeavesCallsUnknown) {
  Connect();
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  StartedCall waiting = Start("silent");
  const CallResult closed = Start("close").Wait();
  ASSERT_TRUE(closed.failure.has_value());
  EXPECT_TRUE(closed.failure->may_be_done);
  EXPECT_EQ(closed.failure->remedy, Remedy::kLocate);
  EXPECT_EQ(closed.failure->message,
            "The connection to " + server_.address().Text() + " broke: the server closed the connection");
  EXPECT_TRUE(waiting.Wait().failure->may_be_done);
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_EQ(server_.connections(), 2);
}

TEST_F(TlsConnectionTest, RefusesACertificateOfAnotherAuthority) {
  Show(tls::TestCertificate(tls::TestAuthority(), {"IP:127.0.0.1"}));
  ExpectFinal("the server's certificate is of no authority of " + ca_file_);
}

TEST_F(TlsConnectionTest, RefusesACertificateOfAnotherName) {
  Show(tls::TestCertificate(authority_, {"DNS:localhost", "IP:127.0.0.2"}));
  ExpectFinal("the server's certificate is not for 127.0.0.1");
}

TEST_F(TlsConnectionTest, ComparesTheNameThatIsGiven) {
  Show(tls::TestCertificate(authority_, {"DNS:hbase.example.com"}));
  wanted_.server_name = "hbase.example.com";
  Connect();
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  wanted_.server_name = "other.example.com";
  ExpectFinal("the server's certificate is not for other.example.com");
}

TEST_F(TlsConnectionTest, RefusesACertificateThatHasExpired) {
  ShowExpired();
  ExpectFinal("the server's certificate has expired");
}

TEST_F(TlsConnectionTest, SaysThatAServerSpeaksNoTls) {
  server_.SetTls({});
  ExpectFinal("the server speaks no TLS");
}

TEST_F(TlsConnectionTest, SaysThatAServerWantsTls) {
  servers_ = *Servers::Create({.user = "user"});
  const CallResult result = Start("echo").Wait();
  ASSERT_TRUE(result.failure.has_value());
  // OpenSSL sends an alert; HBase closes without a word, as the fake one does when it is silent.
  EXPECT_THAT(result.failure->message, StartsWith("The server " + server_.address().Text()));
  EXPECT_THAT(result.failure->message, HasSubstr("TLS"));
  server_.SetTls({.handshake = FakeTls::Handshake::kCut});
  const CallResult closed = Start("echo").Wait();
  ASSERT_TRUE(closed.failure.has_value());
  EXPECT_EQ(closed.failure->message,
            "The server " + server_.address().Text() +
                " closed the connection before it answered anything, as HBase does where it wants TLS");
  EXPECT_EQ(closed.failure->code, absl::StatusCode::kUnavailable);
}

TEST_F(TlsConnectionTest, ShowsACertificateOfItsOwn) {
  const tls::Pair clients = tls::TestAuthority("clients' CA");
  server_files_.client_ca = tls::TemporaryFile("hbase_clients.pem");
  server_files_.require_client_certificate = true;
  tls::WriteTestFile(server_files_.client_ca, clients.certificate);
  Show(tls::TestCertificate(authority_, {"IP:127.0.0.1"}));
  const tls::Pair own = tls::TestCertificate(clients, {"email:a@example.com"}, true);
  wanted_.files.certificate = tls::TemporaryFile("hbase_client.pem");
  wanted_.files.key = tls::TemporaryFile("hbase_client.key");
  tls::WriteTestFile(wanted_.files.certificate, own.certificate);
  tls::WriteTestFile(wanted_.files.key, own.key);
  Connect();
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  wanted_.files.certificate.clear();
  wanted_.files.key.clear();
  Connect();
  const CallResult refused = Start("echo").Wait();
  ASSERT_TRUE(refused.failure.has_value());
  EXPECT_EQ(refused.failure->code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.failure->message,
              HasSubstr("it may want a certificate of its clients, and none is given"));
}

TEST_F(TlsConnectionTest, AHandshakeThatIsCutMayBeTriedAgain) {
  server_.SetTls({.handshake = FakeTls::Handshake::kCut});
  Connect();
  const Failure failure = FailureOf();
  EXPECT_EQ(failure.message, "The TLS handshake with " + server_.address().Text() +
                                 " failed: the server closed the connection in the middle of it");
  EXPECT_EQ(failure.code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(failure.remedy, Remedy::kLocate);
}

TEST_F(TlsConnectionTest, ASilentHandshakeEndsByTheConnectionsTime) {
  server_.SetTls({.handshake = FakeTls::Handshake::kSilent});
  Connect(absl::Milliseconds(200));
  const absl::Time begun = absl::Now();
  EXPECT_EQ(FailureOf().message, "No TLS with " + server_.address().Text() + " within its time");
  EXPECT_LT(absl::Now() - begun, absl::Seconds(10));
}

TEST_F(TlsConnectionTest, ASilentHandshakeEndsByTheCallsTime) {
  server_.SetTls({.handshake = FakeTls::Handshake::kSilent});
  Connect(absl::Seconds(60));
  const absl::Time begun = absl::Now();
  EXPECT_EQ(FailureOf("echo", absl::Milliseconds(200)).message,
            "The server " + server_.address().Text() + " did not answer in time");
  EXPECT_LT(absl::Now() - begun, absl::Seconds(10));
}

// What was right once may be right again: a certificate that comes too late is that of one server.
TEST_F(TlsConnectionTest, FaultsAfterAnAnswerMayBeTriedAgain) {
  Connect();
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  ShowExpired();
  EXPECT_TRUE(Start("close").Wait().failure.has_value());
  const Failure failure = FailureOf();
  EXPECT_THAT(failure.message, HasSubstr("the server's certificate has expired"));
  EXPECT_EQ(failure.code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(failure.remedy, Remedy::kLocate);
}

TEST_F(TlsConnectionTest, FilesAreReadAgainForANewConnection) {
  Connect();
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  const tls::Pair next = tls::TestAuthority();
  Show(tls::TestCertificate(next, {"IP:127.0.0.1"}));
  // The connection that is there goes on.
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_TRUE(Start("close").Wait().failure.has_value());
  EXPECT_THAT(FailureOf().message, HasSubstr("is of no authority of"));
  tls::WriteTestFile(ca_file_, "half of it");
  EXPECT_THAT(FailureOf().message, HasSubstr("is of no authority of"));
  EXPECT_EQ(servers_->tls_reload_failed(), true);
  tls::WriteTestFile(ca_file_, next.certificate);
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_EQ(servers_->tls_reload_failed(), false);
}

TEST_F(TlsConnectionTest, FilesThatDoNotFitAreRefusedAtTheStart) {
  wanted_.files.ca = "/nowhere/ca.pem";
  EXPECT_EQ(Servers::Create({.user = "user", .tls = wanted_}).status(),
            absl::NotFoundError("/nowhere/ca.pem cannot be read: No such file or directory"));
  wanted_.files = {.ca = server_files_.certificate};
  EXPECT_EQ(Servers::Create({.user = "user", .tls = wanted_}).status(),
            absl::InvalidArgumentError(server_files_.certificate +
                                       " must hold certificates of CAs, and has one that is not"));
}

// Many threads call while connections, handshakes and deadlines break: every call ends once.
TEST_F(TlsConnectionTest, EveryCallEndsWhateverBreaks) {
  Connect();
  std::atomic<int> ended = 0;
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  constexpr int kCalls = 300;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SeededRandom random(t);
      std::vector<StartedCall> calls;
      const std::string large(300'000, 'c');
      for (int i = 0; i < kCalls; ++i) {
        constexpr const char* kMethods[] = {"echo", "echo", "echo", "silent", "close"};
        const std::string_view cells = std::string_view(large).substr(random.Uniform(large.size()));
        calls.push_back(Start(kMethods[random.Uniform(std::size(kMethods))], "p",
                              absl::Milliseconds(1 + random.Uniform(100)), cells));
        if (random.Uniform(4) == 0) absl::SleepFor(absl::Milliseconds(random.Uniform(5)));
      }
      for (StartedCall& call : calls) {
        if (!call.Wait().failure.has_value()) ++answered;
        ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kThreads * kCalls);
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace sonde::hbase
