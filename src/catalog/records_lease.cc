#include "catalog/records_lease.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

// How much longer than the lease a writer waits: one clock may run a little faster than another.
constexpr double kClockRates = 1.05;
// So many looks in the time of a lease: one may fail.
constexpr int kLooksPerLease = 3;
// A refresh reads all records so often: one reading may take longer than the lease, but then the records are mostly the same a moment later.
constexpr int kLooksMax = 3;

// The time that was over is a look's, and not that of the caller, who may try again.
absl::Status OfALook(const absl::Status& status) {
  if (!absl::IsDeadlineExceeded(status)) return status;
  return absl::UnavailableError("The store does not say in time whether the catalog has changed: " +
                                std::string(status.message()));
}

}  // namespace

RecordsLease::RecordsLease(RecordStore* store, absl::Duration time, std::function<absl::Status()> reload)
    : store_(store), time_(time), reload_(std::move(reload)), thread_([this] { Run(); }) {}

RecordsLease::~RecordsLease() {
  {
    const absl::MutexLock lock(&ending_mutex_);
    ending_ = true;
  }
  end_.SignalAll();
  thread_.join();
}

bool RecordsLease::Lasts() const { return std::chrono::steady_clock::now() < valid_until_.load(); }

absl::Status RecordsLease::Refresh() {
  const absl::MutexLock lock(&mutex_);
  for (int look = 0; look < kLooksMax; ++look) {
    const auto asked = std::chrono::steady_clock::now();
    const absl::StatusOr<int64_t> version = store_->RecordsVersion(absl::Now() + time_);
    if (!version.ok()) return OfALook(version.status());
    if (*version != version_) {
      // Records of a later version may be among those that are read; then the next look reads them again.
      if (absl::Status status = reload_(); !status.ok()) return status;
      version_ = *version;
    }
    valid_until_ = asked + absl::ToChronoNanoseconds(time_);
    if (Lasts()) return absl::OkStatus();
  }
  return absl::UnavailableError("The store takes too long to say whether the catalog has changed");
}

absl::Status RecordsLease::Ensure() {
  if (Lasts()) return absl::OkStatus();
  const absl::Time asked = absl::Now();
  {
    const absl::MutexLock lock(&mutex_);
    if (Lasts()) return absl::OkStatus();
    // Of many that wait while the store is away, one after the other would look for as long.
    if (absl::Now() - asked >= time_)
      return absl::UnavailableError("The store does not say in time whether the catalog has changed");
  }
  return Refresh();
}

void RecordsLease::WaitUntilSeen() const { absl::SleepFor(time_ * kClockRates); }

void RecordsLease::Run() {
  const absl::MutexLock lock(&ending_mutex_);
  while (!end_.WaitFor(&ending_mutex_, time_ / kLooksPerLease, absl::Condition(&ending_))) {
    ending_mutex_.Unlock();
    // A look that fails is repeated, by this thread or by whoever needs the lease.
    Refresh().IgnoreError();
    ending_mutex_.Lock();
  }
}

}  // namespace sonde
