// What a server does with calls that are too many, too large or too slow, or that break off: each bound, with its
// reason, and others go on.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rpc/headers.h"
#include "tests/rpc/bounds_test_support.h"

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

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
