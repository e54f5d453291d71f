// grpc.health.v1.Health: whether the server wants calls, for programs that watch over it.  All services are SERVING until the
// server drains, and NOT_SERVING from then on.
//
// Its messages have one field each, which are read and written here: HealthCheckRequest.service = 1, a
// string; HealthCheckResponse.status = 1, an enumeration.
#pragma once

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/admission.h"
#include "rpc/call.h"

namespace sonde {

// One watch of health, as HealthState knows it.
class HealthListener {
 public:
  virtual void TellServing(bool is_serving) = 0;

 protected:
  ~HealthListener() = default;
};

// HealthState says whether the server wants calls.  It is serving at first.
//
// Threads: all functions may be called at once.  Listeners are told under the lock, so a listener that has left is not told any more.
class HealthState {
 public:
  // From now on the answer is NOT_SERVING.  All watches are told.
  void StopServing();

  // Tells the listener the state, and each change of the state until Leave.
  void Enter(HealthListener* listener);
  void Leave(HealthListener* listener);
  bool is_serving() const;

 private:
  mutable absl::Mutex mutex_;
  bool is_serving_ ABSL_GUARDED_BY(mutex_) = true;
  std::set<HealthListener*> listeners_ ABSL_GUARDED_BY(mutex_);
};

// Check and Watch answer for the server as a whole ("") and for each service (kServiceNames).  For other
// names Check says NOT_FOUND and Watch says SERVICE_UNKNOWN.  A watch lasts until its client or the server
// ends it. A watch over the limits of `watches` is UNAVAILABLE.  `watches` and `state` must outlive the router.
void AddHealthService(HealthState* state, Admission* watches, rpc::Router* router);

}  // namespace sonde
