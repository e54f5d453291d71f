// The parts of a gRPC server's methods: calls, their handlers, and the paths of methods.
//
// A call goes through these steps.  Its headers come.  The prefix of its message comes; a Handler is made and
// asked whether the message may come in.  The message comes.  The handler answers with messages and a status,
// at once or later.
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
// Threads: the functions of a Handler run on the thread of its connection's loop, never two of one call at
// once. They must not wait, as other calls wait behind them.  The functions of a Call may be called from any
// thread; its answers (metadata, messages, the end) must be given one after the other.
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
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "identity/authenticator.h"
#include "rpc/message_reader.h"

namespace sonde::rpc {

// How a call ended.
struct CallStatus {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message = {};  // for people; any bytes
  std::string details = {};  // google.rpc.Status, serialized (grpc-status-details-bin); empty: none

  bool ok() const { return code == absl::StatusCode::kOk; }
};

// A message to send: the concatenation of some strings.  They are sent from where they are, and freed one by
// one.
class Message {
 public:
  Message() = default;                                                             // without bytes
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

// What a layer above notes about a call, for its own layers below.  It is of the call, never of the connection, which other callers
// use, too.
class CallNote {
 protected:
  ~CallNote() = default;
};

// A call.  It lives from the first function of its handler until the handler is destroyed.
class Call {
 public:
  // "/google.bigtable.v2.Bigtable/ReadRows"
  virtual std::string_view path() const = 0;
  // Finds a name (in lower case) in the client's metadata.  Several values are joined by commas; for a name
  // that ends in "-bin" the result is the first value, decoded.
  virtual std::optional<std::string> FindMetadata(std::string_view name) const = 0;
  // Returns each value by itself.  Values of "-bin" names are decoded.
  virtual std::vector<std::string> MetadataValues(std::string_view name) const = 0;
  // absl::InfiniteFuture() if there is no deadline.
  virtual absl::Time deadline() const = 0;
  // "127.0.0.1:40000", "[::1]:40000".
  virtual const std::string& peer() const = 0;
  // A name that no other call has, neither of this server nor of one before it: "640f2a5c3b1d7-1f".
  virtual std::string name() const = 0;
  // The names in the client's certificate, which lives as long as the call.  Null: the client showed none.
  virtual const PeerCertificate* peer_certificate() const = 0;
  // A number that all calls of a connection share, zero at first.  It serves to share something out among
  // connections.
  virtual std::atomic<int64_t>& connection_tally() const = 0;
  // Whether nobody waits for the answer any more.  It turns true some time before OnCancel is called.
  virtual bool IsCancelled() const = 0;
  // Null: nobody has noted anything.
  virtual const CallNote* note() const { return nullptr; }
  // How long the client has taken nothing of a message that was written.  Zero if there is nothing to take.
  virtual absl::Duration NotTakenFor() const = 0;

  // Lets the message in, after OnLength returned kWait.  (To refuse the message, Finish.)  The caller must
  // not touch the call afterwards: if it was cancelled meanwhile, it is over.
  virtual void Admit() = 0;
  // Asks for the next message, after each OnMessage; for methods whose clients send several.
  virtual void ReadNext() = 0;

  // To be called before the first message or the end.  Values of "-bin" names are any bytes.  A name or value
  // that cannot be sent (IsMetadataName, IsMetadataValue) is left out.
  virtual void AddInitialMetadata(std::string_view name, std::string_view value) = 0;
  // To be called before the end.
  virtual void AddTrailingMetadata(std::string_view name, std::string_view value) = 0;
  // Sends a message.  The next may follow only after OnWriteDone.
  virtual void Write(Message message) = 0;
  // Ends the call.  To be called exactly once, also after OnCancel.  The call must not be touched afterwards.
  // It may follow a Write at once, from the same thread.
  virtual void Finish(CallStatus status) = 0;
  // Write and Finish in one.
  virtual void WriteAndFinish(Message message, CallStatus status) = 0;

 protected:
  ~Call() = default;
};

// Gathers answers to many calls.  While it lives, its thread's steps on calls (of one server or several) are
// kept back; at its end they cost each loop one wake-up and each connection one write.
class AnswersTogether {
 public:
  AnswersTogether();
  ~AnswersTogether();
  AnswersTogether(const AnswersTogether&) = delete;
  AnswersTogether& operator=(const AnswersTogether&) = delete;
};

// Handles a call.  After Finish only the destructor is called.
class Handler {
 public:
  enum class Room : uint8_t { kTake, kWait };

  // Called when the call is over and nothing is left to be sent.
  virtual ~Handler() = default;

  // A message of `bytes` is about to come.  None of it has been taken, but for what fits the stream's first
  // window.  kWait: the client keeps the rest until Admit is called.  To refuse the message, Finish the call.
  virtual Room OnLength(size_t bytes) {
    (void)bytes;
    return Room::kTake;
  }
  // Whether others wait for the room of the message that comes in or goes out now.  If so, the message must
  // move faster (ServerOptions::awaited_pause_max).  Asked now and then.
  virtual bool IsAwaited() const { return false; }
  // A whole message has come.  If the method takes only one, the client has also said that no other follows.
  virtual void OnMessage(MessageBytes message) = 0;
  // The client sends no more messages.  Only methods that take several get this.
  virtual void OnHalfClose() {}
  // OK: all bytes of a message have gone to the socket.  Not OK: the call was cancelled, and they will not.
  virtual void OnWriteDone(bool ok) { (void)ok; }
  // Nobody waits for the answer.  The handler still has to Finish.
  //  CANCELLED, or the code of the reset  the client gave the call up.
  //  DEADLINE_EXCEEDED                    the deadline has passed.
  //  UNAVAILABLE                          the connection is gone, or the server ends.
  virtual void OnCancel(const absl::Status& why) { (void)why; }
  // The server takes no more calls, and waits for those under way.  A handler that only waits for something
  // that may never come finishes.  May be called more than once.
  virtual void OnServerEnding() {}
  // Who has proven to be the caller, as policies name him; empty: nobody was asked.
  virtual std::string Caller() const { return {}; }
};

// A call under way, for people who look at what a server does.
struct RunningCall {
  std::string name;  // as Call::name
  std::string path;
  std::string peer;    // as Call::peer
  std::string caller;  // as Handler::Caller
  absl::Time came;
  std::string routing;     // the header x-goog-request-params
  std::string request_id;  // the header x-request-id
};

struct Method {
  // A longer message ends the call with RESOURCE_EXHAUSTED.
  size_t request_bytes_max = 4 << 20;
  // The client may send any number of messages, and the handler is made before the first.  They come at no
  // more than 64 KiB a round trip.
  bool client_streams = false;
  std::function<std::unique_ptr<Handler>(Call*)> make;
};

// A call of a path that has no method.
struct UnknownCall {
  std::string_view path;
  std::string_view peer;
  std::string name;                    // as Call::name
  const PeerCertificate* certificate;  // as Call::peer_certificate
  absl::FunctionRef<std::optional<std::string>(std::string_view name)>
      find_metadata;  // as Call::FindMetadata
};
using Fallback = std::function<CallStatus(const UnknownCall& call)>;

// The methods of a server, by path.  It is filled before the server starts; Find may then be called by all
// threads.
class Router {
 public:
  // `path`: "/google.bigtable.v2.Bigtable/ReadRows".
  void Add(std::string path, Method method) { methods_.insert_or_assign(std::move(path), std::move(method)); }
  // Sets the answer to calls of other paths.  The default is UNIMPLEMENTED.
  void SetFallback(Fallback answer) { fallback_ = std::move(answer); }
  // Puts in the place of each method that was added, and of the fallback, what `wrap` makes of it.
  void Wrap(const std::function<Method(std::string_view path, Method method)>& wrap,
            const std::function<Fallback(Fallback fallback)>& wrap_fallback);

  // Returns null if there is no such method.
  const Method* Find(std::string_view path) const {
    const auto found = methods_.find(absl::string_view(path.data(), path.size()));
    return found == methods_.end() ? nullptr : &found->second;
  }
  CallStatus AnswerUnknown(const UnknownCall& call) const;

 private:
  absl::flat_hash_map<std::string, Method> methods_;
  Fallback fallback_;
};

}  // namespace sonde::rpc
