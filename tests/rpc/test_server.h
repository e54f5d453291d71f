// A server for tests, whose methods do as their names say; and what its handlers have seen.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "rpc/call.h"
#include "rpc/server.h"

namespace sonde::rpc {

// What handlers saw and left behind.  Threads: all functions may be called at once.
class Diary {
 public:
  void Note(const std::string& event) {
    const absl::MutexLock lock(&mutex_);
    ++events_[event];
  }
  int Count(const std::string& event) {
    const absl::MutexLock lock(&mutex_);
    return events_[event];
  }
  bool WaitFor(const std::string& event, int count = 1) {
    const absl::MutexLock lock(&mutex_);
    const auto seen = [&] { return events_[event] >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&seen), absl::Seconds(10));
  }
  // A call that is to be worked on by the test.
  void Leave(Call* call) {
    const absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
  }
  // The next that was left; null after a while.
  Call* Take() {
    const absl::MutexLock lock(&mutex_);
    const auto is_left = [&] { return !calls_.empty(); };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&is_left), absl::Seconds(10))) return nullptr;
    Call* const call = calls_.front();
    calls_.erase(calls_.begin());
    return call;
  }
  size_t left() {
    const absl::MutexLock lock(&mutex_);
    return calls_.size();
  }

 private:
  absl::Mutex mutex_;
  std::map<std::string, int> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<Call*> calls_ ABSL_GUARDED_BY(mutex_);
};

// Notes everything.
class NotingHandler : public Handler {
 public:
  NotingHandler(Call* call, Diary* diary) : call_(call), diary_(diary) { diary_->Note("made"); }
  ~NotingHandler() override { diary_->Note("destroyed"); }
  void OnMessage(MessageBytes message) override {
    diary_->Note("message " + std::string(message.view().substr(0, 20)));
  }
  void OnHalfClose() override { diary_->Note("half-closed"); }
  void OnWriteDone(bool ok) override { diary_->Note(ok ? "written" : "not written"); }
  void OnCancel(const absl::Status& why) override {
    diary_->Note("cancelled " + absl::StatusCodeToString(why.code()));
  }

 protected:
  Call* const call_;
  Diary* const diary_;
};

// Says what it got, at once.
class EchoHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes message) override { call_->WriteAndFinish(std::string(message.view()), {}); }
};

// Says how long the message was.
class LengthHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes message) override { call_->WriteAndFinish(std::to_string(message.size()), {}); }
};

// Leaves each call to the test.
class LeavingHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes message) override {
    NotingHandler::OnMessage(std::move(message));
    diary_->Leave(call_);
  }
};

// As above, but finishes when it is cancelled; the test must not touch calls that it was told are cancelled.
class PoliteHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnCancel(const absl::Status& why) override {
    NotingHandler::OnCancel(why);
    call_->Finish({why.code(), "polite"});
  }
};

// Lets nothing in before the test says so.
class WaitingHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  Room OnLength(size_t) override {
    diary_->Leave(call_);
    return Room::kWait;
  }
  void OnMessage(MessageBytes message) override { call_->WriteAndFinish(std::to_string(message.size()), {}); }
};

// Others always wait for its room.
class AwaitedHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  bool IsAwaited() const override { return true; }
  void OnMessage(MessageBytes message) override { call_->WriteAndFinish(std::to_string(message.size()), {}); }
};

class RefusingHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  Room OnLength(size_t) override {
    call_->Finish({absl::StatusCode::kResourceExhausted, "no room", "details"});
    return Room::kTake;
  }
};

// The message is "COUNT BYTES": so many messages of so many bytes.
class StreamHandler : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes message) override {
    const std::string text(message.view());
    count_ = std::stoi(text);
    bytes_ = std::stoul(text.substr(text.find(' ') + 1));
    Next();
  }
  void OnWriteDone(bool ok) override {
    NotingHandler::OnWriteDone(ok);
    if (ok) Next();
  }
  void OnCancel(const absl::Status& why) override {
    NotingHandler::OnCancel(why);
    call_->Finish({why.code(), "cancelled"});
  }

 private:
  void Next() {
    if (count_-- == 0) return call_->Finish({});
    const size_t half = bytes_ / 2;
    call_->Write(Message(
        std::vector<std::string>{std::string(half, 'a'), std::string(), std::string(bytes_ - half, 'b')}));
  }

  int count_ = 0;
  size_t bytes_ = 0;
};

class AwaitedStreamHandler final : public StreamHandler {
 public:
  using StreamHandler::StreamHandler;
  bool IsAwaited() const override { return true; }
};

// Sends each message back, and asks for the next when that has gone.
class ChatHandler final : public NotingHandler {
 public:
  ChatHandler(Call* call, Diary* diary) : NotingHandler(call, diary) { call->ReadNext(); }
  void OnMessage(MessageBytes message) override { call_->Write(std::string(message.view())); }
  void OnWriteDone(bool ok) override {
    if (ok) call_->ReadNext();
  }
  void OnHalfClose() override { call_->Finish({absl::StatusCode::kOk, "bye"}); }
  void OnCancel(const absl::Status& why) override {
    NotingHandler::OnCancel(why);
    call_->Finish({why.code()});
  }
};

// Reads as many messages as the test asks for.
class ListenHandler final : public NotingHandler {
 public:
  ListenHandler(Call* call, Diary* diary) : NotingHandler(call, diary) { diary->Leave(call); }
  void OnHalfClose() override {
    NotingHandler::OnHalfClose();
    call_->Finish({});
  }
  void OnCancel(const absl::Status& why) override {
    NotingHandler::OnCancel(why);
    call_->Finish({why.code()});
  }
};

// Answers with what the call says of itself.
class MetadataHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes) override {
    for (const std::string& value : call_->MetadataValues("in-bin"))
      call_->AddInitialMetadata("out-bin", value);
    call_->AddInitialMetadata("out", call_->FindMetadata("in").value_or("none"));
    call_->AddInitialMetadata("Bad Name", "x");
    call_->AddTrailingMetadata("peer", call_->peer());
    call_->AddTrailingMetadata("path", std::string(call_->path()));
    call_->AddTrailingMetadata("bad-value", "\n");
    call_->AddTrailingMetadata(
        "seconds",
        std::to_string(absl::ToInt64Seconds(call_->deadline() - absl::Now() + absl::Seconds(0.5))));
    call_->WriteAndFinish(std::string("x"), {});
  }
};

class ErrorHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes message) override {
    if (message.view() == "with metadata") call_->AddInitialMetadata("first", "1");
    call_->AddTrailingMetadata("last", "2");
    call_->Finish({absl::StatusCode::kNotFound, "50% ä", std::string("\x08\x05", 2)});
  }
};

// Keeps its loop busy.
class BusyHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes) override {
    diary_->Note("busy");
    std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    call_->Finish({});
  }
};

constexpr size_t kTestMessageBytesMax = 64 << 20;

inline Router TestRouter(Diary* diary) {
  Router router;
  const auto add = [&]<typename Made>(const char* name, std::type_identity<Made>,
                                      bool client_streams = false) {
    Method method;
    method.request_bytes_max = kTestMessageBytesMax;
    method.client_streams = client_streams;
    method.make = [diary](Call* call) { return std::make_unique<Made>(call, diary); };
    router.Add(std::string("/test.Test/") + name, std::move(method));
  };
  add("Echo", std::type_identity<EchoHandler>());
  add("Length", std::type_identity<LengthHandler>());
  add("Leave", std::type_identity<LeavingHandler>());
  add("Polite", std::type_identity<PoliteHandler>());
  add("Wait", std::type_identity<WaitingHandler>());
  add("Awaited", std::type_identity<AwaitedHandler>());
  add("Refuse", std::type_identity<RefusingHandler>());
  add("Stream", std::type_identity<StreamHandler>());
  add("AwaitedStream", std::type_identity<AwaitedStreamHandler>());
  add("Chat", std::type_identity<ChatHandler>(), true);
  add("Listen", std::type_identity<ListenHandler>(), true);
  add("Metadata", std::type_identity<MetadataHandler>());
  add("Error", std::type_identity<ErrorHandler>());
  add("Busy", std::type_identity<BusyHandler>());
  return router;
}

}  // namespace sonde::rpc
