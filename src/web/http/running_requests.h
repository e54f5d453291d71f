// The requests that handlers of the HTTP port work at, and the way to end one.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

struct RunningRequest {
  std::string name;       // RequestTag::id: the client's, or the server's own
  std::string method;     // "POST /api/v1/sql"
  std::string peer;       // the client's address
  std::string principal;  // as policies name it; empty: nobody was asked
  absl::Time came;
};

class RunningRequests {
 public:
  // Adds a request; `is_cancelled` becomes true when it is to end.  Returns its number, for Leave.
  uint64_t Enter(RunningRequest request, std::shared_ptr<std::atomic<bool>> is_cancelled);
  void Leave(uint64_t number);

  // The first to come first.
  std::vector<RunningRequest> List() const;
  // Asks those of this name to end.  Returns false if there is none.
  bool Cancel(const std::string& name);

 private:
  struct One {
    RunningRequest request;
    std::shared_ptr<std::atomic<bool>> is_cancelled;
  };
  mutable absl::Mutex mutex_;
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, One> requests_ ABSL_GUARDED_BY(mutex_);  // by number, which ascends as they come
};

}  // namespace sonde
