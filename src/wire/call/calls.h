// How a request becomes an answer.  Its length is checked and it is let in; its bytes are parsed; it is
// worked on, by a worker if it may block; it is answered once.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
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
#include "wire/call/app_profiles.h"
#include "wire/call/call_tag.h"
#include "wire/call/grpc_status.h"
#include "wire/call/stalled_reads.h"
#include "wire/call/step_cost.h"
#include "work/idle_workers.h"
#include "work/priority.h"
#include "work/worker_pool.h"

namespace sonde::sql {
class SpillSpace;
}  // namespace sonde::sql

namespace sonde {

class CommitLine;

// At most this many messages and strings (RequestParts) may come of parsing a request: ten for each mutation
// that a request may have.
constexpr size_t kRequestPartsMax = 10 * kMutationsPerRequestMax;

// A smaller request becomes a few megabytes at most, whatever is in it, so its parts are not counted.
constexpr size_t kUncountedBytesMax = 64 * 1024;

// The limit of a request of the administration.  The largest is the definition of an authorized view, which
// may have 1.7 MB.
constexpr size_t kAdminRequestBytesMax = 4 << 20;

// Parses `bytes` into `message` and frees them.  The `place` of a large message grows by the memory of its
// parts.  INVALID_ARGUMENT: the bytes are no such message, have too many parts, or nest too deep.
// UNAVAILABLE: there is no room for the parts.
absl::Status ParseRequest(rpc::MessageBytes* bytes, Admission::Place* place,
                          google::protobuf::Message* message);

// A request message on an arena of its own.  Not for several threads.
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

// Adds the metadata that clients look for: how long the server took, in front of the answer, and which
// cluster it was, in front and behind (the Node client reads the cluster only behind).  A request for a table
// that does not exist (kNoTablePayload) has no cluster.  To be called before the answer begins.  `status` is
// the call's status as far as it is known by then.
void AddServerMetadata(rpc::Call* call, absl::Time request_came, const absl::Status& status);
// Returns the value of `server-timing`: "gfet4t7; dur=2".  It has whole milliseconds, rounded up: 0 would say
// that the server was not asked.
std::string ServerTiming(absl::Duration took);

// Returns a method's name: "ReadRows" for ReadRowsRequest.
template <typename Request>
std::string_view MethodOf() {
  static const std::string method(absl::StripSuffix(Request::descriptor()->name(), "Request"));
  return method;
}

// The answer to a call for whose next part there is no room.
absl::Status Overloaded();

// How the calls of a method are let in and worked on.  Nothing is owned.
struct CallKind {
  Admission* admission;
  WorkerPool* workers;
  bool may_block;  // then workers run it
  size_t request_bytes_max;
  int64_t held_bytes = 0;                 // taken for each call, beside its request
  LargeRoom* large_room = nullptr;        // null: large requests count like small ones
  WorkerPool* large_waiters = nullptr;    // its threads wait for places in large_room
  const AppProfiles* profiles = nullptr;  // null: calls have no app profile, or each allows all
  ProfileUse use = ProfileUse::kRead;

  bool IsLarge(size_t bytes) const {
    return large_room != nullptr && static_cast<int64_t>(bytes) >= kLargeBytes;
  }
};

// The parts of a server that its calls share.  Nothing is owned.
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
  bool writes_block;  // MutateRow and MutateRows wait for the disk
  bool reads_block;   // ReadRows waits for other machines
  WorkerPool* large_readers;
  WorkerPool* large_waiters;
  LargeRoom* large_room;                  // null: large requests count like small ones
  sql::SpillSpace* spill = nullptr;       // null: queries put no rows on disk
  IdleWorkers* idle_workers = nullptr;    // read parts of queries; null: each is one thread's work
  const AppProfiles* profiles = nullptr;  // null: each profile allows all

  CallKind Reads() const {
    return {.admission = reads,
            .workers = readers,
            .may_block = true,
            .request_bytes_max = kReadRowsRequestBytesMax,
            .profiles = profiles};
  }
  CallKind Writes() const {
    return {.admission = writes,
            .workers = workers,
            .may_block = writes_block,
            .request_bytes_max = kMessageBytesMax,
            .large_room = large_room,
            .large_waiters = large_waiters,
            .profiles = profiles,
            .use = ProfileUse::kWrite};
  }
  // Kind of the writes that read first.
  CallKind ReadingWrites() const {
    CallKind kind = Writes();
    kind.may_block = true;
    kind.use = ProfileUse::kTransaction;
    return kind;
  }
  CallKind Administration() const { return {administration, workers, true, kAdminRequestBytesMax}; }
  // Kind of the calls that are answered from memory.
  CallKind ShortAdministration() const { return {administration, workers, false, kAdminRequestBytesMax}; }
};

// Checks a request's length before the request comes.  INVALID_ARGUMENT: it is too large for its kind.
// UNAVAILABLE: it would not be let in now.  Takes no room, so that a slow sender keeps nobody out.
absl::Status CheckLength(const CallKind& kind, std::string_view method, size_t bytes);
// Takes the room of a request that has come.  UNAVAILABLE and RESOURCE_EXHAUSTED as Admission::Admit.
inline absl::StatusOr<Admission::Place> Admit(const CallKind& kind, const rpc::MessageBytes& request) {
  return kind.admission->Admit(static_cast<int64_t>(request.size()) + kind.held_bytes);
}

// Runs `request` here with OK, or by a worker if it may block, or if others go first.  A worker may also run it with an error that
// says why it is not done (WorkerPool::Submit).
inline void Run(const CallKind& kind, absl::Time deadline, Priority priority, WorkerPool::Request request) {
  if (kind.may_block || priority != Priority::kHigh)
    return kind.workers->Submit(deadline, std::move(request), priority);
  std::move(request)(absl::OkStatus());
}

class RequestHandler;

// Ends a call, exactly once.  Threads: any.  The call lives until then.
class CallEnd {
 public:
  explicit CallEnd(RequestHandler* handler) : handler_(handler) {}

  rpc::Call* call() const;
  // By the call's app profile.
  Priority priority() const;
  // The call has waited up to this time for its turn.  At most once, before the end.
  void Began(absl::Time time) const;
  void operator()(const absl::Status& status) const;
  void operator()(const absl::Status& status, rpc::Message message) const;
  // `place` is kept until the client has the messages.
  void operator()(const absl::Status& status, std::vector<rpc::Message> messages,
                  Admission::Place place) const;

 private:
  RequestHandler* handler_;
};

// Answers a request.  It is called on the thread of the call's loop, and must not wait there.
using AnswerRequest =
    std::function<void(const CallEnd& end, rpc::MessageBytes request, Admission::Place place)>;

// The common parts of all calls of a method.
struct RequestMethod {
  std::string_view name;  // "MutateRow"; must live as long as the server
  CallKind kind;
  RequestMetrics* metrics;
  AnswerRequest answer;
  ProfileFields profile_fields;  // of its requests
};

// A call with one request and any number of answer messages.  Threads: the loop's, as rpc::Handler says; End
// may be called by any thread.
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
  Priority priority() const { return priority_; }
  // See CallEnd.
  void Began(absl::Time time) { queued_ = std::max(time - came_, absl::ZeroDuration()); }
  void End(const absl::Status& status, std::vector<rpc::Message> messages, Admission::Place place);
  void End(const absl::Status& status, rpc::Message message);

 private:
  void WaitForRoom(int64_t bytes);
  void Count(const absl::Status& status, size_t answer_bytes);
  void WriteNext();

  rpc::Call* const call_;
  const RequestMethod& method_;
  const absl::Time came_ = absl::Now();
  absl::Duration queued_;
  Admission::Place place_;  // the place of a large request that comes in, then of the messages that are sent
  bool is_large_ = false;   // the request is large and has its place
  Priority priority_ = Priority::kHigh;  // known when the request is there
  std::vector<rpc::Message> messages_;
  size_t written_ = 0;
};

inline rpc::Call* CallEnd::call() const { return handler_->call(); }
inline Priority CallEnd::priority() const { return handler_->priority(); }
inline void CallEnd::Began(absl::Time time) const { handler_->Began(time); }
inline void CallEnd::operator()(const absl::Status& status) const { handler_->End(status, rpc::Message()); }
inline void CallEnd::operator()(const absl::Status& status, rpc::Message message) const {
  handler_->End(status, std::move(message));
}
inline void CallEnd::operator()(const absl::Status& status, std::vector<rpc::Message> messages,
                                Admission::Place place) const {
  handler_->End(status, std::move(messages), std::move(place));
}

// Adds the methods of a service to a router.  Not for several threads.
class Service {
 public:
  // `name`: "google.bigtable.v2.Bigtable".
  Service(std::string_view name, RequestMetrics* metrics, rpc::Router* router)
      : name_(name), metrics_(metrics), router_(router) {}

  // `method`: "MutateRow"; must live as long as the server.  Where the kind has app profiles, the method's definition must be in
  // this program, else the calls have none.
  void Add(std::string_view method, const CallKind& kind, AnswerRequest answer);
  void Add(std::string_view method, std::function<std::unique_ptr<rpc::Handler>(rpc::Call*)> make);

  // Adds the method that takes a `Request`.  `handle(request, &response) -> absl::Status` fills its answer; a handle that asks who
  // calls has the call as its first argument.
  template <typename Request, typename Response, typename Handle>
  void AddUnary(const CallKind& kind, Handle handle) {
    AddUnary<Request, Response>(MethodOf<Request>(), kind, std::move(handle));
  }
  // A method whose request is not called after it.
  template <typename Request, typename Response, typename Handle>
  void AddUnary(std::string_view method, const CallKind& kind, Handle handle) {
    Add(method, kind, [kind, handle](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
      auto work = [end, in = std::move(in), place = std::move(place), handle](absl::Status status) mutable {
        end.Began(absl::Now());
        ParsedRequest<Request> request;
        Response response;
        if (status.ok()) status = request.Parse(&in, &place);
        if (!status.ok()) return end(status);
        {
          const CallScope scope(*end.call());
          if constexpr (std::is_invocable_v<Handle, const rpc::Call&, const Request&, Response*>) {
            status = handle(*end.call(), request.message(), &response);
          } else {
            status = handle(request.message(), &response);
          }
        }
        end(status, status.ok() ? ToMessage(response) : rpc::Message());
      };
      Run(kind, end.call()->deadline(), end.priority(), std::move(work));
    });
  }

  // Adds the method that takes a `Request`.  `handle(request, &messages) -> absl::Status` makes its answer
  // messages.
  template <typename Request, typename Handle>
  void AddList(const CallKind& kind, Handle handle) {
    Add(MethodOf<Request>(), kind,
        [kind, handle](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
          auto work = [end, in = std::move(in), place = std::move(place),
                       handle](absl::Status status) mutable {
            end.Began(absl::Now());
            std::vector<rpc::Message> messages;
            {
              ParsedRequest<Request> request;
              const CallScope scope(*end.call());
              if (status.ok()) status = request.Parse(&in, &place);
              if (status.ok()) status = handle(request.message(), &messages);
            }
            end(status, std::move(messages), std::move(place));
          };
          Run(kind, end.call()->deadline(), end.priority(), std::move(work));
        });
  }

 private:
  const std::string name_;
  RequestMetrics* const metrics_;
  rpc::Router* const router_;
};

}  // namespace sonde
