// How a request becomes an answer: parsed from its bytes, worked on where it may block, answered once.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

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
#include "wire/grpc_status.h"
#include "wire/stalled_reads.h"
#include "wire/step_cost.h"
#include "wire/worker_pool.h"

namespace sonde {

class ListCommitter;
class Receptions;
class RowCommitter;

// What parsing a request may make of it: messages and strings in it (RequestParts), ten for each mutation
// that a request may have.
constexpr size_t kRequestPartsMax = 10 * kMutationsPerRequestMax;

// A request that is smaller can become a few megabytes at most, whatever is in it, and is not counted.
constexpr size_t kUncountedBytesMax = 64 * 1024;

// Of a call of the administration.  An authorized view, whose definition is the largest, may have 1.7 MB.
constexpr size_t kAdminRequestBytesMax = 4 << 20;

// Before anything is made of a request whose kind has room for what is large, and which is: waits for its
// turn, as long as the call stands.  Does nothing when it has its place, or needs none.  Errors: those of
// LargeRoom::Take.
absl::Status TakeLargeRoom(const grpc::ByteBuffer& bytes, const grpc::CallbackServerContext* context,
                           LargeRoom* room, Admission::Place* place);

// Whether it may have to wait there.
inline bool IsLarge(const grpc::ByteBuffer& bytes) {
  return static_cast<int64_t>(bytes.Length()) >= kLargeBytes;
}

// Makes `message` of `bytes`, which are freed; a large one's `place` grows by what its parts take.
// INVALID_ARGUMENT: no such message, too many parts, nested too deep.  UNAVAILABLE: no room for the parts.
absl::Status ParseRequest(grpc::ByteBuffer* bytes, Admission::Place* place,
                          google::protobuf::Message* message);

// A request message on an arena of its own.
template <typename Request>
class ParsedRequest {
 public:
  absl::Status Parse(grpc::ByteBuffer* bytes, Admission::Place* place) {
    return ParseRequest(bytes, place, message_);
  }
  const Request& message() const { return *message_; }

 private:
  google::protobuf::Arena arena_;
  Request* message_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
};

// Takes the bytes over, without copying them.
grpc::ByteBuffer ToByteBuffer(std::string bytes);
// One message of all of them.
grpc::ByteBuffer ToByteBuffer(std::vector<std::string> blocks);
inline grpc::ByteBuffer ToByteBuffer(const google::protobuf::Message& message) {
  return ToByteBuffer(message.SerializeAsString());
}

absl::Time DeadlineOf(const grpc::CallbackServerContext& context);

// Metadata that clients look for: how long the server took, in front of the answer, and which cluster it was,
// in front and behind (the Node client reads the latter only behind).  A request for a table that is not
// there (kNoTablePayload) has no cluster.  Before the answer begins; `status`: as far as it is known by then.
void AddServerMetadata(grpc::CallbackServerContext* context, absl::Time request_came,
                       const absl::Status& status);
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
  int64_t held_bytes = 0;           // taken for each, beside its request
  LargeRoom* large_room = nullptr;  // null: large requests count as others
  Receptions* receptions = nullptr;
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
  RowCommitter* committer;
  ListCommitter* list_committer;
  RequestMetrics* metrics;
  bool writes_block;  // those of many rows: they wait for the disk
  WorkerPool* large_readers;
  LargeRoom* large_room;   // null: what is large counts as what is not
  Receptions* receptions;  // of writes

  CallKind Reads() const { return {reads, readers, true, kReadRowsRequestBytesMax}; }
  CallKind Writes() const {
    return {writes, workers, writes_block, kMessageBytesMax, 0, large_room, receptions};
  }
  // Of writes that read first.
  CallKind ReadingWrites() const {
    return {writes, workers, true, kMessageBytesMax, 0, large_room, receptions};
  }
  CallKind Administration() const { return {administration, workers, true, kAdminRequestBytesMax}; }
  // What is answered from memory.
  CallKind ShortAdministration() const { return {administration, workers, false, kAdminRequestBytesMax}; }
};

// A request's room.  INVALID_ARGUMENT: it is too large for its kind; UNAVAILABLE and RESOURCE_EXHAUSTED as
// Admission says; then it is freed.
absl::StatusOr<Admission::Place> Admit(const CallKind& kind, std::string_view method,
                                       grpc::ByteBuffer* request);

// Runs `request` with OK here, or among the workers if it may block; or with why it is not done.
inline void Run(const CallKind& kind, absl::Time deadline, WorkerPool::Request request) {
  if (kind.may_block) return kind.workers->Submit(deadline, std::move(request));
  std::move(request)(absl::OkStatus());
}

// Ends a unary call, once; from any thread.
struct UnaryEnd {
  grpc::CallbackServerContext* context;
  RequestMetrics* metrics;
  std::string_view method;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::Time came = absl::Now();

  void operator()(const absl::Status& status) const {
    AddServerMetadata(context, came, status);
    metrics->Record(method, status.code(), absl::ToInt64Microseconds(absl::Now() - came));
    reactor->Finish(ToGrpc(status));
  }
};

// Answers a unary call with what `handle(request, &response) -> absl::Status` says.
template <typename Request, typename Response, typename Handle>
grpc::ServerUnaryReactor* AnswerUnary(grpc::CallbackServerContext* context, grpc::ByteBuffer* in,
                                      grpc::ByteBuffer* out, const CallKind& kind, RequestMetrics* metrics,
                                      Handle handle) {
  const UnaryEnd finish{context, metrics, MethodOf<Request>()};
  absl::StatusOr<Admission::Place> place = Admit(kind, MethodOf<Request>(), in);
  if (!place.ok()) {
    finish(place.status());
    return finish.reactor;
  }
  auto work = [in, out, finish, context, large_room = kind.large_room, place = *std::move(place),
               handle = std::move(handle)](absl::Status status) mutable {
    ParsedRequest<Request> request;
    Response response;
    if (status.ok()) status = TakeLargeRoom(*in, context, large_room, &place);
    if (status.ok()) status = request.Parse(in, &place);
    if (status.ok()) status = handle(request.message(), &response);
    if (status.ok()) *out = ToByteBuffer(response);
    finish(status);
  };
  Run(kind, DeadlineOf(*context), std::move(work));
  return finish.reactor;
}

// Answers a call with a list of messages.
class ListReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  // Once; from any thread.  `place` is kept until the client has the messages.
  void Answer(absl::Status status, std::vector<grpc::ByteBuffer> messages, Admission::Place place);

  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }  // nothing above takes long

 private:
  void WriteNext();

  Admission::Place place_;
  std::vector<grpc::ByteBuffer> messages_;
  size_t written_ = 0;
};

// Ends a call that is answered with a list, once; from any thread.
struct ListEnd {
  grpc::CallbackServerContext* context;
  RequestMetrics* metrics;
  std::string_view method;
  ListReactor* reactor = new ListReactor();
  absl::Time came = absl::Now();

  // As ListReactor::Answer.
  void operator()(const absl::Status& status, std::vector<grpc::ByteBuffer> messages,
                  Admission::Place place) const {
    AddServerMetadata(context, came, status);
    metrics->Record(method, status.code(), absl::ToInt64Microseconds(absl::Now() - came));
    reactor->Answer(status, std::move(messages), std::move(place));
  }
};

// Answers a call with the messages that `handle(request, &messages) -> absl::Status` makes.
template <typename Request, typename Handle>
grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerList(grpc::CallbackServerContext* context,
                                                       grpc::ByteBuffer* in, const CallKind& kind,
                                                       RequestMetrics* metrics, Handle handle) {
  const ListEnd finish{context, metrics, MethodOf<Request>()};
  absl::StatusOr<Admission::Place> place = Admit(kind, MethodOf<Request>(), in);
  if (!place.ok()) {
    finish(place.status(), {}, {});
    return finish.reactor;
  }
  auto work = [in, finish, place = *std::move(place),
               handle = std::move(handle)](absl::Status status) mutable {
    std::vector<grpc::ByteBuffer> messages;
    {
      ParsedRequest<Request> request;
      if (status.ok()) status = request.Parse(in, &place);
      if (status.ok()) status = handle(request.message(), &messages);
    }
    finish(status, std::move(messages), std::move(place));
  };
  Run(kind, DeadlineOf(*context), std::move(work));
  return finish.reactor;
}

}  // namespace sonde
