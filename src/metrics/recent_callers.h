// Who calls which methods of what, of late: for people who want to know where a load comes from.
//
// Threads: all functions may be called at once.  Of a second's calls the first kWholeSecond are counted one by one; of
// further ones each kSampled-th stands for so many.  Cost of a call: some atomic operations; of one that is counted, a look-up.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

struct RecentCaller {
  std::string method;     // "MutateRows", "POST /write"
  std::string resource;   // the name of what is asked for; empty: not known
  std::string principal;  // as policies name it; empty: nobody was asked
  std::string client;     // its address
  std::string agent;      // the program, as it names itself; empty: it does not

  auto operator<=>(const RecentCaller&) const = default;
};

class RecentCallers {
 public:
  static constexpr int kMinutesKept = 10;
  // Of a minute; further ones are counted together, without a resource, a client and an agent.
  static constexpr size_t kCallersMax = 500;
  static constexpr uint64_t kWholeSecond = 256;
  static constexpr uint64_t kSampled = 32;
  // Longer texts are cut.
  static constexpr size_t kTextBytesMax = 256;

  // For how many calls one that ends now stands; 0: it is not to be counted.
  uint64_t Weigh(absl::Time now);
  void Add(RecentCaller caller, uint64_t calls, absl::Time now);

  struct Counted {
    RecentCaller caller;
    uint64_t calls = 0;  // within kMinutesKept
    absl::Time last;     // when the last one was counted
  };
  // Those with the most calls first.
  std::vector<Counted> List(absl::Time now) const;

 private:
  struct Count {
    uint64_t calls = 0;
    absl::Time last;
  };
  struct Minute {
    int64_t number = 0;  // since 1970
    std::map<RecentCaller, Count> callers;
  };

  std::atomic<int64_t> second_ = 0;
  std::atomic<uint64_t> calls_of_second_ = 0;
  mutable absl::Mutex mutex_;
  std::deque<Minute> minutes_ ABSL_GUARDED_BY(mutex_);  // ascending
};

}  // namespace sonde
