// What a server does with clients that mean it ill, or are broken: each bound, with its reason, and others go
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "rpc/headers.h"
#include "rpc/server.h"
#include "tests/rpc/http2_client.h"
#include "tests/rpc/test_server.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  const size_t bytes = payload.size();
  std::string frame{
      static_cast<char>(bytes >> 16),  static_cast<char>(bytes >> 8),  static_cast<char>(bytes),
      static_cast<char>(type),         static_cast<char>(flags),       static_cast<char>(stream >> 24),
      static_cast<char>(stream >> 16), static_cast<char>(stream >> 8), static_cast<char>(stream)};
  return frame.append(payload);
}
constexpr uint8_t kHeaders = 1, kSettings = 4, kPing = 6, kContinuation = 9;
constexpr uint8_t kEndStream = 1, kEndHeaders = 4;
constexpr Http2Client::Options kRaw{.window_bytes = 65'535, .takes_data = true, .says_settings = false};

class BoundsTest : public ::testing::Test {
 protected:
  void Start(const std::function<void(ServerOptions*)>& set) {
    ServerOptions options;
    options.loops = 2;
    set(&options);
    auto server = Server::Start(std::move(options), TestRouter(&diary_));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  int port() const { return server_->port(); }
  int64_t Refused(Refusal reason) const { return server_->facts().refused[static_cast<size_t>(reason)]; }
  static bool Comes(const std::function<bool()>& is_true) {
    for (int i = 0; i < 1'000 && !is_true(); ++i) absl::SleepFor(absl::Milliseconds(10));
    return is_true();
  }
  bool RefusedIs(Refusal reason, int64_t count) {
    return Comes([&] { return Refused(reason) == count; });
  }
  // The server is well, and nothing is left of what was done to it.
  void ExpectWell() {
    EXPECT_EQ(Http2Client(port()).Do("/test.Test/Echo", "well").data, Framed("well"));
    EXPECT_TRUE(Comes([&] { return server_->facts().calls == 0 && server_->facts().connections == 0; }))
        << server_->facts().calls << " calls, " << server_->facts().connections << " connections";
    EXPECT_EQ(server_->facts().bytes, 0);
  }

  Diary diary_;
  std::unique_ptr<Server> server_;
};

// ---- Connections ----

TEST_F(BoundsTest, TurnsConnectionsAwayThatAreTooMany) {
  Start([](ServerOptions* options) { options->connections_max = 3; });
  {
    Http2Client first(port()), second(port()), third(port());
    EXPECT_EQ(third.Do("/test.Test/Echo", "x").status(), "0");
    Http2Client fourth(port());
    EXPECT_TRUE(fourth.WaitForEnd());
    EXPECT_EQ(Refused(Refusal::kConnections), 1);
    EXPECT_EQ(first.Do("/test.Test/Echo", "x").status(), "0");
  }
  EXPECT_TRUE(Comes([&] { return server_->facts().connections == 0; }));
  ExpectWell();
}

TEST_F(BoundsTest, TurnsConnectionsAwayThatAreTooManyOfOnePeer) {
  Start([](ServerOptions* options) { options->connections_per_peer_max = 2; });
  {
    Http2Client first(port()), second(port());
    EXPECT_EQ(second.Do("/test.Test/Echo", "x").status(), "0");
    Http2Client third(port(), kRaw);
    EXPECT_TRUE(third.WaitForEnd());
    EXPECT_EQ(third.goaway(), NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(third.goaway_text(), "too_many_connections");
    EXPECT_EQ(Refused(Refusal::kPeerConnections), 1);
  }
  EXPECT_TRUE(Comes([&] { return server_->facts().connections == 0; }));
  ExpectWell();
}

TEST_F(BoundsTest, GoesOnAfterDescriptorsRanOut) {
#if defined(__SANITIZE_ADDRESS__)
  // UndefinedBehaviorSanitizer opens a pipe to look at an object's type, and calls the object invalid if it
  // gets none.
  GTEST_SKIP() << "the sanitizer needs file descriptors";
#endif
  Start([](ServerOptions*) {});
  auto clients = std::make_unique<std::vector<std::unique_ptr<Http2Client>>>();
  {
    // The clients' own descriptors are opened before there are none left: those of connections that are not
    // taken yet.
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const auto restore = absl::MakeCleanup([&] { setrlimit(RLIMIT_NOFILE, &usual); });
    std::vector<int> filling;
    const auto free_filling = absl::MakeCleanup([&] {
      for (const int descriptor : filling) close(descriptor);
    });
    rlimit low = usual;
    low.rlim_cur = 200;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int descriptor = 0; (descriptor = dup(0)) >= 0;) filling.push_back(descriptor);
    ASSERT_GT(filling.size(), 40);
    // Six for the clients, of which two connections find a descriptor in the server.
    for (int i = 0; i < 8; ++i) {
      close(filling.back());
      filling.pop_back();
    }
    for (int i = 0; i < 4; ++i) clients->push_back(std::make_unique<Http2Client>(port()));
    for (auto& client : *clients) EXPECT_EQ(client->Do("/test.Test/Echo", "x").status(), "0");
    close(filling.back());
    filling.pop_back();
    Http2Client late(port());
    EXPECT_TRUE(late.WaitForEnd());
    EXPECT_TRUE(Comes([&] { return !server_->is_accepting(); }));
    EXPECT_GE(Refused(Refusal::kNoFiles), 1);
    EXPECT_EQ((*clients)[0]->Do("/test.Test/Echo", "x").status(), "0");
  }
  EXPECT_TRUE(Comes([&] { return server_->is_accepting(); }));
  clients.reset();
  ExpectWell();
}

TEST_F(BoundsTest, EndsConnectionsThatSayNothingOrSomethingElse) {
  Start([](ServerOptions* options) { options->handshake_time_max = milliseconds(200); });
  {
    Http2Client silent(port(), kRaw), half(port(), kRaw), http1(port(), kRaw), tls(port(), kRaw),
        preface(port(), kRaw);
    half.SendRaw(kPreface.substr(0, 10));
    preface.SendRaw(kPreface);
    http1.SendRaw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    tls.SendRaw(std::string_view("\x16\x03\x01\0\x05hello", 10));
    for (Http2Client* const client : {&silent, &half, &http1, &tls, &preface})
      EXPECT_TRUE(client->WaitForEnd());
    EXPECT_TRUE(RefusedIs(Refusal::kHandshake, 5));
  }
  ExpectWell();
}

TEST_F(BoundsTest, AsksSilentConnectionsWhetherTheyAreThere) {
  Start([](ServerOptions* options) {
    options->keepalive_pause = milliseconds(100);
    options->keepalive_time_max = milliseconds(1'000);
  });
  {
    Http2Client there(port()), gone(port());
    EXPECT_EQ(gone.Do("/test.Test/Echo", "x").status(), "0");
    there.WaitUntil([&] { return Refused(Refusal::kKeepalive) == 1; });
    EXPECT_GE(there.pings(), 2);
    EXPECT_FALSE(there.is_ended());
    EXPECT_EQ(Refused(Refusal::kKeepalive), 1);
    EXPECT_EQ(there.Do("/test.Test/Echo", "x").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, AsksIdleConnectionsToGo) {
  Start([](ServerOptions* options) { options->idle_time_max = milliseconds(300); });
  Http2Client busy(port()), idle(port());
  busy.Begin("/test.Test/Polite", Framed("x"));
  EXPECT_TRUE(idle.WaitForEnd());
  EXPECT_EQ(idle.goaway(), 0);
  busy.WaitUntil([] { return false; }, milliseconds(300));
  EXPECT_EQ(busy.goaway(), -1);
}

TEST_F(BoundsTest, EndsAConnectionThatPingsTooOften) {
  Start([](ServerOptions*) {});
  {
    Http2Client calm(port()), hasty(port());
    for (int i = 0; i < 3; ++i) calm.Ping();
    for (int i = 0; i < 4; ++i) hasty.Ping();
    EXPECT_TRUE(hasty.WaitForEnd());
    EXPECT_EQ(hasty.goaway(), NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(hasty.goaway_text(), "too_many_pings");
    EXPECT_EQ(Refused(Refusal::kPings), 1);
    // Between answers, pings are free.
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(calm.Do("/test.Test/Echo", "x").status(), "0") << i;
      calm.Ping();
    }
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsAConnectionThatTakesNoAnswers) {
  Start([](ServerOptions* options) { options->send_pause_max = milliseconds(300); });
  {
    Http2Client client(port(), kRaw);
    const int bytes = 4'096;
    setsockopt(client.socket_descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    ASSERT_TRUE(client.SendRaw(std::string(kPreface) + Frame(kSettings, 0, 0, "")));
    std::string flood;
    for (int i = 0; i < 10'000; ++i) flood += Frame(kSettings, 0, 0, "");
    int floods = 0;
    while (floods < 1'000 && client.SendRaw(flood)) ++floods;
    EXPECT_LT(floods, 1'000);
    EXPECT_TRUE(Comes([&] { return Refused(Refusal::kFlood) + Refused(Refusal::kSlowReader) == 1; }));
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsAConnectionThatDoesNotReadItsAnswers) {
  Start([](ServerOptions* options) { options->send_pause_max = milliseconds(300); });
  {
    Http2Client client(port(), {.window_bytes = 1 << 30, .takes_data = true});
    client.Begin("/test.Test/Stream", Framed("100 1000000"));
    EXPECT_TRUE(RefusedIs(Refusal::kSlowReader, 1));
    EXPECT_TRUE(diary_.WaitFor("cancelled UNAVAILABLE"));
  }
  ExpectWell();
}

TEST_F(BoundsTest, HoldsLittleForManyThatDoNotRead) {
  Start([](ServerOptions* options) { options->unsent_bytes_max = 1 << 20; });
  {
    std::vector<std::unique_ptr<Http2Client>> clients;
    for (int i = 0; i < 40; ++i) {
      clients.push_back(std::make_unique<Http2Client>(port(), Http2Client::Options{.window_bytes = 1 << 30}));
      clients.back()->Begin("/test.Test/Stream", Framed("2 20000000"));
    }
    EXPECT_TRUE(Comes([&] { return server_->facts().unsent_bytes > 1 << 20; }));
    absl::SleepFor(absl::Milliseconds(300));
    // Eight frames each would be five.
    EXPECT_LT(server_->facts().unsent_bytes, 5 << 19);
    Http2Client reader(port(), {.window_bytes = 1 << 30});
    EXPECT_EQ(reader.Do("/test.Test/Stream", "2 20000000").data.size(), 40'000'010);
  }
  ExpectWell();
  EXPECT_EQ(server_->facts().unsent_bytes, 0);
}

// ---- Headers ----

TEST_F(BoundsTest, EndsAConnectionWhoseHeadersDoNotEnd) {
  Start([](ServerOptions* options) { options->headers_time_max = milliseconds(200); });
  {
    Http2Client client(port(), kRaw);
    client.SendRaw(std::string(kPreface) + Frame(kSettings, 0, 0, "") + Frame(kHeaders, 0, 1, "\x83"));
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(Refused(Refusal::kHeadersTime), 1);
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsAConnectionWithManyContinuations) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port(), kRaw);
    client.SendRaw(std::string(kPreface) + Frame(kSettings, 0, 0, "") + Frame(kHeaders, 0, 1, ""));
    const std::string more = Frame(kContinuation, 0, 1, "\x40\x01x\x01y");
    int sent = 0;
    while (sent < 1'000'000 && client.SendRaw(more)) ++sent;
    EXPECT_LT(sent, 1'000'000);
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(Refused(Refusal::kProtocol) + Refused(Refusal::kFlood), 1);
  }
  ExpectWell();
}

TEST_F(BoundsTest, DoesNotWaitForAHeaderThatSaysItIsVeryLong) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port(), kRaw);
    // A literal whose value has 2^30 bytes, as it says.
    const std::string literal("\x40\x01x\x7f\x81\xff\xff\xff\x03", 9);
    client.SendRaw(std::string(kPreface) + Frame(kSettings, 0, 0, "") + Frame(kHeaders, 0, 1, literal));
    for (int i = 0; i < 8; ++i) client.SendRaw(Frame(kContinuation, 0, 1, std::string(16'384, 'a')));
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(Refused(Refusal::kProtocol), 1);
  }
  ExpectWell();
}

TEST_F(BoundsTest, ResetsACallWithVeryMuchMetadata) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port());
    EXPECT_EQ(client.Do("/test.Test/Echo", "x", {{"x", std::string(20'000, 'x')}}).error,
              NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(client.Do("/test.Test/Echo", "x", {{"x", std::string(9'000, 'x')}}).status(), "8");
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
    EXPECT_EQ(Refused(Refusal::kHeaderBytes), 2);
  }
  ExpectWell();
}

TEST_F(BoundsTest, GoesOnBehindHeadersThatItDidNotLookAt) {
  Start([](ServerOptions* options) { options->headers_time_max = milliseconds(200); });
  {
    Http2Client client(port());
    // The second goes into HPACK's table, from which the next call takes it.
    const Http2Client::Headers much = {{"x", std::string(20'000, 'x')}, {"in", "of the table"}};
    EXPECT_EQ(client.Do("/test.Test/Metadata", "x", much).error, NGHTTP2_ENHANCE_YOUR_CALM);
    const auto& answer = client.Do("/test.Test/Metadata", "x", {{"in", "of the table"}});
    EXPECT_EQ(answer.headers.at("out"), "of the table");
    // Nor does it wait for the end of those headers.
    EXPECT_FALSE(client.WaitForEnd(milliseconds(1'000)));
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, ResetsACallWithVeryLargeTrailers) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port());
    const int32_t stream = client.Begin("/test.Test/Echo", Framed("x"), /*ends=*/false);
    // A literal of 5,000 bytes: twice in a frame.
    const std::string literal = std::string("\0\x01x\x7f\x89\x26", 6) + std::string(5'000, 'x');
    client.SendRaw(Frame(kHeaders, kEndStream, static_cast<uint32_t>(stream), literal + literal) +
                   Frame(kContinuation, kEndHeaders, static_cast<uint32_t>(stream), literal + literal));
    EXPECT_EQ(client.Wait(stream).error, NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(Refused(Refusal::kHeaderBytes), 1);
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, CountsHeadersThatAreInvalid) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port());
    EXPECT_EQ(client.Do("/test.Test/Echo", "x", {{"x", std::string(20'000, '\x01')}}).error,
              NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(Refused(Refusal::kHeaderBytes), 1);
    EXPECT_EQ(client.Do("/test.Test/Echo", "x", {{"x", "\x01"}}).status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsAConnectionThatSendsManyVeryLargeHeaders) {
  Start([](ServerOptions* options) {
    options->header_resets_at_once_max = 10;
    options->header_resets_per_second_max = 1;
  });
  const Http2Client::Headers much = {{"x", std::string(20'000, 'x')}};
  {
    Http2Client client(port());
    int calls = 0;
    for (; calls < 100 && client.goaway() < 0; ++calls) client.Do("/test.Test/Echo", "x", much);
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.goaway(), NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(client.goaway_text(), "too_many_large_headers");
    EXPECT_GT(calls, 10);
    EXPECT_EQ(Refused(Refusal::kHeaderBytes), calls);
  }
  {
    // Of what came together with the last that was looked at, none is.
    const int64_t before = Refused(Refusal::kHeaderBytes);
    Http2Client client(port());
    client.flushes = false;
    for (int i = 0; i < 500; ++i) client.Begin("/test.Test/Echo", Framed("x"), true, much);
    client.Flush();
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_LT(Refused(Refusal::kHeaderBytes) - before, 100);
  }
  ExpectWell();
}

// ---- Calls ----

TEST_F(BoundsTest, EndsAConnectionThatResetsManyCalls) {
  Start([](ServerOptions* options) {
    options->resets_at_once_max = 100;
    options->resets_per_second_max = 1;
  });
  {
    Http2Client client(port());
    client.flushes = false;
    for (int i = 0; i < 300; ++i) client.Reset(client.Begin("/test.Test/Polite", Framed("x")));
    client.Flush();
    // Begin and Reset in one flush may take each other away: some more, one by one.
    client.flushes = true;
    for (int i = 0; i < 300 && !client.is_ended(); ++i) {
      const int32_t stream = client.Begin("/test.Test/Polite", Framed("x"));
      client.Reset(stream);
    }
    EXPECT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.goaway_text(), "too_many_resets");
    EXPECT_EQ(Refused(Refusal::kResets), 1);
  }
  ExpectWell();
}

TEST_F(BoundsTest, LetsResetsAfterTheAnswerBe) {
  Start([](ServerOptions* options) { options->resets_at_once_max = 10; });
  {
    Http2Client client(port());
    for (int i = 0; i < 100; ++i) {
      const int32_t stream = client.Begin("/test.Test/Echo", Framed("x"));
      ASSERT_EQ(client.Wait(stream).status(), "0") << i;
      client.SendRaw(
          Frame(NGHTTP2_RST_STREAM, 0, static_cast<uint32_t>(stream), std::string("\0\0\0\x08", 4)));
    }
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
    EXPECT_EQ(Refused(Refusal::kResets), 0);
  }
  ExpectWell();
}

TEST_F(BoundsTest, BoundsCallsWithThoseThatWereReset) {
  Start([](ServerOptions* options) {
    options->calls_max = 5;
    options->busy_details = [] { return std::string("later"); };
  });
  {
    Http2Client client(port());
    for (int i = 0; i < 5; ++i) {
      const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
      ASSERT_TRUE(Comes([&] { return diary_.left() == static_cast<size_t>(i) + 1; }));
      client.Reset(stream);
    }
    EXPECT_TRUE(diary_.WaitFor("cancelled CANCELLED", 5));
    const Http2Client::Answer answer = client.Do("/test.Test/Echo", "x");
    EXPECT_EQ(answer.status(), "14");
    EXPECT_EQ(answer.Of("grpc-status-details-bin"), EncodeBinary("later"));
    EXPECT_EQ(Refused(Refusal::kCalls), 1);
    for (int i = 0; i < 5; ++i) diary_.Take()->Finish({});
    EXPECT_TRUE(Comes([&] { return server_->facts().calls == 0; }));
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, CallsBeyondThoseOfAConnectionWaitWithTheClient) {
  Start([](ServerOptions* options) { options->calls_per_connection_max = 4; });
  {
    Http2Client client(port());
    EXPECT_EQ(client.Do("/test.Test/Echo", "its settings have come").status(), "0");
    std::vector<int32_t> streams;
    for (int i = 0; i < 10; ++i) streams.push_back(client.Begin("/test.Test/Leave", Framed("x")));
    EXPECT_TRUE(Comes([&] { return diary_.left() == 4; }));
    absl::SleepFor(absl::Milliseconds(50));
    EXPECT_EQ(diary_.left(), 4);
    for (int i = 0; i < 10; ++i) {
      client.WaitUntil([&] { return diary_.left() > 0; });
      diary_.Take()->Finish({});
    }
    for (const int32_t stream : streams) EXPECT_EQ(client.Wait(stream).status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, BoundsTheBytesOfMessagesThatComeIn) {
  Start([](ServerOptions* options) {
    options->bytes_max = 1 << 20;
    options->busy_details = [] { return std::string("later"); };
  });
  {
    Http2Client client(port());
    const std::string message(800'000, 'm');
    const int32_t first = client.Begin("/test.Test/Length", Framed(message).substr(0, 100'000), false);
    EXPECT_TRUE(Comes([&] { return server_->facts().bytes == 800'000; }));
    const Http2Client::Answer second = client.Do("/test.Test/Length", message);
    EXPECT_EQ(second.status(), "14");
    EXPECT_EQ(second.Of("grpc-status-details-bin"), EncodeBinary("later"));
    EXPECT_EQ(Refused(Refusal::kBytes), 1);
    EXPECT_EQ(client.Do("/test.Test/Echo", "short").status(), "0");
    client.Continue(first, Framed(message).substr(100'000), true);
    EXPECT_EQ(client.Wait(first).data, Framed("800000"));
    // Alone, it may be longer.
    EXPECT_EQ(client.Do("/test.Test/Length", std::string(2 << 20, 'm')).data,
              Framed(std::to_string(2 << 20)));
  }
  ExpectWell();
}

TEST_F(BoundsTest, CountsShortMessagesWhoseEndDoesNotCome) {
  Start([](ServerOptions* options) { options->bytes_max = 100'000; });
  {
    Http2Client client(port());
    std::vector<int32_t> streams;
    for (int i = 0; i < 20; ++i)
      streams.push_back(client.Begin("/test.Test/Length", Framed(std::string(10'000, 'x')), false));
    EXPECT_TRUE(client.WaitUntil([&] { return Refused(Refusal::kBytes) == 10; }));
    EXPECT_EQ(server_->facts().bytes, 100'000);
    for (const int32_t stream : streams) client.Reset(stream);
    EXPECT_TRUE(Comes([&] { return server_->facts().bytes == 0; }));
  }
  ExpectWell();
}

TEST_F(BoundsTest, BoundsWhatWaitsToBeLetIn) {
  Start([](ServerOptions* options) { options->waiting_bytes_per_connection_max = 150'000; });
  {
    Http2Client client(port());
    std::vector<int32_t> streams;
    for (int i = 0; i < 3; ++i)
      streams.push_back(client.Begin("/test.Test/Wait", Framed(std::string(200'000, 'x'))));
    EXPECT_EQ(client.Do("/test.Test/Length", std::string(3 << 20, 'y')).status(), "0");
    EXPECT_EQ(Refused(Refusal::kWaitingBytes), 1);
    for (int i = 0; i < 3; ++i) diary_.Take()->Admit();
    // The one whose bytes came last is refused, whichever that is.
    int refused = 0;
    for (const int32_t stream : streams) {
      const auto answer = client.Wait(stream);
      if (answer.status() == "14") {
        ++refused;
      } else {
        EXPECT_EQ(answer.data, Framed("200000"));
      }
    }
    EXPECT_EQ(refused, 1);
  }
  ExpectWell();
}

TEST_F(BoundsTest, ACallThatGoesWhileItWaitsIsOverWhenItIsAdmitted) {
  Start([](ServerOptions*) {});
  {
    Http2Client client(port());
    const int32_t stream = client.Begin("/test.Test/Wait", Framed("abc"));
    Call* const call = diary_.Take();
    ASSERT_NE(call, nullptr);
    client.Reset(stream);
    EXPECT_TRUE(diary_.WaitFor("cancelled CANCELLED"));
    EXPECT_EQ(server_->facts().calls, 1);
    call->Admit();
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsCallsWhoseRequestDoesNotCome) {
  Start([](ServerOptions* options) { options->body_pause_max = milliseconds(300); });
  {
    Http2Client client(port());
    const std::vector<int32_t> streams = {client.Begin("/test.Test/Echo", "", false),
                                          client.Begin("/test.Test/Echo", Framed("abc").substr(0, 2), false),
                                          client.Begin("/test.Test/Echo", Framed("abc").substr(0, 6), false),
                                          client.Begin("/test.Test/Echo", Framed("abc"), false)};
    // One that trickles, below the least rate.
    const int32_t slow = client.Begin("/test.Test/Echo", Framed(std::string(1'000, 'x')).substr(0, 6), false);
    for (int i = 0; i < 200 && !client.answer(slow).is_closed; ++i) {
      client.Continue(slow, "x", false);
      client.Turn(milliseconds(20));
    }
    EXPECT_EQ(client.Wait(slow).status(), "1");
    for (const int32_t stream : streams) EXPECT_EQ(client.Wait(stream).status(), "1");
    EXPECT_EQ(Refused(Refusal::kSlowBody), 5);
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsSlowRequestsWhoseRoomOthersWaitFor) {
  Start([](ServerOptions* options) { options->awaited_pause_max = milliseconds(300); });
  {
    Http2Client client(port());
    const std::string message = Framed(std::string(1'000'000, 'x'));
    const int32_t alone = client.Begin("/test.Test/Echo", message.substr(0, 6), false);
    const int32_t awaited = client.Begin("/test.Test/Awaited", message.substr(0, 6), false);
    for (int i = 0; i < 500 && !client.answer(awaited).is_closed; ++i) {
      for (const int32_t stream : {alone, awaited}) client.Continue(stream, std::string(100, 'x'), false);
      client.Turn(milliseconds(20));
    }
    EXPECT_EQ(client.Wait(awaited).status(), "14");
    EXPECT_THAT(client.answer(awaited).Of("grpc-message"), HasSubstr("others wait for its room"));
    EXPECT_FALSE(client.answer(alone).is_closed);
    EXPECT_EQ(Refused(Refusal::kSlowBody), 1);
    // One that comes as fast as it can is let in.
    EXPECT_EQ(client.Do("/test.Test/Awaited", "abc").data, Framed("3"));
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsCallsWhoseAnswerIsNotTaken) {
  Start([](ServerOptions* options) { options->message_pause_max = milliseconds(300); });
  {
    Http2Client client(port(), {.window_bytes = 0, .takes_data = false});
    const int32_t shut = client.Begin("/test.Test/Stream", Framed("1 1000"));
    const int32_t finished = client.Begin("/test.Test/Echo", Framed("x"));
    Http2Client half(port(), {.window_bytes = 100, .takes_data = false});
    const int32_t begun = half.Begin("/test.Test/Stream", Framed("1 1000"));
    EXPECT_EQ(client.Wait(shut).status(), "1");
    EXPECT_EQ(client.Wait(finished).status(), "1");
    EXPECT_EQ(half.Wait(begun).error, NGHTTP2_CANCEL);
    EXPECT_EQ(Refused(Refusal::kSlowReader), 3);
    EXPECT_EQ(diary_.Count("cancelled CANCELLED"), 2);
  }
  ExpectWell();
}

TEST_F(BoundsTest, EndsAnswersThatAreTakenSlowlyWhileOthersWaitForTheirRoom) {
  Start([](ServerOptions* options) { options->awaited_pause_max = milliseconds(300); });
  {
    Http2Client client(port(), {.window_bytes = 100, .takes_data = false});
    const int32_t alone = client.Begin("/test.Test/Stream", Framed("1 1000"));
    const int32_t awaited = client.Begin("/test.Test/AwaitedStream", Framed("1 1000"));
    EXPECT_EQ(client.Wait(awaited).error, NGHTTP2_INTERNAL_ERROR);  // as half of a message is there
    EXPECT_FALSE(client.answer(alone).is_closed);
    EXPECT_EQ(Refused(Refusal::kSlowReader), 1);
    EXPECT_EQ(diary_.Count("cancelled UNAVAILABLE"), 1);
    // One who takes it as fast as it comes has all of it.
    Http2Client fast(port());
    EXPECT_EQ(fast.Do("/test.Test/AwaitedStream", "9 100000").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, ReadersWithoutWindowDoNotStopOthers) {
  Start([](ServerOptions*) {});
  {
    Http2Client stalled(port(), {.window_bytes = 0, .takes_data = false});
    stalled.flushes = false;
    for (int i = 0; i < 6'000; ++i) stalled.Begin("/test.Test/Stream", Framed("9 10000"));
    stalled.Flush();
    EXPECT_TRUE(Comes([&] { return server_->facts().calls == 6'000; }));
    Http2Client other(port());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(other.Do("/test.Test/Stream", "2 100000").status(), "0");
  }
  ExpectWell();
}

TEST_F(BoundsTest, SurvivesRandomFrames) {
  Start([](ServerOptions*) {});
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    Http2Client client(port(), kRaw);
    std::string bytes(kPreface);
    bytes += Frame(kSettings, 0, 0, "");
    for (size_t i = random() % 30; i > 0; --i) {
      std::string payload(random() % (random() % 10 == 0 ? 3'000 : 20), '\0');
      for (char& byte : payload) byte = static_cast<char>(random());
      bytes +=
          Frame(static_cast<uint8_t>(random() % 12), static_cast<uint8_t>(random() % 3 == 0 ? random() : 4),
                static_cast<uint32_t>(random() % 4 == 0 ? random() % 64 : 2 * (random() % 8) + 1), payload);
    }
    client.SendRaw(bytes);
    client.Turn(milliseconds(1));
  }
  ExpectWell();
}

TEST_F(BoundsTest, SurvivesCallsOfAllKindsThatBreakOff) {
  Start([](ServerOptions*) {});
  std::mt19937_64 random(12);
  const std::vector<std::string> paths = {"Echo", "Length", "Polite", "Stream",
                                          "Chat", "Refuse", "Error",  "Nothing"};
  for (int trial = 0; trial < 60; ++trial) {
    Http2Client client(
        port(), {.window_bytes = static_cast<int32_t>(random() % 70'000), .takes_data = random() % 2 == 0});
    std::vector<int32_t> streams;
    for (int step = 0; step < 60; ++step) {
      const std::string& path = paths[random() % paths.size()];
      const bool is_stream = path == "Stream";
      const std::string message =
          is_stream ? std::to_string(random() % 9 + 1) + " " + std::to_string(random() % 40'000)
                    : std::string(random() % 90'000, 'x');
      std::string body = Framed(message);
      if (!is_stream && random() % 4 == 0) body.resize(random() % (body.size() + 1));
      const bool ends = is_stream || random() % 4 != 0;
      const Http2Client::Headers more =
          random() % 3 == 0 ? Http2Client::Headers{{"grpc-timeout", std::to_string(random() % 20) + "m"}}
                            : Http2Client::Headers{};
      streams.push_back(client.Begin("/test.Test/" + path, body, ends, more));
      if (random() % 5 == 0) client.Reset(streams[random() % streams.size()]);
      if (random() % 3 == 0) client.Turn(milliseconds(random() % 3));
    }
  }
  ExpectWell();
}

}  // namespace
}  // namespace sonde::rpc
