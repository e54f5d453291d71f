// The slowest calls of late: those that took a threshold or more, and the slowest of each minute.
//
// A call is known by what it asked of which table and by what it cost; nothing of its keys, values and filters' texts is here.
// Threads: all functions may be called at once.  Cost of a call that is quick: two loads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

// What a call has cost, as far as its handler knows.
struct CallCost {
  absl::Duration queued = {};   // it waited for a thread, for its turn or for room
  absl::Duration untaken = {};  // it waited for its client to take what was sent
  int64_t rows_seen = 0;        // that were looked at
  int64_t rows = 0;             // that were returned
  int64_t cells_seen = 0;
  int64_t cells = 0;
  int64_t bytes_seen = 0;  // of the cells that were looked at: qualifiers and values
  int64_t bytes = 0;       // of the answer
  // Pages that were opened, and blocks that were read as no cache had them.  nullopt: nobody counts.
  std::optional<int64_t> pages = {};
  std::optional<int64_t> block_reads = {};
};

struct SlowCall {
  absl::Time ended;
  absl::Duration took;
  std::string method;  // "ReadRows", "POST /api/v1/sql"
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string request = {};  // the id and the trace of the call (work/request_tag.h)
  std::string trace = {};
  std::string
      resource;  // the name of what was asked for, as the client's routing header or the request has it
  std::string app_profile;  // empty: the default one
  std::string principal;    // as policies name it; empty: nobody was asked
  std::string
      filter;  // its shape: "chain(family_name_regex_filter,cells_per_column_limit_filter)"; empty: none, or not known
  CallCost cost = {};

  // The engine had so much of its time: it read, filtered, wrote, and made the answer.
  absl::Duration engine() const { return std::max(took - cost.queued - cost.untaken, absl::ZeroDuration()); }
};

class SlowCalls {
 public:
  static constexpr size_t kCallsMax = 1'000;
  static constexpr size_t kOfMinuteMax = 10;
  // Longer texts are cut.
  static constexpr size_t kTextBytesMax = 512;

  // Calls that take so long are slow.  At first half a second.
  void SetThreshold(absl::Duration threshold);

  // Whether Record would keep such a call; most are not worth making a SlowCall of.
  bool Wants(absl::Duration took, absl::Time now) const;
  void Record(SlowCall call);

  // What is kept, the last to end first.
  std::vector<SlowCall> List() const;

 private:
  void Keep(SlowCall call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndMinute(int64_t minute) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<int64_t> threshold_micros_ = 500'000;
  std::atomic<int64_t> minute_ = 0;        // since 1970
  std::atomic<int64_t> floor_micros_ = 0;  // a call of this minute must take longer to be one of its slowest
  mutable absl::Mutex mutex_;
  std::vector<SlowCall> of_minute_ ABSL_GUARDED_BY(mutex_);  // below the threshold, the slowest first
  std::deque<SlowCall> calls_ ABSL_GUARDED_BY(mutex_);       // the oldest first
};

}  // namespace sonde
