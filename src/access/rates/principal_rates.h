// How much each principal may ask for: reads, writes and bytes a second, and calls that run at a time.
//
// A member of several entries has the limits of the first one.  Each member has its own share; members of a group do not share one.
// The reads and the writes of a second may come at once.  Bytes are counted both ways, as they come and go: a call begins only while
// the bytes before it are within the rate, and what it then takes counts against the next calls, for kDebtMax at most.
//
// Ownership: a Place holds what it needs.
// Threads: all functions may be called at once.
// Cost: a lock and a look-up a call; nothing while there are no entries.
// Source: admin-security-operations.md, 7.5.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "identity/principal.h"

namespace sonde {

// 0: any number.
struct PrincipalLimits {
  int64_t reads_per_second = 0;
  int64_t writes_per_second = 0;
  int64_t bytes_per_second = 0;
  int64_t running_calls = 0;
  bool operator==(const PrincipalLimits&) const = default;
};

struct PrincipalLimitEntry {
  std::vector<std::string> members;  // "group:NAME" among them; empty: whoever is in no entry before
  PrincipalLimits limits;
};

enum class RateKind : uint8_t { kRead, kWrite, kOther };

class PrincipalRates {
  struct Share;

 public:
  static constexpr absl::Duration kDebtMax = absl::Minutes(1);
  // So many members are remembered.  Beyond them, members that ask for nothing are forgotten; while there are none of these, new
  // members have one share together.
  static constexpr size_t kMembersMax = 20'000;

  // A call that runs; it ends with its Place.
  class Place {
   public:
    Place() = default;  // without limits
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) noexcept {
      std::swap(share_, other.share_);
      return *this;
    }
    ~Place();

    // Counts bytes that the call has taken or given.
    void Charge(size_t bytes, absl::Time now) const;
    bool IsCounted() const { return share_ != nullptr; }

   private:
    friend class PrincipalRates;
    explicit Place(std::shared_ptr<Share> share) : share_(std::move(share)) {}
    std::shared_ptr<Share> share_;  // null: without limits
  };

  // Takes the place of the entries before for all calls that begin from now on.
  void Configure(std::vector<PrincipalLimitEntry> entries);

  // RESOURCE_EXHAUSTED, with kTryAgainPayload (base/admission.h): a limit is reached; the message says which.
  absl::StatusOr<Place> Admit(const Principal& principal, RateKind kind, absl::Time now);

  // Counts a write of a call that was let in as a read.  RESOURCE_EXHAUSTED, as Admit: the rate of writes is reached.
  absl::Status CountWrite(const Place& place, absl::Time now);

  // Calls that were refused.
  int64_t refused_calls() const { return refused_calls_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<Share> FindShare(const Principal& principal, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  PrincipalLimits LimitsOf(const Principal& principal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> has_entries_ = false;
  std::atomic<int64_t> refused_calls_ = 0;
  absl::Mutex mutex_;
  std::vector<PrincipalLimitEntry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;                                          // of entries_
  absl::flat_hash_map<std::string, std::shared_ptr<Share>> shares_ ABSL_GUARDED_BY(mutex_);  // by member
  absl::Time swept_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace sonde
