// What gRPC's own client sees.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "rpc/server.h"
#include "tests/rpc/test_server.h"

namespace sonde::rpc {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A call with any number of messages both ways: sends its messages, then half-closes; keeps what it gets.
class Talk final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Talk(grpc::GenericStub* stub, const std::string& method, std::vector<std::string> messages)
      : messages_(std::move(messages)) {
    stub->PrepareBidiStreamingCall(&context, method, {}, this);
  }
  void Start() {
    WriteNext();
    StartRead(&in_);
    StartCall();
  }
  grpc::Status Wait() { return done_.get_future().get(); }
  const std::vector<std::string>& got() const { return got_; }

  grpc::ClientContext context;
  std::function<void()> on_message;

 private:
  void WriteNext() {
    if (next_ == messages_.size()) return StartWritesDone();
    out_ = ToBuffer(messages_[next_++]);
    StartWrite(&out_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) WriteNext();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    got_.push_back(ToString(in_));
    if (on_message) on_message();
    StartRead(&in_);
  }
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }

  const std::vector<std::string> messages_;
  size_t next_ = 0;
  grpc::ByteBuffer out_, in_;
  std::vector<std::string> got_;
  std::promise<grpc::Status> done_;
};

class GrpcClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.loops = 2;
    auto server = Server::Start(options, TestRouter(&diary_));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect({});
  }
  void TearDown() override { stub_.reset(); }
  void Connect(grpc::ChannelArguments arguments) {
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server_->port()),
                                         grpc::InsecureChannelCredentials(), arguments);
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
  }
  grpc::Status Do(const std::string& method, const std::string& message, std::string* answer,
                  grpc::ClientContext* context) {
    const grpc::ByteBuffer request = ToBuffer(message);
    grpc::ByteBuffer response;
    std::promise<grpc::Status> done;
    stub_->UnaryCall(context, "/test.Test/" + method, {}, &request, &response,
                     [&](grpc::Status status) { done.set_value(std::move(status)); });
    grpc::Status status = done.get_future().get();
    if (status.ok()) *answer = ToString(response);
    return status;
  }
  grpc::Status Do(const std::string& method, const std::string& message, std::string* answer) {
    grpc::ClientContext context;
    return Do(method, message, answer, &context);
  }

  Diary diary_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

TEST_F(GrpcClientTest, AsksOnce) {
  std::string answer;
  EXPECT_TRUE(Do("Echo", "hello", &answer).ok());
  EXPECT_EQ(answer, "hello");
  EXPECT_TRUE(Do("Echo", "", &answer).ok());
  EXPECT_EQ(answer, "");
}

TEST_F(GrpcClientTest, SendsAndTakesLargeMessages) {
  std::string answer;
  for (const size_t bytes : {65'000U, 66'000U, 5U << 20, 60U << 20}) {
    const std::string message(bytes, 'x');
    ASSERT_TRUE(Do("Length", message, &answer).ok());
    EXPECT_EQ(answer, std::to_string(bytes));
    ASSERT_TRUE(Do("Echo", message, &answer).ok());
    EXPECT_TRUE(answer == message);
  }
}

TEST_F(GrpcClientTest, SeesErrorsWithTheirDetails) {
  std::string answer;
  grpc::ClientContext context;
  const grpc::Status status = Do("Error", "", &answer, &context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "50% ä");
  EXPECT_EQ(status.error_details(), "\x08\x05");
  EXPECT_EQ(context.GetServerTrailingMetadata().count("last"), 1);
  EXPECT_EQ(Do("Nothing", "", &answer).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Do("Refuse", std::string(1 << 20, 'x'), &answer).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Do("Echo", std::string(kTestMessageBytesMax + 1, 'x'), &answer).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcClientTest, PassesMetadata) {
  std::string answer;
  grpc::ClientContext context;
  context.AddMetadata("in", "words");
  context.AddMetadata("in-bin", std::string("\0\xff", 2));
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(90));
  ASSERT_TRUE(Do("Metadata", "", &answer, &context).ok());
  const auto& first = context.GetServerInitialMetadata();
  EXPECT_EQ(first.find("out")->second, "words");
  EXPECT_EQ(first.find("out-bin")->second, std::string("\0\xff", 2));
  const auto& last = context.GetServerTrailingMetadata();
  EXPECT_EQ(last.find("path")->second, "/test.Test/Metadata");
  EXPECT_EQ(last.find("seconds")->second, "90");
}

TEST_F(GrpcClientTest, ReadsAStream) {
  Talk talk(stub_.get(), "/test.Test/Stream", {"200 30000"});
  talk.Start();
  EXPECT_TRUE(talk.Wait().ok());
  ASSERT_EQ(talk.got().size(), 200);
  for (const std::string& message : talk.got()) EXPECT_EQ(message.size(), 30'000);
}

TEST_F(GrpcClientTest, TalksInBothDirections) {
  std::vector<std::string> messages;
  for (size_t i = 0; i < 300; ++i) messages.push_back(std::string(i * i, 'x'));
  Talk talk(stub_.get(), "/test.Test/Chat", messages);
  talk.Start();
  EXPECT_TRUE(talk.Wait().ok());
  EXPECT_TRUE(talk.got() == messages);
}

TEST_F(GrpcClientTest, GivesUpAtItsDeadline) {
  std::string answer;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(60));
  EXPECT_EQ(Do("Polite", "x", &answer, &context).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(diary_.WaitFor("destroyed"));
}

TEST_F(GrpcClientTest, Cancels) {
  Talk talk(stub_.get(), "/test.Test/Stream", {"1000000 100"});
  talk.on_message = [&] {
    if (talk.got().size() == 10) talk.context.TryCancel();
  };
  talk.Start();
  EXPECT_EQ(talk.Wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(diary_.WaitFor("cancelled CANCELLED"));
  EXPECT_TRUE(diary_.WaitFor("destroyed"));
}

TEST_F(GrpcClientTest, PingsEachTenSecondsAreFine) {
  // Faster than any client is by itself, with answers between.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 50);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  Connect(arguments);
  std::string answer;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Do("Echo", "x", &answer).ok());
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(server_->facts().accepted, 1);
}

TEST_F(GrpcClientTest, FinishesCallsAndConnectsAgainWhenTheServerEnds) {
  Talk talk(stub_.get(), "/test.Test/Leave", {"x"});
  talk.Start();
  Call* const call = diary_.Take();
  std::thread ending([this] { EXPECT_EQ(server_->Shutdown(absl::Seconds(10)), 0); });
  absl::SleepFor(absl::Milliseconds(100));
  call->WriteAndFinish(std::string("last"), {});
  EXPECT_TRUE(talk.Wait().ok());
  EXPECT_EQ(talk.got(), std::vector<std::string>{"last"});
  ending.join();
  std::string answer;
  EXPECT_EQ(Do("Echo", "x", &answer).error_code(), grpc::StatusCode::UNAVAILABLE);
  ServerOptions options;
  options.port = server_->port();
  auto server = Server::Start(options, TestRouter(&diary_));
  ASSERT_TRUE(server.ok()) << server.status();
  grpc::ClientContext patient;
  patient.set_wait_for_ready(true);
  EXPECT_TRUE(Do("Echo", "x", &answer, &patient).ok());
  stub_.reset();
  channel_.reset();
}

TEST_F(GrpcClientTest, ManyAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 400;
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kCalls; ++i) {
        const std::string message(static_cast<size_t>((i * 7919 + thread) % 90'000), 'x');
        std::string answer;
        if (Do("Echo", message, &answer).ok() && answer == message) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kThreads * kCalls);
}

}  // namespace
}  // namespace sonde::rpc
