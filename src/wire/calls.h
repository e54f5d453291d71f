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
#include "absl/time/time.h"
#include "wire/grpc_status.h"
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

// What to answer when the queue is full: nothing was done.
absl::Status Overloaded();

// Runs `work` here, or among the workers if it may block.  False: there is no room; nothing was run.
[[nodiscard]] inline bool Run(WorkerPool* workers, bool may_block, std::function<void()> work) {
  if (may_block) return workers->Submit(std::move(work));
  work();
  return true;
}

// Answers a unary call with what `handle(request, &response) -> absl::Status` says.
template <typename Request, typename Response, typename Handle>
grpc::ServerUnaryReactor* AnswerUnary(grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                      grpc::ByteBuffer* out, WorkerPool* workers, bool may_block,
                                      Handle handle) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  auto work = [in, out, reactor, handle = std::move(handle)] {
    ParsedRequest<Request> request;
    Response response;
    absl::Status status = request.Parse(*in);
    if (status.ok()) status = handle(request.message(), &response);
    if (status.ok()) *out = ToByteBuffer(response);
    reactor->Finish(ToGrpc(status));
  };
  if (!Run(workers, may_block, std::move(work))) reactor->Finish(ToGrpc(Overloaded()));
  return reactor;
}

// The same for a typed call (the administration's, where speed does not matter).
template <typename Request, typename Response, typename Handle>
grpc::ServerUnaryReactor* AnswerTyped(grpc::CallbackServerContext* context, const Request* request,
                                      Response* response, WorkerPool* workers, Handle handle) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  auto work = [=, handle = std::move(handle)] { reactor->Finish(ToGrpc(handle(*request, response))); };
  if (!workers->Submit(std::move(work))) reactor->Finish(ToGrpc(Overloaded()));
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

}  // namespace sonde
