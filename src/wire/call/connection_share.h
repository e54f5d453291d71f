// The share that one connection has of all reads.  While reads take half of what there is for them, one connection has a quarter at
// most: what it leaves to its stalled reads must not be all that others need.
//
// Threads: not for several threads; those of one connection may be used at once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "base/admission.h"
#include "rpc/call.h"
#include "wire/call/calls.h"

namespace sonde {

// The share that one read takes of its connection.  It is given back at the end of the read.
class ConnectionShare {
 public:
  // `call` must outlive this.
  explicit ConnectionShare(rpc::Call* call) : call_(call) {}
  ~ConnectionShare() {
    if (is_taken_) call_->connection_tally().fetch_sub(1, std::memory_order_relaxed);
  }
  ConnectionShare(const ConnectionShare&) = delete;
  ConnectionShare& operator=(const ConnectionShare&) = delete;

  // Called once.  UNAVAILABLE: this connection has its share of all reads.
  absl::Status Take(const CallKind& kind) {
    const Admission::Limits& limits = kind.admission->limits();
    const int64_t share = std::min(limits.requests, limits.bytes / kind.held_bytes) / kConnectionShare;
    const int64_t others = call_->connection_tally().fetch_add(1, std::memory_order_relaxed);
    is_taken_ = true;
    if (others <= share || kind.admission->Load() < kBusyLoad) return absl::OkStatus();
    return absl::UnavailableError(
        fmt::format("The server is busy: {} reads of this connection are under way, and while there are many "
                    "the limit is {}; nothing was done, try again",
                    others, share));
  }

 private:
  static constexpr double kBusyLoad = 0.5;
  static constexpr int64_t kConnectionShare = 4;

  rpc::Call* const call_;
  bool is_taken_ = false;
};

}  // namespace sonde
