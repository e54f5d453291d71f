#include "sql/view/keep/kept_lease.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace sonde::sql {

using SteadyClock = std::chrono::steady_clock;

KeptLease::KeptLease(Engine* engine, std::string name, absl::Duration renew_every)
    : leases_(engine->traits().is_shared ? engine->leases() : nullptr),
      is_needed_(engine->traits().is_shared),
      name_(std::move(name)),
      renew_every_(renew_every),
      fenced_(engine, this) {
  if (leases_ != nullptr) thread_ = std::thread([this] { Run(); });
}

KeptLease::~KeptLease() {
  if (!thread_.joinable()) return;
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  stops_.SignalAll();
  thread_.join();
  if (IsHeld()) leases_->Release(name_).IgnoreError();  // else its time ends
}

absl::Duration KeptLease::TimeLeft() const {
  if (!is_needed_) return absl::InfiniteDuration();
  const absl::MutexLock lock(&mutex_);
  return std::max(absl::FromChrono(held_until_ - SteadyClock::now()), absl::ZeroDuration());
}

uint64_t KeptLease::holding() const {
  const absl::MutexLock lock(&mutex_);
  return holding_;
}

void KeptLease::Run() {
  while (true) {
    const absl::StatusOr<absl::Duration> held = leases_->Hold(name_);
    const absl::MutexLock lock(&mutex_);
    const SteadyClock::time_point now = SteadyClock::now();
    if (held.ok()) {
      // Between two holdings others may have held it.
      if (held_until_ <= now) ++holding_;
      held_until_ = now + absl::ToChronoNanoseconds(*held);
    }
    if (stops_.WaitFor(&mutex_, renew_every_, absl::Condition(&is_stopping_))) return;
  }
}

absl::Status KeptLease::Fenced::End(absl::Time* deadline) const {
  const absl::Duration left = lease_->TimeLeft();
  if (left <= absl::ZeroDuration()) {
    return absl::UnavailableError(
        "This server does not keep the store's views, or does so no longer; nothing was applied");
  }
  *deadline = std::min(*deadline, absl::Now() + left);
  return absl::OkStatus();
}

absl::Status KeptLease::Fenced::Apply(TableId table, RowSource* rows, const WriteOptions& options) {
  WriteOptions fenced = options;
  if (absl::Status status = End(&fenced.deadline); !status.ok()) return status;
  return ForwardingEngine::Apply(table, rows, fenced);
}

absl::Status KeptLease::Fenced::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                       const Decide& decide, const WriteOptions& options) {
  WriteOptions fenced = options;
  if (absl::Status status = End(&fenced.deadline); !status.ok()) return status;
  return ForwardingEngine::Update(table, row_key, hints, decide, fenced);
}

absl::Status KeptLease::Fenced::DropRange(TableId table, const RowRange& range, absl::Time deadline) {
  if (absl::Status status = End(&deadline); !status.ok()) return status;
  return ForwardingEngine::DropRange(table, range, deadline);
}

}  // namespace sonde::sql
