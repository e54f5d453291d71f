// What a method of a gRPC server is made of: calls, what handles them, and which paths there are.
//
// A call goes so: its headers come; the prefix of its message comes, and a Handler is made and asked whether
// the message may come in; the message comes; the handler answers with messages and a status, at once or
// later.
//
//   class Echo final : public Handler {
//    public:
//     explicit Echo(Call* call) : call_(call) {}
//     void OnMessage(MessageBytes message) override {
//       call_->WriteAndFinish(std::string(message.view()), {});
//     }
//    private:
//     Call* const call_;
//   };
//   router.Add("/test.Echo/Say", {.request_bytes_max = 1 << 20, .make = [](Call* call) {
//     return std::make_unique<Echo>(call);
//   }});
//
// Threads: the functions of a Handler run on the thread of its connection's loop, never two of a call at
// once; they must not wait, as other calls wait behind them.  Those of a Call may be called from any thread,
// its answers (metadata, messages, the end) one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rpc/message_reader.h"

namespace sonde::rpc {

// How a call ended.
struct CallStatus {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message = {};  // for people; any bytes
  std::string details = {};  // google.rpc.Status, serialized (grpc-status-details-bin); empty: none

  bool ok() const { return code == absl::StatusCode::kOk; }
};

// A message to send: one after the other, these strings.  They are sent from where they are, and freed piece
// by piece.
class Message {
 public:
  Message() = default;                                                             // of no bytes
  Message(std::string bytes) : pieces_(1) { pieces_.front() = std::move(bytes); }  // NOLINT: it is a message
  explicit Message(std::vector<std::string> pieces) {
    pieces_.assign(std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
  }

  size_t bytes() const {
    size_t sum = 0;
    for (const std::string& piece : pieces_) sum += piece.size();
    return sum;
  }

 private:
  friend class OutgoingMessage;
  absl::InlinedVector<std::string, 1> pieces_;
};

// There from the first function of the handler that gets it until the handler is destroyed.
class Call {
 public:
  // "/google.bigtable.v2.Bigtable/ReadRows"
  virtual std::string_view path() const = 0;
  // Of the client's metadata, by a name in lower case: values joined by commas; of a name that ends in "-bin"
  // the first, decoded.
  virtual std::optional<std::string> FindMetadata(std::string_view name) const = 0;
  // Each value by itself; values of "-bin" names decoded.
  virtual std::vector<std::string> MetadataValues(std::string_view name) const = 0;
  // absl::InfiniteFuture(): none.
  virtual absl::Time deadline() const = 0;
  // "127.0.0.1:40000", "[::1]:40000".
  virtual const std::string& peer() const = 0;
  // A number that all calls of a connection have in common, zero at first: for who shares something out among
  // connections.
  virtual std::atomic<int64_t>& connection_tally() const = 0;
  // Nobody waits for the answer any more; from some time before OnCancel on.
  virtual bool IsCancelled() const = 0;
  // For how long the client has taken nothing of a message that was written; zero: there is nothing to take.
  virtual absl::Duration NotTakenFor() const = 0;

  // After OnLength said kWait: the message may come in.  (It may not: Finish.)  Whoever calls this does not
  // touch the call afterwards: if it was cancelled meanwhile, it is over.
  virtual void Admit() = 0;
  // For methods whose clients send several messages: another one may come, after each OnMessage.
  virtual void ReadNext() = 0;

  // Before the first message, or the end; values of "-bin" names are any bytes.  A name or value that cannot
  // be sent (IsMetadataName, IsMetadataValue) is left out.
  virtual void AddInitialMetadata(std::string_view name, std::string_view value) = 0;
  // Before the end.
  virtual void AddTrailingMetadata(std::string_view name, std::string_view value) = 0;
  // One at a time: OnWriteDone says when the next may follow.
  virtual void Write(Message message) = 0;
  // Exactly once, also after OnCancel (but see there), and last: the call is not touched afterwards.  It may
  // follow a Write at once, from the same thread.
  virtual void Finish(CallStatus status) = 0;
  // As Write and Finish, in one.
  virtual void WriteAndFinish(Message message, CallStatus status) = 0;

 protected:
  ~Call() = default;
};

// While it lives, what its thread does with calls (of one server or several) waits for its end, and then
// costs each loop one wake-up and each connection one write.  For who ends many calls at once.
class AnswersTogether {
 public:
  AnswersTogether();
  ~AnswersTogether();
  AnswersTogether(const AnswersTogether&) = delete;
  AnswersTogether& operator=(const AnswersTogether&) = delete;
};

// What a call is handled by.  After Finish only the destructor is called.
class Handler {
 public:
  enum class Room : uint8_t { kTake, kWait };

  // When the call is over, and nothing is left to be sent.
  virtual ~Handler() = default;

  // A message of so many bytes is about to come; none of it has been taken, but for what fits the stream's
  // first window.  kWait: not before Admit is called, and the client keeps the rest.  To refuse, Finish the
  // call.
  virtual Room OnLength(size_t bytes) {
    (void)bytes;
    return Room::kTake;
  }
  // Whether others wait for the room of the message that comes in, or goes out, now: then it has to move
  // faster (ServerOptions::awaited_pause_max).  Asked now and then.
  virtual bool IsAwaited() const { return false; }
  // A whole message.  Where the client may send one, it has also said that there is no other.
  virtual void OnMessage(MessageBytes message) = 0;
  // The client sends no more messages; only where it may send several.
  virtual void OnHalfClose() {}
  // All bytes of a message have gone to the socket; or the call was cancelled, and they will not.
  virtual void OnWriteDone(bool ok) { (void)ok; }
  // Nobody waits for the answer: CANCELLED, or what the client's reset says; DEADLINE_EXCEEDED; UNAVAILABLE:
  // the connection is gone, or the server ends.  The handler still has to Finish.
  virtual void OnCancel(const absl::Status& why) { (void)why; }
  // The server takes no more calls, and waits for those under way: who only waits for what may never come
  // finishes.  May come more than once.
  virtual void OnServerEnding() {}
};

struct Method {
  // A longer message ends the call with RESOURCE_EXHAUSTED.
  size_t request_bytes_max = 4 << 20;
  // The client may send any number of messages, and the handler is made before the first.  They come at no
  // more than 64 KiB a round trip.
  bool client_streams = false;
  std::function<std::unique_ptr<Handler>(Call*)> make;
};

class Router {
 public:
  // `path`: "/google.bigtable.v2.Bigtable/ReadRows".
  void Add(std::string path, Method method) { methods_.insert_or_assign(std::move(path), std::move(method)); }
  // What to say to calls of other paths; UNIMPLEMENTED if nothing else is said.
  void SetFallback(std::function<CallStatus(std::string_view path)> answer) { fallback_ = std::move(answer); }

  // Null: there is none.
  const Method* Find(std::string_view path) const {
    const auto found = methods_.find(absl::string_view(path.data(), path.size()));
    return found == methods_.end() ? nullptr : &found->second;
  }
  CallStatus AnswerUnknown(std::string_view path) const;

 private:
  absl::flat_hash_map<std::string, Method> methods_;
  std::function<CallStatus(std::string_view path)> fallback_;
};

}  // namespace sonde::rpc
