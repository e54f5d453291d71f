// How a request becomes an answer: parsed from its bytes, worked on where it may block, answered once.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "metrics/request_metrics.h"
#include "wire/grpc_status.h"
#include "wire/stalled_reads.h"
#include "wire/step_cost.h"
#include "wire/worker_pool.h"

namespace sonde {

// A request message on an arena of its own.
template <typename Request>
class ParsedRequest {
 public:
  absl::Status Parse(const grpc::ByteBuffer& bytes) {
    grpc::ByteBuffer copy(bytes);  // shares the bytes; the reader wants one that it may change
    grpc::ProtoBufferReader reader(&copy);
    if (message_->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
    return absl::InvalidArgumentError("The request is not a " + Request::descriptor()->full_name());
  }
  const Request& message() const { return *message_; }

 private:
  google::protobuf::Arena arena_;
  Request* message_ = google::protobuf::Arena::CreateMessage<Request>(&arena_);
};

// Takes the bytes over, without copying them.
grpc::ByteBuffer ToByteBuffer(std::string bytes);
inline grpc::ByteBuffer ToByteBuffer(const google::protobuf::Message& message) {
  return ToByteBuffer(message.SerializeAsString());
}

absl::Time DeadlineOf(const grpc::CallbackServerContext& context);

// Headers that clients look for: how long the server took, and which cluster it was.  Before the answer
// begins.
void AddServerHeaders(grpc::CallbackServerContext* context, absl::Time request_came);

// "ReadRows" of its request message.
template <typename Request>
std::string_view MethodOf() {
  static const std::string method(absl::StripSuffix(Request::descriptor()->name(), "Request"));
  return method;
}

// What to answer when there is no room for the next part of a call.
absl::Status Overloaded();

// What the calls of a server share.  Nothing is owned.
struct CallResources {
  WorkerPool* workers;
  WorkerPool* readers;
  Admission* reads;
  Admission* writes;
  StalledReads* stalled_reads;
  StepCost* read_cost;
  RequestMetrics* metrics;
  bool writes_block;  // they wait for the disk
};

// Runs `request` with OK here, or among the workers if it may block; or with why it is not done.
inline void Run(WorkerPool* workers, bool may_block, absl::Time deadline, WorkerPool::Request request) {
  if (may_block) return workers->Submit(deadline, std::move(request));
  std::move(request)(absl::OkStatus());
}

// Answers a unary call with what `handle(request, &response) -> absl::Status` says.
template <typename Request, typename Response, typename Handle>
grpc::ServerUnaryReactor* AnswerUnary(grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                      grpc::ByteBuffer* out, Admission* admission, WorkerPool* workers,
                                      RequestMetrics* metrics, bool may_block, Handle handle) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Admission::Place> place = admission->Admit(static_cast<int64_t>(in->Length()));
  if (!place.ok()) {
    metrics->Record(MethodOf<Request>(), place.status().code(), 0);
    reactor->Finish(ToGrpc(place.status()));
    return reactor;
  }
  auto work = [context, in, out, reactor, metrics, came = absl::Now(), place = *std::move(place),
               handle = std::move(handle)](absl::Status status) {
    ParsedRequest<Request> request;
    Response response;
    if (status.ok()) status = request.Parse(*in);
    if (status.ok()) status = handle(request.message(), &response);
    if (status.ok()) *out = ToByteBuffer(response);
    AddServerHeaders(context, came);
    metrics->Record(MethodOf<Request>(), status.code(), absl::ToInt64Microseconds(absl::Now() - came));
    reactor->Finish(ToGrpc(status));
  };
  Run(workers, may_block, DeadlineOf(*context), std::move(work));
  return reactor;
}

// The same for a typed call (the administration's, where speed does not matter).
template <typename Request, typename Response, typename Handle>
grpc::ServerUnaryReactor* AnswerTyped(grpc::CallbackServerContext* context, const Request* request,
                                      Response* response, const CallResources& resources, Handle handle) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  RequestMetrics* const metrics = resources.metrics;
  resources.workers->Submit(
      DeadlineOf(*context), [=, came = absl::Now(), handle = std::move(handle)](absl::Status status) {
        if (status.ok()) status = handle(*request, response);
        metrics->Record(MethodOf<Request>(), status.code(), absl::ToInt64Microseconds(absl::Now() - came));
        reactor->Finish(ToGrpc(status));
      });
  return reactor;
}

// Answers a call with a list of messages.
class ListReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  // Once; from any thread.
  void Answer(absl::Status status, std::vector<grpc::ByteBuffer> messages);

  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }  // nothing above takes long

 private:
  void WriteNext();

  std::vector<grpc::ByteBuffer> messages_;
  size_t written_ = 0;
};

// Answers a call with the messages that `handle(request, &messages) -> absl::Status` makes.
template <typename Request, typename Handle>
grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerList(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* in, Admission* admission,
                                                       WorkerPool* workers, RequestMetrics* metrics,
                                                       bool may_block, Handle handle) {
  auto* reactor = new ListReactor();
  absl::StatusOr<Admission::Place> place = admission->Admit(static_cast<int64_t>(in->Length()));
  if (!place.ok()) {
    metrics->Record(MethodOf<Request>(), place.status().code(), 0);
    reactor->Answer(place.status(), {});
    return reactor;
  }
  auto work = [context, in, reactor, metrics, came = absl::Now(), place = *std::move(place),
               handle = std::move(handle)](absl::Status status) {
    ParsedRequest<Request> request;
    std::vector<grpc::ByteBuffer> messages;
    if (status.ok()) status = request.Parse(*in);
    if (status.ok()) status = handle(request.message(), &messages);
    AddServerHeaders(context, came);
    metrics->Record(MethodOf<Request>(), status.code(), absl::ToInt64Microseconds(absl::Now() - came));
    reactor->Answer(status, std::move(messages));
  };
  Run(workers, may_block, DeadlineOf(*context), std::move(work));
  return reactor;
}

}  // namespace sonde
