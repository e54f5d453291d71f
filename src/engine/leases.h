// Work that one of several servers of a store does: each name is held by one of them at a time.
//
// Whoever holds a name goes by that for the time that Hold says, and calls Hold again before.  In that time it may begin changes of the
// store that nobody else may make; their calls must end soon after it (WriteOptions::deadline).  When a server is gone, another one gets its
// names some seconds later.
//
// Threads: all functions may be called at once, but for a name by one thread at a time.
// Errors: those of row_store.h.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

class Leases {
 public:
  // Takes a name that nobody holds, or goes on to hold it.  Returns for how long from now the caller may go by it; zero: it does not
  // hold the name.
  virtual absl::StatusOr<absl::Duration> Hold(std::string_view name,
                                              absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Gives a name back: others need not wait.  The caller's changes have ended.
  virtual absl::Status Release(std::string_view name, absl::Time deadline = absl::InfiniteFuture()) = 0;

 protected:
  ~Leases() = default;
};

}  // namespace sonde
