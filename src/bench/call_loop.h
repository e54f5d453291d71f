// One client of a benchmark: one thread that keeps several calls under way.
//
// Calls go through a completion queue and not through blocking stubs: with 16 unary calls under way, against
// a server that does nothing, two such clients took 42 us of CPU a call and 16 blocking threads 60 us,
// because a blocking call makes a queue of its own and sleeps and wakes for its answer.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/histogram.h"
#include "client/grpc_status.h"

namespace sonde::bench {

// One call after the other, by the same object, which keeps its memory.  The tag of its events is the object.
class Call {
 public:
  virtual ~Call() = default;
  // Makes the next request; false when there is nothing left to do.
  virtual bool Next() = 0;
  // Starts the call with it; again, when the server has refused it.
  virtual void Start(grpc::CompletionQueue* queue) = 0;
  // Takes an event; true: the call has ended, and well.  After an error it has ended too.
  virtual absl::StatusOr<bool> Advance(bool ok) = 0;
  // After an error: when the server wants to see the same request again, if it does.
  virtual std::optional<std::chrono::milliseconds> retry_delay() const = 0;
};

// Runs all calls at a time, each again and again, until none has anything left to do or one fails.  A request
// that the server refuses for now, as a server does whose disk keeps it waiting, is made again, for
// kRetrySeconds, as official clients do.  Adds the microseconds of each request to *latency_us, with all that
// it took, and to *refused how often one was made again.  The first error.
constexpr int kRetrySeconds = 30;
absl::Status RunCalls(const std::vector<std::unique_ptr<Call>>& calls, Histogram* latency_us,
                      uint64_t* refused);

// A call with one request and a stream of responses.
template <typename Response>
class StreamCall : public Call {
 public:
  void Start(grpc::CompletionQueue* queue) final;
  absl::StatusOr<bool> Advance(bool ok) final;
  std::optional<std::chrono::milliseconds> retry_delay() const final { return retry_delay_; }

 protected:
  using Reader = grpc::ClientAsyncReaderInterface<Response>;
  // A call with the request that Next made, started, with this object as its tag.
  virtual std::unique_ptr<Reader> Open(grpc::ClientContext* context, grpc::CompletionQueue* queue) = 0;
  // Sets *retry_delay when the error is one for now.
  virtual absl::Status Take(const Response& response,
                            std::optional<std::chrono::milliseconds>* retry_delay) = 0;
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
  std::optional<std::chrono::milliseconds> retry_delay_;
};

absl::Status CallError(const grpc::Status& status);

template <typename Response>
void StreamCall<Response>::Start(grpc::CompletionQueue* queue) {
  reader_.reset();
  context_.emplace();
  status_ = absl::OkStatus();
  retry_delay_.reset();
  state_ = State::kStarting;
  reader_ = Open(&*context_, queue);
}

template <typename Response>
absl::StatusOr<bool> StreamCall<Response>::Advance(bool ok) {
  if (state_ == State::kFinishing) {
    if (!status_.ok()) return status_;
    if (!grpc_status_.ok()) {
      retry_delay_ = RetryDelay(grpc_status_);
      return CallError(grpc_status_);
    }
    if (absl::Status end = End(); !end.ok()) return end;
    return true;
  }
  if (state_ == State::kReading && ok) {
    status_ = Take(response_, &retry_delay_);
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
