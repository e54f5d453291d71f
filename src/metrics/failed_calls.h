// The calls that failed last, with what they were told.
//
// A message may name a key or a value, as the client that gets it sent it: show messages only to those who may look at the server.
//
// Threads: all functions may be called at once.  A call that succeeds costs nothing here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

struct FailedCall {
  absl::Time ended;
  std::string method;  // "ReadRows", "POST /api/v1/sql"
  absl::StatusCode code = absl::StatusCode::kUnknown;
  std::string message;
  std::string request = {};    // the id of the call (work/request_tag.h)
  std::string resource = {};   // the name of what was asked for; empty: not known
  std::string principal = {};  // as policies name it; empty: nobody was asked
  std::string client = {};     // its address
  uint64_t times = 1;          // so many calls failed alike, of which this is the last
};

class FailedCalls {
 public:
  static constexpr size_t kCallsMax = 50;
  // Longer texts are cut.
  static constexpr size_t kTextBytesMax = 512;

  // A call that is like one of the list, but for its time and its id, takes that one's place and is counted: a client that
  // fails again and again does not hide the others.
  void Record(FailedCall call);

  // What is kept, the last to end first.
  std::vector<FailedCall> List() const;

 private:
  mutable absl::Mutex mutex_;
  std::deque<FailedCall> calls_ ABSL_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace sonde
