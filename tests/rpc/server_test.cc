// What a client sees of a server that it treats well: calls of each kind, and gRPC's rules on the wire.
#include "rpc/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "rpc/headers.h"
#include "tests/rpc/http2_client.h"
#include "tests/rpc/test_server.h"

namespace sonde::rpc {
namespace {

using ::testing::HasSubstr;
using Headers = Http2Client::Headers;

class ServerTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.loops = 2;
    auto server = Server::Start(std::move(options), TestRouter(&diary_));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void SetUp() override { Start(); }

  int port() const { return server_->port(); }
  bool CallsEnd() {
    for (int i = 0; i < 500 && server_->facts().calls != 0; ++i) absl::SleepFor(absl::Milliseconds(10));
    return server_->facts().calls == 0;
  }
  int64_t Refused(Refusal reason) const { return server_->facts().refused[static_cast<size_t>(reason)]; }

  Diary diary_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersACallAtOnce) {
  Http2Client client(port());
  const Http2Client::Answer answer = client.Do("/test.Test/Echo", "hello");
  EXPECT_EQ(answer.headers.at(":status"), "200");
  EXPECT_EQ(answer.headers.at("content-type"), "application/grpc");
  EXPECT_EQ(answer.data, Framed("hello"));
  EXPECT_EQ(answer.trailers.at("grpc-status"), "0");
  EXPECT_EQ(answer.trailers.count("grpc-message"), 0);
  EXPECT_EQ(answer.blocks, 2);
  EXPECT_TRUE(diary_.WaitFor("destroyed"));
  // Figures are told once a turn.
  for (int i = 0; i < 500 && server_->facts().begun == 0; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(server_->facts().begun, 1);
  EXPECT_TRUE(CallsEnd());
  EXPECT_EQ(server_->facts().connections, 1);
}

TEST_F(ServerTest, AnswersAnEmptyMessageAndManyCalls) {
  Http2Client client(port());
  EXPECT_EQ(client.Do("/test.Test/Echo", "").data, Framed(""));
  client.flushes = false;
  std::vector<int32_t> streams;
  for (int i = 0; i < 2'000; ++i)
    streams.push_back(client.Begin("/test.Test/Echo", Framed(std::to_string(i))));
  client.Flush();
  for (int i = 0; i < 2'000; ++i)
    EXPECT_EQ(client.Wait(streams[static_cast<size_t>(i)]).data, Framed(std::to_string(i)));
}

TEST_F(ServerTest, AnswersFromAnotherThread) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  ASSERT_NE(call, nullptr);
  EXPECT_FALSE(
      client.WaitUntil([&] { return client.answer(stream).blocks > 0; }, std::chrono::milliseconds(50)));
  call->Write(std::string("one"));
  ASSERT_TRUE(diary_.WaitFor("written"));
  call->WriteAndFinish(std::string("two"), {});
  EXPECT_EQ(client.Wait(stream).data, Framed("one") + Framed("two"));
  EXPECT_EQ(client.answer(stream).status(), "0");
}

TEST_F(ServerTest, ListsCallsUnderWayTheFirstFirst) {
  EXPECT_TRUE(server_->ListCalls(10).empty());
  Http2Client client(port());
  client.Begin("/test.Test/Polite", Framed("a"), true, {{"x-goog-request-params", "table_name=t"}});
  ASSERT_TRUE(diary_.WaitFor("message a"));
  Http2Client other(port());  // on another loop
  other.Begin("/test.Test/Leave", Framed("b"), true, {{"x-request-id", "mine"}});
  Call* const left = diary_.Take();
  ASSERT_NE(left, nullptr);

  const std::vector<RunningCall> calls = server_->ListCalls(10);
  ASSERT_EQ(calls.size(), 2);
  EXPECT_EQ(calls[0].path, "/test.Test/Polite");
  EXPECT_EQ(calls[0].routing, "table_name=t");
  EXPECT_EQ(calls[1].path, "/test.Test/Leave");
  EXPECT_EQ(calls[1].name, left->name());
  EXPECT_EQ(calls[1].peer, left->peer());
  EXPECT_EQ(calls[1].request_id, "mine");
  EXPECT_LE(calls[0].came, calls[1].came);
  EXPECT_NE(calls[0].name, calls[1].name);
  ASSERT_EQ(server_->ListCalls(1).size(), 1);
  EXPECT_EQ(server_->ListCalls(1)[0].name, calls[0].name);
  left->Finish({});
}

TEST_F(ServerTest, CancelsACallByItsName) {
  Http2Client client(port());
  const int32_t polite = client.Begin("/test.Test/Polite", Framed("a"));
  const int32_t left = client.Begin("/test.Test/Leave", Framed("b"));
  Call* const call = diary_.Take();
  ASSERT_NE(call, nullptr);
  ASSERT_TRUE(diary_.WaitFor("message a"));
  const std::vector<RunningCall> calls = server_->ListCalls(10);
  ASSERT_EQ(calls.size(), 2);
  const std::string name = calls[calls[0].path == "/test.Test/Polite" ? 0 : 1].name;

  EXPECT_FALSE(server_->CancelCall("0-0", "nobody"));
  EXPECT_TRUE(server_->CancelCall(name, "somebody wants it"));
  EXPECT_EQ(client.Wait(polite).status(), "1");
  EXPECT_EQ(client.answer(polite).Of("grpc-message"), "somebody wants it");
  EXPECT_TRUE(diary_.WaitFor("cancelled CANCELLED"));
  EXPECT_FALSE(server_->CancelCall(name, "again"));
  // The other one goes on.
  EXPECT_FALSE(call->IsCancelled());
  EXPECT_EQ(server_->ListCalls(10).size(), 1);
  call->WriteAndFinish(std::string("c"), {});
  EXPECT_EQ(client.Wait(left).status(), "0");
}

TEST_F(ServerTest, FinishMayFollowAWriteAtOnce) {
  Http2Client client(port(), {.window_bytes = 100, .takes_data = true});
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  call->Write(std::string(5'000, 'y'));
  call->Finish({absl::StatusCode::kAborted, "after all"});
  EXPECT_EQ(client.Wait(stream).data, Framed(std::string(5'000, 'y')));
  EXPECT_EQ(client.answer(stream).status(), "10");
}

TEST_F(ServerTest, ManyAnswersTogetherComeInFewPieces) {
  Http2Client client(port());
  client.flushes = false;
  for (int i = 0; i < 100; ++i) client.Begin("/test.Test/Leave", Framed("x"));
  client.Flush();
  std::vector<Call*> calls;
  for (int i = 0; i < 100; ++i) calls.push_back(diary_.Take());
  {
    const AnswersTogether together;
    for (Call* const call : calls) {
      call->WriteAndFinish(std::string("y"), {});
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    EXPECT_FALSE(
        client.WaitUntil([&] { return client.answer(1).blocks > 0; }, std::chrono::milliseconds(20)));
  }
  // One write of the server has all: a look at the socket says so.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  client.Turn(std::chrono::milliseconds(1'000));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(client.answer(2 * i + 1).is_closed) << i;
}

TEST_F(ServerTest, TakesLargeMessagesBothWays) {
  Http2Client client(port(), {.window_bytes = 1 << 20, .takes_data = true});
  for (const size_t bytes : {65'530U, 65'531U, 70'000U, 1U << 20, 20U << 20}) {
    const std::string message(bytes, 'm');
    EXPECT_TRUE(client.Do("/test.Test/Echo", message).data == Framed(message)) << bytes;
    EXPECT_EQ(client.Do("/test.Test/Length", message).data, Framed(std::to_string(bytes)));
  }
  EXPECT_TRUE(CallsEnd());
  EXPECT_EQ(server_->facts().bytes, 0);
}

TEST_F(ServerTest, StreamsMessagesInPiecesThatWereOwned) {
  Http2Client client(port());
  const std::string data = client.Do("/test.Test/Stream", "50 3001").data;
  std::string wanted;
  for (int i = 0; i < 50; ++i) wanted += Framed(std::string(1'500, 'a') + std::string(1'501, 'b'));
  EXPECT_TRUE(data == wanted);
  EXPECT_EQ(diary_.Count("written"), 50);
}

TEST_F(ServerTest, ALongMessageLetsOthersPass) {
  Http2Client client(port(), {.window_bytes = 1 << 30, .takes_data = true});
  const size_t bytes = 60U << 20;
  const int32_t long_one = client.Begin("/test.Test/Stream", Framed("1 " + std::to_string(bytes)));
  client.WaitUntil([&] { return !client.answer(long_one).data.empty(); });
  EXPECT_EQ(client.Do("/test.Test/Echo", "x").data, Framed("x"));
  const std::string message(100'000, 'y');
  EXPECT_TRUE(client.Do("/test.Test/Echo", message).data == Framed(message));
  EXPECT_LT(client.answer(long_one).data.size(), bytes / 2);
  EXPECT_EQ(client.Wait(long_one).data.size(), bytes + 5);
}

TEST_F(ServerTest, TalksInBothDirections) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Chat", "", false);
  std::string wanted;
  for (int i = 0; i < 20; ++i) {
    const std::string message(static_cast<size_t>(i) * 9'000, static_cast<char>('a' + i));
    wanted += Framed(message);
    client.Continue(stream, Framed(message), false);
    ASSERT_TRUE(client.WaitUntil([&] { return client.answer(stream).data.size() == wanted.size(); })) << i;
  }
  client.Continue(stream, Framed("p") + Framed("q") + Framed("r"), true);
  EXPECT_TRUE(client.Wait(stream).data == wanted + Framed("p") + Framed("q") + Framed("r"));
  EXPECT_EQ(client.answer(stream).status(), "0");
  EXPECT_EQ(client.answer(stream).Of("grpc-message"), "bye");
}

TEST_F(ServerTest, TakesMessagesOfAnyLengthsOneAfterTheOther) {
  // Of each kind of rest that may be left of a window.
  Http2Client client(port());
  std::string wanted;
  for (size_t bytes = 0; bytes < 140'000; bytes += 1'117) {
    wanted += Framed(std::string(bytes, 'x')) + Framed(std::string((bytes * 7'919) % 65'000, 'y'));
  }
  const int32_t stream = client.Begin("/test.Test/Chat", wanted, true);
  EXPECT_TRUE(client.Wait(stream).data == wanted);
  EXPECT_EQ(client.answer(stream).status(), "0");
}

TEST_F(ServerTest, ReadsTheNextMessageOnlyWhenItIsAskedFor) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Listen", Framed("1") + Framed("2") + Framed("3"), true);
  Call* const call = diary_.Take();
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(diary_.Count("message 1"), 0);
  call->ReadNext();
  EXPECT_TRUE(diary_.WaitFor("message 1"));
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(diary_.Count("message 2"), 0);
  EXPECT_EQ(diary_.Count("half-closed"), 0);
  call->ReadNext();
  call->ReadNext();
  EXPECT_TRUE(diary_.WaitFor("half-closed"));
  EXPECT_EQ(client.Wait(stream).status(), "0");
}

TEST_F(ServerTest, HoldsBackAClientWhoseMessagesAreNotReadYet) {
  Http2Client client(port());
  std::string body;
  for (int i = 0; i < 100; ++i) body += Framed(std::string(10'000, 'x'));
  const int32_t stream = client.Begin("/test.Test/Listen", body, true);
  Call* const call = diary_.Take();
  client.WaitUntil([] { return false; }, std::chrono::milliseconds(200));
  EXPECT_GE(client.UnsentOf(stream), body.size() - 65'540);
  for (int i = 0; i < 100; ++i) call->ReadNext();
  EXPECT_EQ(client.Wait(stream).status(), "0");
  EXPECT_EQ(diary_.Count("message xxxxxxxxxxxxxxxxxxxx"), 100);
}

TEST_F(ServerTest, PassesMetadataBothWays) {
  Http2Client client(port());
  const Headers more = {{"in", "a"}, {"in-bin", "/w==,AQ"}, {"grpc-timeout", "100S"}};
  const Http2Client::Answer answer = client.Do("/test.Test/Metadata", "", more);
  EXPECT_EQ(answer.headers.at("out"), "a");
  EXPECT_EQ(answer.headers.at("out-bin"), "AQ");  // the last of two
  EXPECT_EQ(answer.trailers.at("path"), "/test.Test/Metadata");
  EXPECT_THAT(answer.trailers.at("peer"), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(answer.trailers.at("seconds"), "100");
  EXPECT_EQ(answer.trailers.count("bad-value"), 0);
}

TEST_F(ServerTest, TellsErrorsWithTheirDetails) {
  Http2Client client(port());
  const Http2Client::Answer only = client.Do("/test.Test/Error", "");
  EXPECT_EQ(only.blocks, 1);
  EXPECT_EQ(only.headers.at(":status"), "200");
  EXPECT_EQ(only.headers.at("grpc-status"), "5");
  EXPECT_EQ(only.headers.at("grpc-message"), "50%25 %C3%A4");
  EXPECT_EQ(only.headers.at("grpc-status-details-bin"), "CAU");
  EXPECT_EQ(only.headers.at("last"), "2");
  const Http2Client::Answer both = client.Do("/test.Test/Error", "with metadata");
  EXPECT_EQ(both.blocks, 2);
  EXPECT_EQ(both.headers.at("first"), "1");
  EXPECT_EQ(both.headers.count("grpc-status"), 0);
  EXPECT_EQ(both.trailers.at("grpc-status"), "5");
}

struct WireCase {
  const char* name;
  std::string body;
  bool ends;
  Headers more;
  const char* status;
  const char* message;
};

TEST_F(ServerTest, KeepsGrpcsRulesOnTheWire) {
  const std::vector<WireCase> cases = {
      {"no message", "", true, {}, "12", "there is none"},
      {"two messages", Framed("a") + Framed("b"), true, {}, "12", "there is another"},
      {"bytes left over", Framed("a") + "xx", true, {}, "13", "do not begin"},
      {"zeros left over", Framed("a") + std::string(2, '\0'), true, {}, "13", "in the middle"},
      {"half a prefix", std::string(3, '\0'), true, {}, "13", "in the middle"},
      {"half a message", Framed("abc").substr(0, 7), true, {}, "13", "in the middle"},
      {"compressed without a name", Framed("a", 1), true, {}, "13", "is compressed"},
      {"not a message", "hello", true, {}, "13", "do not begin"},
      {"gzip", Framed("a", 1), true, {{"grpc-encoding", "gzip"}}, "12", "'gzip'"},
      {"a long message",
       Framed(std::string(kTestMessageBytesMax + 1, 'x')).substr(0, 9),
       false,
       {},
       "8",
       "larger than max"},
      {"no te", Framed("a"), true, {{"te", ""}}, "13", "te: trailers"},
      {"a bad timeout", Framed("a"), true, {{"grpc-timeout", "9"}}, "13", "grpc-timeout"},
      {"no time", Framed("a"), true, {{"grpc-timeout", "0m"}}, "4", "deadline"},
      {"much metadata", Framed("a"), true, {{"x", std::string(9'000, 'x')}}, "8", "headers"},
      {"an unknown path", Framed("a"), true, {{":path", "/test.Test/Nothing"}}, "12", "/test.Test/Nothing"},
  };
  Http2Client client(port());
  for (const WireCase& wire : cases) {
    const Http2Client::Answer answer =
        client.Wait(client.Begin("/test.Test/Echo", wire.body, wire.ends, wire.more));
    EXPECT_EQ(answer.status(), wire.status) << wire.name;
    EXPECT_THAT(answer.Of("grpc-message"), HasSubstr(wire.message)) << wire.name;
    EXPECT_EQ(answer.headers.at(":status"), "200") << wire.name;
    EXPECT_TRUE(answer.is_closed) << wire.name;
    EXPECT_EQ(answer.error, 0) << wire.name;
  }
  EXPECT_EQ(client.Do("/test.Test/Echo", "still here").status(), "0");
  EXPECT_TRUE(CallsEnd());
  EXPECT_EQ(server_->facts().bytes, 0);
}

TEST_F(ServerTest, NamesTheEncodingsThatItTakes) {
  Http2Client client(port());
  EXPECT_EQ(client.Do("/test.Test/Echo", "a", {{"grpc-encoding", "gzip"}}).Of("grpc-accept-encoding"),
            "identity");
}

TEST_F(ServerTest, AnswersOthersThanGrpcWithHttp) {
  Http2Client client(port());
  EXPECT_EQ(client.Do("/test.Test/Echo", "a", {{"content-type", "application/json"}}).headers.at(":status"),
            "415");
  EXPECT_EQ(client.Do("/test.Test/Echo", "a", {{":method", "GET"}}).headers.at(":status"), "405");
}

TEST_F(ServerTest, EndsACallAtItsDeadlineAndTellsItsHandler) {
  Http2Client client(port());
  const auto began = std::chrono::steady_clock::now();
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"), true, {{"grpc-timeout", "60m"}});
  Call* const call = diary_.Take();
  EXPECT_EQ(client.Wait(stream).status(), "4");
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, std::chrono::milliseconds(59));
  EXPECT_LT(took, std::chrono::milliseconds(1'000));
  EXPECT_TRUE(diary_.WaitFor("cancelled DEADLINE_EXCEEDED"));
  EXPECT_TRUE(call->IsCancelled());
  EXPECT_EQ(diary_.Count("destroyed"), 0);
  call->Finish({});
  EXPECT_TRUE(diary_.WaitFor("destroyed"));
  EXPECT_TRUE(CallsEnd());
}

TEST_F(ServerTest, EndsACallAtItsDeadlineWhoseRequestDoesNotCome) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Echo", "", false, {{"grpc-timeout", "50m"}});
  EXPECT_EQ(client.Wait(stream).status(), "4");
  EXPECT_TRUE(CallsEnd());
}

TEST_F(ServerTest, ResetsAHalfSentMessageAtTheDeadline) {
  Http2Client client(port(), {.window_bytes = 100, .takes_data = false});
  const int32_t stream = client.Begin("/test.Test/Stream", Framed("1 5000"), true, {{"grpc-timeout", "50m"}});
  EXPECT_EQ(client.Wait(stream).error, 8);
  EXPECT_TRUE(diary_.WaitFor("cancelled DEADLINE_EXCEEDED"));
  EXPECT_TRUE(CallsEnd());
}

TEST_F(ServerTest, TellsTheHandlerOfAReset) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  client.Reset(stream);
  EXPECT_TRUE(diary_.WaitFor("cancelled CANCELLED"));
  EXPECT_EQ(server_->facts().calls, 1);
  call->Write(std::string("to nobody"));
  EXPECT_TRUE(diary_.WaitFor("not written"));
  call->Finish({});
  EXPECT_TRUE(CallsEnd());
}

TEST_F(ServerTest, TellsHandlersThatTheConnectionIsGone) {
  auto client = std::make_unique<Http2Client>(port());
  client->Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  client->Begin("/test.Test/Echo", Framed("half").substr(0, 6), false);
  client->Begin("/test.Test/Polite", Framed("x"));
  EXPECT_TRUE(diary_.WaitFor("message x", 2));
  client.reset();
  EXPECT_TRUE(diary_.WaitFor("cancelled UNAVAILABLE", 3));
  call->Finish({});
  EXPECT_TRUE(diary_.WaitFor("destroyed", 2));
}

TEST_F(ServerTest, SaysHowLongAMessageWasNotTaken) {
  Http2Client client(port(), {.window_bytes = 0, .takes_data = false});
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  EXPECT_EQ(call->NotTakenFor(), absl::ZeroDuration());
  call->Write(std::string("y"));
  absl::SleepFor(absl::Milliseconds(60));
  EXPECT_GT(call->NotTakenFor(), absl::Milliseconds(40));
  EXPECT_EQ(diary_.Count("written"), 0);
  nghttp2_submit_window_update(client.session(), NGHTTP2_FLAG_NONE, stream, 100);
  client.Flush();
  EXPECT_TRUE(diary_.WaitFor("written"));
  EXPECT_EQ(call->NotTakenFor(), absl::ZeroDuration());
  call->Finish({});
  EXPECT_EQ(client.Wait(stream).status(), "0");
}

TEST_F(ServerTest, SendsTrailersToAClientWhoseWindowIsShut) {
  Http2Client client(port(), {.window_bytes = 6, .takes_data = false});
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  call->Write(std::string("y"));  // exactly the window
  ASSERT_TRUE(diary_.WaitFor("written"));
  call->Finish({});
  EXPECT_EQ(client.Wait(stream).status(), "0");
}

TEST_F(ServerTest, LetsAMessageWaitAndKeepsTheRestWithTheClient) {
  Http2Client client(port());
  const std::string message(3 << 20, 'm');
  const int32_t waiting = client.Begin("/test.Test/Wait", Framed(message));
  Call* const call = diary_.Take();
  EXPECT_FALSE(
      client.WaitUntil([&] { return client.UnsentOf(waiting) == 0; }, std::chrono::milliseconds(100)));
  EXPECT_EQ(client.WindowOf(waiting), 0);
  // Others on the connection go on.
  EXPECT_EQ(client.Do("/test.Test/Length", std::string(1 << 20, 'o')).data, Framed(std::to_string(1 << 20)));
  EXPECT_LE(server_->facts().bytes, 65'535);
  call->Admit();
  EXPECT_EQ(client.Wait(waiting).data, Framed(std::to_string(message.size())));
}

TEST_F(ServerTest, LetsAShortMessageWait) {
  Http2Client client(port());
  const int32_t waiting = client.Begin("/test.Test/Wait", Framed("abc"));
  diary_.Take()->Admit();
  EXPECT_EQ(client.Wait(waiting).data, Framed("3"));
  const int32_t refused = client.Begin("/test.Test/Wait", Framed("abc"));
  diary_.Take()->Finish({absl::StatusCode::kUnavailable, "not now"});
  EXPECT_EQ(client.Wait(refused).status(), "14");
}

TEST_F(ServerTest, RefusesBeforeTheMessageHasCome) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Refuse", Framed(std::string(10 << 20, 'x')));
  EXPECT_EQ(client.Wait(stream).status(), "8");
  EXPECT_EQ(client.answer(stream).Of("grpc-status-details-bin"), EncodeBinary("details"));
  EXPECT_GT(client.UnsentOf(stream), 9U << 20);  // RST_STREAM with NO_ERROR ended it
  EXPECT_EQ(client.answer(stream).error, 0);
  EXPECT_EQ(client.Do("/test.Test/Echo", "on").data, Framed("on"));
}

TEST_F(ServerTest, ABusyHandlerStopsNeitherAcceptNorOthers) {
  Http2Client busy(port());
  busy.Begin("/test.Test/Busy", Framed(""));
  ASSERT_TRUE(diary_.WaitFor("busy"));
  absl::SleepFor(absl::Milliseconds(150));
  const absl::Time began = absl::Now();
  for (int i = 0; i < 6; ++i) {
    Http2Client client(port());
    EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
  }
  EXPECT_LT(absl::Now() - began, absl::Milliseconds(1'300));
  EXPECT_TRUE(CallsEnd());
}

TEST_F(ServerTest, AnswersManyConnectionsFromManyThreads) {
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      Http2Client client(port());
      for (int i = 0; i < 200; ++i) {
        const std::string message(static_cast<size_t>(i * thread), 'x');
        if (client.Do(i % 2 == 0 ? "/test.Test/Echo" : "/test.Test/Stream", i % 2 == 0 ? message : "3 10")
                .status() == "0")
          ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 1'600);
  EXPECT_TRUE(CallsEnd());
}

// ---- The end ----

TEST_F(ServerTest, EndsAtOnceWithoutCalls) {
  Http2Client client(port());
  EXPECT_EQ(client.Do("/test.Test/Echo", "x").status(), "0");
  EXPECT_TRUE(server_->is_accepting());
  std::thread ending([this] { EXPECT_EQ(server_->Shutdown(absl::Seconds(10)), 0); });
  const absl::Time began = absl::Now();
  EXPECT_TRUE(client.WaitForEnd());
  EXPECT_EQ(client.goaway(), 0);
  ending.join();
  EXPECT_LT(absl::Now() - began, absl::Seconds(2));
  EXPECT_FALSE(server_->is_accepting());
  EXPECT_FALSE(Http2Client(port()).is_connected());
}

TEST_F(ServerTest, FinishesCallsThatAreUnderWayAtItsEnd) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  std::thread ending([this] { EXPECT_EQ(server_->Shutdown(absl::Seconds(10)), 0); });
  ASSERT_TRUE(client.WaitUntil([&] { return client.goaway() == 0; }));
  client.WaitUntil([] { return false; }, std::chrono::milliseconds(300));
  call->WriteAndFinish(std::string("in time"), {});
  EXPECT_EQ(client.Wait(stream).data, Framed("in time"));
  EXPECT_EQ(client.answer(stream).status(), "0");
  client.WaitForEnd();
  ending.join();
}

TEST_F(ServerTest, CancelsWhatIsLeftWhenTheGraceIsOver) {
  Http2Client client(port());
  const int32_t stream = client.Begin("/test.Test/Polite", Framed("x"));
  ASSERT_TRUE(diary_.WaitFor("message x"));
  const absl::Time began = absl::Now();
  EXPECT_EQ(server_->Shutdown(absl::Milliseconds(300)), 0);
  EXPECT_GE(absl::Now() - began, absl::Milliseconds(290));
  EXPECT_LT(absl::Now() - began, absl::Seconds(2));
  EXPECT_EQ(diary_.Count("cancelled UNAVAILABLE"), 1);
  EXPECT_FALSE(client.Wait(stream).is_closed && client.answer(stream).status() == "0");
}

TEST_F(ServerTest, EndsInTimeWhateverHangs) {
  Http2Client client(port());
  client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  Http2Client headless(port());
  headless.SendRaw(std::string_view("\0\0\4\1\0\0\0\0\1abcd", 13));  // headers that do not end
  const absl::Time began = absl::Now();
  EXPECT_EQ(server_->Shutdown(absl::Milliseconds(200)), 1);
  EXPECT_LT(absl::Now() - began, absl::Seconds(2));
  EXPECT_TRUE(call->IsCancelled());
  EXPECT_EQ(diary_.Count("destroyed"), 0);
  call->Finish({});  // frees it, on its loop
  EXPECT_TRUE(diary_.WaitFor("destroyed"));
  EXPECT_EQ(server_->Shutdown(absl::Milliseconds(200)), 0);
}

TEST_F(ServerTest, WaitsForItsHandlersWhenItIsDestroyed) {
  Http2Client client(port());
  client.Begin("/test.Test/Leave", Framed("x"));
  Call* const call = diary_.Take();
  std::thread finishing([call] {
    absl::SleepFor(absl::Milliseconds(800));
    call->Finish({});
  });
  server_.reset();
  EXPECT_EQ(diary_.Count("destroyed"), 1);
  finishing.join();
}

TEST_F(ServerTest, APortThatIsTakenIsAnError) {
  ServerOptions options;
  options.port = port();
  EXPECT_EQ(Server::Start(options, {}).status().code(), absl::StatusCode::kFailedPrecondition);
  options.host = "no such host.invalid";
  EXPECT_EQ(Server::Start(options, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ServerTest, ListensOnAllAddressesOfAName) {
  ServerOptions options;
  options.host = "localhost";
  auto server = Server::Start(options, TestRouter(&diary_));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Http2Client((*server)->port()).Do("/test.Test/Echo", "x").status(), "0");
}

}  // namespace
}  // namespace sonde::rpc
