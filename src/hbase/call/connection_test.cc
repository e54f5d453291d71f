#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "hbase/call/fake_server_test_support.h"
#include "hbase/call/servers.h"

namespace sonde::hbase {
namespace {

constexpr absl::Duration kLong = absl::Seconds(20);

class ConnectionTest : public testing::Test {
 protected:
  // Answers with what was asked, but to methods that say what else to do.
  static FakeAnswer Echo(const FakeCall& call) {
    using Deed = FakeAnswer::Deed;
    if (call.method == "silent") return {.deed = Deed::kStaySilent};
    if (call.method == "close") return {.deed = Deed::kCloseConnection};
    if (call.method == "garbage") return {.deed = Deed::kSendGarbage};
    if (call.method == "refuse") {
      return {.exception = "org.apache.hadoop.hbase.security.AccessDeniedException",
              .deed = Deed::kRefuseConnection};
    }
    if (call.method == "throw") return {.exception = "org.apache.hadoop.hbase.RegionTooBusyException"};
    return {.parameter = call.method + ":" + call.parameter, .cells = call.cells};
  }
  StartedCall Start(std::string_view method, std::string_view parameter = {}, absl::Duration timeout = kLong,
                    std::string_view cells = {}) {
    return servers_->Start({server_.address(), kRegionService, method, parameter, cells}, timeout);
  }

  FakeServer server_{0, Echo};
  std::unique_ptr<Servers> servers_ = *Servers::Create({.user = "user"});
};

TEST_F(ConnectionTest, ManyCallsShareAConnection) {
  std::vector<std::string> parameters;
  for (int i = 0; i < 2'000; ++i) parameters.push_back(std::to_string(i) + std::string(i % 7 * 100, 'x'));
  std::vector<StartedCall> calls;
  for (const std::string& parameter : parameters)
    calls.push_back(Start("echo", parameter, kLong, parameter.substr(1)));
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallResult result = calls[i].Wait();
    ASSERT_FALSE(result.failure.has_value()) << result.failure->message;
    EXPECT_EQ(result.answer.parameter(), "echo:" + parameters[i]);
    EXPECT_EQ(result.answer.cells(), parameters[i].substr(1));
  }
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(ConnectionTest, LargeCallsAndAnswersPass) {
  const std::string large(40 << 20, 'v');
  const CallResult result = Start("echo", "p", kLong, large).Wait();
  ASSERT_FALSE(result.failure.has_value()) << result.failure->message;
  EXPECT_EQ(result.answer.cells(), large);
}

TEST_F(ConnectionTest, ExceptionIsOfItsCallAlone) {
  StartedCall refused = Start("throw");
  StartedCall other = Start("echo", "x");
  const CallResult result = refused.Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->remedy, Remedy::kWait);
  EXPECT_FALSE(result.failure->may_be_done);
  EXPECT_FALSE(other.Wait().failure.has_value());
}

TEST_F(ConnectionTest, LostConnectionLeavesCallsUnknown) {
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  StartedCall waiting = Start("silent");
  const CallResult closed = Start("close").Wait();
  ASSERT_TRUE(closed.failure.has_value());
  EXPECT_TRUE(closed.failure->may_be_done);
  EXPECT_TRUE(waiting.Wait().failure->may_be_done);
  // The next call takes a connection of its own.
  EXPECT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_EQ(server_.connections(), 2);
}

TEST_F(ConnectionTest, RefusedConnectionHasDoneNothing) {
  ServerAddress nobody;
  {
    FakeServer gone(1, Echo);
    nobody = gone.address();
  }
  const CallResult result = servers_->Call({nobody, kRegionService, "echo", "x"}, kLong);
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_FALSE(result.failure->may_be_done);
  EXPECT_EQ(result.failure->remedy, Remedy::kLocate);
  EXPECT_EQ(result.failure->message, "Connecting to " + nobody.Text() + " failed: Connection refused");
}

TEST_F(ConnectionTest, SilentServerEndsCallsInTheirTime) {
  const absl::Time begun = absl::Now();
  const CallResult result = Start("silent", {}, absl::Milliseconds(200)).Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_TRUE(result.failure->may_be_done);
  EXPECT_EQ(result.failure->message, "The server " + server_.address().Text() + " did not answer in time");
  EXPECT_GE(absl::Now() - begun, absl::Milliseconds(195));
  EXPECT_LT(absl::Now() - begun, absl::Seconds(10));
}

TEST_F(ConnectionTest, SlowCallDoesNotEndTheConnection) {
  StartedCall slow = Start("silent", {}, absl::Milliseconds(400));
  absl::SleepFor(absl::Milliseconds(50));
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_TRUE(slow.Wait().failure.has_value());
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  EXPECT_EQ(server_.connections(), 1);
}

TEST_F(ConnectionTest, BytesThatAreNoAnswerEndTheConnection) {
  StartedCall waiting = Start("silent");
  EXPECT_TRUE(Start("garbage").Wait().failure.has_value());
  const CallResult result = waiting.Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->code, absl::StatusCode::kDataLoss);
  EXPECT_TRUE(result.failure->may_be_done);
}

// A server that takes nothing for a while, as behind a link that is cut.
TEST_F(ConnectionTest, ACallThatWasGivenUpDoesNotArriveLater) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int few_bytes = 4'096;
  setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &few_bytes, sizeof(few_bytes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string cells(400'000, 'c');  // the system takes it at once, and its sending waits
  const ServerAddress server{"127.0.0.1", ntohs(address.sin_port)};
  const CallResult result =
      servers_->Call({server, kRegionService, "Multi", "p", cells}, absl::Milliseconds(500));
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_TRUE(result.failure->may_be_done);
  const int accepted = accept(listener, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  size_t arrived = 0;
  std::string bytes(size_t{64} << 10, ' ');
  for (ssize_t got = 1; got > 0; arrived += static_cast<size_t>(std::max<ssize_t>(got, 0)))
    got = recv(accepted, bytes.data(), bytes.size(), 0);
  EXPECT_LT(arrived, cells.size());
  close(accepted);
  close(listener);
}

TEST_F(ConnectionTest, AServerThatWantsKerberosIsToldThatItIsNotBuilt) {
  const CallResult result = Start("refuse").Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->remedy, Remedy::kNone);
  EXPECT_EQ(result.failure->code, absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(
      result.failure->message,
      "HBase answered AccessDeniedException:  (Sonde has SIMPLE authentication only: Kerberos is not built)");
}

TEST_F(ConnectionTest, CallsBeyondTheBoundFailAtOnce) {
  std::vector<StartedCall> calls;
  for (size_t i = 0; i < kCallsMax; ++i) calls.push_back(Start("silent", {}, absl::Seconds(60)));
  const CallResult result = Start("echo").Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_FALSE(result.failure->may_be_done);
  EXPECT_EQ(result.failure->remedy, Remedy::kWait);
  servers_.reset();
  for (StartedCall& call : calls) EXPECT_TRUE(call.Wait().failure.has_value());
}

TEST_F(ConnectionTest, EndOfTheClientEndsItsCalls) {
  ASSERT_FALSE(Start("echo").Wait().failure.has_value());
  StartedCall waiting = Start("silent");
  servers_.reset();
  const CallResult result = waiting.Wait();
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->message, "The client ends");
}

// Many threads call while the connection breaks again and again: every call ends once.
TEST_F(ConnectionTest, EveryCallEndsWhateverBreaks) {
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  constexpr int kCalls = 300;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SeededRandom random(t);
      std::vector<StartedCall> calls;
      for (int i = 0; i < kCalls; ++i) {
        constexpr const char* kMethods[] = {"echo", "echo", "echo", "throw", "silent", "close", "garbage"};
        calls.push_back(Start(kMethods[random.Uniform(std::size(kMethods))], "p",
                              absl::Milliseconds(1 + random.Uniform(100))));
        if (random.Uniform(4) == 0) absl::SleepFor(absl::Milliseconds(random.Uniform(5)));
      }
      for (StartedCall& call : calls) {
        call.Wait();
        ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kThreads * kCalls);
}

}  // namespace
}  // namespace sonde::hbase
