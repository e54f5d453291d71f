#include "access/rates/principal_rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/admission.h"

namespace sonde {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);
// The share of members beyond kMembersMax; no member has this name.
constexpr char kOthers[] = "*";

// A rate of so many a second: `whole` is the time when nothing of the last second counts any more.
struct Rate {
  absl::Time whole = absl::InfinitePast();

  // Counts `amount` that is there already.
  void Charge(int64_t amount, int64_t per_second, absl::Time now) {
    whole = std::min(std::max(whole, now) + kSecond * (static_cast<double>(amount) / per_second),
                     now + PrincipalRates::kDebtMax);
  }
  // Whether one more is within the rate, which is then counted.
  bool Take(int64_t per_second, absl::Time now) {
    // A clock that was set back by more than a second leaves nobody waiting.  Calls that come out of the order of their times, by
    // less than that, find the rate as it is.
    if (whole > now + 2 * kSecond) whole = now;
    const absl::Time after = std::max(whole, now) + kSecond / per_second;
    if (after > now + kSecond) return false;
    whole = after;
    return true;
  }
};

absl::Status RateIsUsedUp(const std::string& member, int64_t per_second, std::string_view what) {
  absl::Status status = absl::ResourceExhaustedError(
      fmt::format("The quota of {} {} a second that {} has is used up; nothing was done, try again",
                  per_second, what, member));
  status.SetPayload(kTryAgainPayload, absl::Cord());
  return status;
}

}  // namespace

// The use that one member makes of his limits.
struct PrincipalRates::Share {
  explicit Share(std::string name) : member(std::move(name)) {}

  // Counts a call that begins, or says which limit it would break.
  absl::Status Begin(RateKind kind, absl::Time now) {
    const absl::MutexLock lock(&mutex);
    if (limits.running_calls > 0 && running_calls >= limits.running_calls) {
      absl::Status status = absl::ResourceExhaustedError(
          fmt::format("{} has {} calls under way and the limit is {}; nothing was done, try again", member,
                      running_calls, limits.running_calls));
      status.SetPayload(kTryAgainPayload, absl::Cord());
      return status;
    }
    if (limits.bytes_per_second > 0) {
      bytes.whole = std::min(bytes.whole, now + kDebtMax);
      if (bytes.whole > now + kSecond) return RateIsUsedUp(member, limits.bytes_per_second, "bytes");
    }
    if (kind == RateKind::kRead && limits.reads_per_second > 0 && !reads.Take(limits.reads_per_second, now))
      return RateIsUsedUp(member, limits.reads_per_second, "reads");
    if (kind == RateKind::kWrite) {
      if (absl::Status status = TakeWrite(now); !status.ok()) return status;
    }
    ++running_calls;
    return absl::OkStatus();
  }
  absl::Status TakeWrite(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (limits.writes_per_second == 0 || writes.Take(limits.writes_per_second, now)) return absl::OkStatus();
    return RateIsUsedUp(member, limits.writes_per_second, "writes");
  }
  bool IsIdle(absl::Time now) {
    const absl::MutexLock lock(&mutex);
    return running_calls == 0 && reads.whole <= now && writes.whole <= now && bytes.whole <= now;
  }

  const std::string member;
  absl::Mutex mutex;
  uint64_t generation ABSL_GUARDED_BY(mutex) = 0;  // of the entries that `limits` come from
  PrincipalLimits limits ABSL_GUARDED_BY(mutex);
  int64_t running_calls ABSL_GUARDED_BY(mutex) = 0;
  Rate reads ABSL_GUARDED_BY(mutex), writes ABSL_GUARDED_BY(mutex), bytes ABSL_GUARDED_BY(mutex);
};

PrincipalRates::Place::~Place() {
  if (share_ == nullptr) return;
  const absl::MutexLock lock(&share_->mutex);
  --share_->running_calls;
}

void PrincipalRates::Place::Charge(size_t bytes, absl::Time now) const {
  if (share_ == nullptr || bytes == 0) return;
  const absl::MutexLock lock(&share_->mutex);
  const int64_t per_second = share_->limits.bytes_per_second;
  if (per_second > 0) share_->bytes.Charge(static_cast<int64_t>(bytes), per_second, now);
}

void PrincipalRates::Configure(std::vector<PrincipalLimitEntry> entries) {
  const absl::MutexLock lock(&mutex_);
  entries_ = std::move(entries);
  ++generation_;
  has_entries_ = !entries_.empty();
}

PrincipalLimits PrincipalRates::LimitsOf(const Principal& principal) const {
  for (const PrincipalLimitEntry& entry : entries_) {
    const bool names_it = entry.members.empty() ||
                          std::any_of(entry.members.begin(), entry.members.end(), [&](const auto& member) {
                            return member == principal.member ||
                                   std::find(principal.groups.begin(), principal.groups.end(), member) !=
                                       principal.groups.end();
                          });
    if (names_it) return entry.limits;
  }
  return {};
}

std::shared_ptr<PrincipalRates::Share> PrincipalRates::FindShare(const Principal& principal, absl::Time now) {
  if (const auto found = shares_.find(principal.member); found != shares_.end()) return found->second;
  std::string name = principal.member;
  if (shares_.size() >= kMembersMax) {
    if (now >= swept_ + kSecond || now < swept_) {
      swept_ = now;
      absl::erase_if(shares_, [&](const auto& entry) { return entry.second->IsIdle(now); });
    }
    if (shares_.size() >= kMembersMax) name = kOthers;
  }
  std::shared_ptr<Share>& share = shares_[name];
  if (share == nullptr) share = std::make_shared<Share>(name);
  return share;
}

absl::StatusOr<PrincipalRates::Place> PrincipalRates::Admit(const Principal& principal, RateKind kind,
                                                            absl::Time now) {
  if (!has_entries_.load(std::memory_order_relaxed)) return Place();
  std::shared_ptr<Share> share;
  {
    const absl::MutexLock lock(&mutex_);
    share = FindShare(principal, now);
    const absl::MutexLock share_lock(&share->mutex);
    // Members beyond kMembersMax have their own limits on the share that is theirs together.
    if (share->generation != generation_ || share->member == kOthers) {
      share->generation = generation_;
      share->limits = LimitsOf(principal);
    }
    if (share->limits == PrincipalLimits()) return Place();
  }
  if (absl::Status status = share->Begin(kind, now); !status.ok()) {
    refused_calls_.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  return Place(std::move(share));
}

absl::Status PrincipalRates::CountWrite(const Place& place, absl::Time now) {
  if (place.share_ == nullptr) return absl::OkStatus();
  const absl::MutexLock lock(&place.share_->mutex);
  absl::Status status = place.share_->TakeWrite(now);
  if (!status.ok()) refused_calls_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace sonde
