// How a request becomes an answer: let in at its length, parsed from its bytes, worked on where it may block,
// answered once.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "metrics/request_metrics.h"
#include "model/limits.h"
#include "rpc/call.h"
#include "wire/call/grpc_status.h"
#include "wire/call/stalled_reads.h"
#include "wire/call/step_cost.h"
#include "work/worker_pool.h"

namespace sonde {

class CommitLine;

// What parsing a request may make of it: messages and strings in it (RequestParts), ten for each mutation
// that a request may have.
constexpr size_t kRequestPartsMax = 10 * kMutationsPerRequestMax;

// A request that is smaller can become a few megabytes at most, whatever is in it, and is not counted.
constexpr size_t kUncountedBytesMax = 64 * 1024;

// Of a call of the administration.  An authorized view, whose definition is the largest, may have 1.7 MB.
constexpr size_t kAdminRequestBytesMax = 4 << 20;

// Makes `message` of `bytes`, which are freed; a large one's `place` grows by what its parts take.
// INVALID_ARGUMENT: no such message, too many parts, nested too deep.  UNAVAILABLE: no room for the parts.
absl::Status ParseRequest(rpc::MessageBytes* bytes, Admission::Place* place,
                          google::protobuf::Message* message);

// A request message on an arena of its own.
template <typename Request>
class ParsedRequest {
 public:
  absl::Status Parse(rpc::MessageBytes* bytes, Admission::Place* place) {
    return ParseRequest(bytes, place, message_);
  }
  const Request& message() const { return *message_; }

 private:
  google::protobuf::Arena arena_;
  Request* message_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
};

inline rpc::Message ToMessage(const google::protobuf::Message& message) {
  return message.SerializeAsString();
}

// Metadata that clients look for: how long the server took, in front of the answer, and which cluster it was,
// in front and behind (the Node client reads the latter only behind).  A request for a table that is not
// there (kNoTablePayload) has no cluster.  Before the answer begins; `status`: as far as it is known by then.
void AddServerMetadata(rpc::Call* call, absl::Time request_came, const absl::Status& status);
// The value of `server-timing`: "gfet4t7; dur=2".  Whole milliseconds, begun ones counted: 0 would say that
// the server was not asked.
std::string ServerTiming(absl::Duration took);

// "ReadRows" of its request message.
template <typename Request>
std::string_view MethodOf() {
  static const std::string method(absl::StripSuffix(Request::descriptor()->name(), "Request"));
  return method;
}

// What to answer when there is no room for the next part of a call.
absl::Status Overloaded();

// How calls are let in and worked on.  Nothing is owned.
struct CallKind {
  Admission* admission;
  WorkerPool* workers;
  bool may_block;  // then among the workers
  size_t request_bytes_max;
  int64_t held_bytes = 0;               // taken for each, beside its request
  LargeRoom* large_room = nullptr;      // null: large requests count as others
  WorkerPool* large_waiters = nullptr;  // where they wait for their place there

  bool IsLarge(size_t bytes) const {
    return large_room != nullptr && static_cast<int64_t>(bytes) >= kLargeBytes;
  }
};

// What the calls of a server share.  Nothing is owned.
struct CallResources {
  WorkerPool* workers;
  WorkerPool* readers;
  Admission* reads;
  Admission* writes;
  Admission* administration;
  StalledReads* stalled_reads;
  StepCost* read_cost;
  CommitLine* commit_line;
  RequestMetrics* metrics;
  bool writes_block;  // those of many rows: they wait for the disk
  WorkerPool* large_readers;
  WorkerPool* large_waiters;
  LargeRoom* large_room;  // null: what is large counts as what is not

  CallKind Reads() const { return {reads, readers, true, kReadRowsRequestBytesMax}; }
  CallKind Writes() const {
    return {writes, workers, writes_block, kMessageBytesMax, 0, large_room, large_waiters};
  }
  // Of writes that read first.
  CallKind ReadingWrites() const {
    return {writes, workers, true, kMessageBytesMax, 0, large_room, large_waiters};
  }
  CallKind Administration() const { return {administration, workers, true, kAdminRequestBytesMax}; }
  // What is answered from memory.
  CallKind ShortAdministration() const { return {administration, workers, false, kAdminRequestBytesMax}; }
};

// Before a request of so many bytes comes.  INVALID_ARGUMENT: it is too large for its kind; UNAVAILABLE: it
// would not be let in now.  Takes nothing: who sends slowly must not keep others out.
absl::Status CheckLength(const CallKind& kind, std::string_view method, size_t bytes);
// The room of a request that has come.  UNAVAILABLE and RESOURCE_EXHAUSTED as Admission says.
inline absl::StatusOr<Admission::Place> Admit(const CallKind& kind, const rpc::MessageBytes& request) {
  return kind.admission->Admit(static_cast<int64_t>(request.size()) + kind.held_bytes);
}

// Runs `request` with OK here, or among the workers if it may block; or with why it is not done.
inline void Run(const CallKind& kind, absl::Time deadline, WorkerPool::Request request) {
  if (kind.may_block) return kind.workers->Submit(deadline, std::move(request));
  std::move(request)(absl::OkStatus());
}

class RequestHandler;

// Ends a call, once; from any thread.  The call is there until then.
class CallEnd {
 public:
  explicit CallEnd(RequestHandler* handler) : handler_(handler) {}

  rpc::Call* call() const;
  void operator()(const absl::Status& status) const;
  void operator()(const absl::Status& status, rpc::Message message) const;
  // `place` is kept until the client has the messages.
  void operator()(const absl::Status& status, std::vector<rpc::Message> messages,
                  Admission::Place place) const;

 private:
  RequestHandler* handler_;
};

// Called where the request came in, and must not wait there.
using AnswerRequest =
    std::function<void(const CallEnd& end, rpc::MessageBytes request, Admission::Place place)>;

// What the calls of a method have in common.
struct RequestMethod {
  std::string_view name;  // "MutateRow"; there for good
  CallKind kind;
  RequestMetrics* metrics;
  AnswerRequest answer;
};

// A call of one request, and an answer of any number of messages.
class RequestHandler final : public rpc::Handler {
 public:
  // `method` must outlive it.
  RequestHandler(rpc::Call* call, const RequestMethod* method) : call_(call), method_(*method) {}
  ~RequestHandler() override;

  Room OnLength(size_t bytes) override;
  bool IsAwaited() const override { return is_large_ && method_.kind.large_room->IsAwaited(); }
  void OnMessage(rpc::MessageBytes message) override;
  void OnWriteDone(bool ok) override;

  rpc::Call* call() const { return call_; }
  // As CallEnd.
  void End(const absl::Status& status, std::vector<rpc::Message> messages, Admission::Place place);
  void End(const absl::Status& status, rpc::Message message);

 private:
  void WaitForRoom(int64_t bytes);
  void Count(const absl::Status& status);
  void WriteNext();

  rpc::Call* const call_;
  const RequestMethod& method_;
  const absl::Time came_ = absl::Now();
  Admission::Place place_;  // of what is large and comes in; of messages that are sent
  bool is_large_ = false;   // and has its place
  std::vector<rpc::Message> messages_;
  size_t written_ = 0;
};

inline rpc::Call* CallEnd::call() const { return handler_->call(); }
inline void CallEnd::operator()(const absl::Status& status) const { handler_->End(status, rpc::Message()); }
inline void CallEnd::operator()(const absl::Status& status, rpc::Message message) const {
  handler_->End(status, std::move(message));
}
inline void CallEnd::operator()(const absl::Status& status, std::vector<rpc::Message> messages,
                                Admission::Place place) const {
  handler_->End(status, std::move(messages), std::move(place));
}

// Adds the methods of a service to a router.
class Service {
 public:
  // `name`: "google.bigtable.v2.Bigtable".
  Service(std::string_view name, RequestMetrics* metrics, rpc::Router* router)
      : name_(name), metrics_(metrics), router_(router) {}

  // `method`: "MutateRow", there for good.
  void Add(std::string_view method, const CallKind& kind, AnswerRequest answer);
  void Add(std::string_view method, std::function<std::unique_ptr<rpc::Handler>(rpc::Call*)> make);

  // The method that takes a `Request`, answered with what `handle(request, &response) -> absl::Status` says.
  template <typename Request, typename Response, typename Handle>
  void AddUnary(const CallKind& kind, Handle handle) {
    Add(MethodOf<Request>(), kind,
        [kind, handle](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
          auto work = [end, in = std::move(in), place = std::move(place),
                       handle](absl::Status status) mutable {
            ParsedRequest<Request> request;
            Response response;
            if (status.ok()) status = request.Parse(&in, &place);
            if (status.ok()) status = handle(request.message(), &response);
            end(status, status.ok() ? ToMessage(response) : rpc::Message());
          };
          Run(kind, end.call()->deadline(), std::move(work));
        });
  }

  // ... with the messages that `handle(request, &messages) -> absl::Status` makes.
  template <typename Request, typename Handle>
  void AddList(const CallKind& kind, Handle handle) {
    Add(MethodOf<Request>(), kind,
        [kind, handle](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
          auto work = [end, in = std::move(in), place = std::move(place),
                       handle](absl::Status status) mutable {
            std::vector<rpc::Message> messages;
            {
              ParsedRequest<Request> request;
              if (status.ok()) status = request.Parse(&in, &place);
              if (status.ok()) status = handle(request.message(), &messages);
            }
            end(status, std::move(messages), std::move(place));
          };
          Run(kind, end.call()->deadline(), std::move(work));
        });
  }

 private:
  const std::string name_;
  RequestMetrics* const metrics_;
  rpc::Router* const router_;
};

}  // namespace sonde
