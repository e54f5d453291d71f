// Requests that are on their way in.  gRPC takes a request in as a whole, and says nothing of its length
// until all of it is there, so that many that are large can take more memory than there is.  Methods whose
// requests may be large begin here: whoever comes late can be refused in the midst of it, with a code that
// clients know, which frees what has come.
//
// A request that is there at once, as most are, takes no other way than it does with gRPC's own handlers.
//
// Threads: all functions may be called at once.
#pragma once

#include <grpcpp/impl/rpc_service_method.h>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sonde {

class Receptions {
 public:
  Receptions() = default;
  Receptions(const Receptions&) = delete;
  Receptions& operator=(const Receptions&) = delete;

  // A handler of a method that is a stream for gRPC (RpcMethod::BIDI_STREAMING), which receives the request
  // and then runs `inner`, a callback handler of requests that are bytes.  Must go before this.
  std::unique_ptr<grpc::internal::MethodHandler> Receive(
      std::unique_ptr<grpc::internal::MethodHandler> inner);

  // Refuses the younger half of those that have been on their way for `age`; how many they are.
  // `keeps_oldest`: of one that is alone, none.  They are answered by their handlers, which learn that from
  // Refusal.
  size_t RefuseYoungest(absl::Duration age, bool keeps_oldest, const absl::Status& why);

  // While a handler runs: why its request is refused, or null.  Its request is empty then.
  static const absl::Status* Refusal();

  size_t count() const;

 private:
  class Handler;
  struct Call;
  // Whether it is still to be answered.
  bool Leave(Call* call);

  mutable std::mutex mutex_;
  std::list<Call*> calls_;  // guarded by mutex_; the oldest is first
};

}  // namespace sonde
