// What a server does with clients that mean it ill, or are broken: the bounds of connections and of headers,
// each with its reason, and others go on.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "rpc/headers.h"
#include "tests/rpc/bounds_test_support.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

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

}  // namespace
}  // namespace sonde::rpc
