// One client of a benchmark: one thread that keeps several calls under way.
//
// Calls go through a completion queue and not through blocking stubs: with 16 unary calls under way, against
// a server that does nothing, two such clients took 42 us of CPU a call and 16 blocking threads 60 us,
// because a blocking call makes a queue of its own and sleeps and wakes for its answer.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/histogram.h"

namespace sonde::bench {

// One call after the other, by the same object, which keeps its memory.  The tag of its events is the object.
class Call {
 public:
  virtual ~Call() = default;
  // Starts the next call; false when there is nothing left to do.
  virtual bool Begin(grpc::CompletionQueue* queue) = 0;
  // Takes an event; true: the call has ended, and well.  After an error it has ended too.
  virtual absl::StatusOr<bool> Advance(bool ok) = 0;
};

// Runs all calls at a time, each again and again, until none has anything left to do or one fails.  Adds the
// microseconds of each call to *latency_us.  The first error.
absl::Status RunCalls(const std::vector<std::unique_ptr<Call>>& calls, Histogram* latency_us);

// A call with one request and a stream of responses.
template <typename Response>
class StreamCall : public Call {
 public:
  bool Begin(grpc::CompletionQueue* queue) final;
  absl::StatusOr<bool> Advance(bool ok) final;

 protected:
  using Reader = grpc::ClientAsyncReaderInterface<Response>;
  // The next call, started, with this object as its tag; null when there is nothing left to do.
  virtual std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) = 0;
  virtual absl::Status Take(const Response& response) = 0;
  // The stream ended well; the call's own word on that.
  virtual absl::Status End() { return absl::OkStatus(); }

 private:
  enum class State { kStarting, kReading, kFinishing };

  State state_ = State::kStarting;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<Reader> reader_;
  Response response_;
  grpc::Status grpc_status_;
  absl::Status status_;
};

absl::Status CallError(const grpc::Status& status);

template <typename Response>
bool StreamCall<Response>::Begin(grpc::CompletionQueue* queue) {
  reader_.reset();
  context_.emplace();
  status_ = absl::OkStatus();
  state_ = State::kStarting;
  reader_ = Open(&*context_, queue);
  return reader_ != nullptr;
}

template <typename Response>
absl::StatusOr<bool> StreamCall<Response>::Advance(bool ok) {
  if (state_ == State::kFinishing) {
    if (!status_.ok()) return status_;
    if (!grpc_status_.ok()) return CallError(grpc_status_);
    if (absl::Status end = End(); !end.ok()) return end;
    return true;
  }
  if (state_ == State::kReading && ok) {
    status_ = Take(response_);
    if (!status_.ok()) {
      context_->TryCancel();
      ok = false;
    }
  }
  if (ok) {
    state_ = State::kReading;
    reader_->Read(&response_, static_cast<Call*>(this));
  } else {
    state_ = State::kFinishing;
    reader_->Finish(&grpc_status_, static_cast<Call*>(this));
  }
  return false;
}

}  // namespace sonde::bench
