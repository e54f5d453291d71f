#include "base/large_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "absl/strings/cord.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

// Small requests leave without a word, so who waits for them looks now and then.
constexpr absl::Duration kLook = absl::Milliseconds(10);

// Nobody is told of less.
constexpr int64_t kLeftStep = int64_t{1} << 20;

}  // namespace

absl::Status LargeRoom::Check(std::string_view what, int64_t bytes) const {
  if (bytes <= options_.bytes_max) return absl::OkStatus();
  constexpr int64_t kMiB = 1 << 20;
  constexpr int64_t kStep = 64 * kMiB;
  return absl::FailedPreconditionError(fmt::format(
      "{} takes up to {} MiB of memory while it is worked on, and the --memory of this server is {} MiB: "
      "start it with --memory {}MiB, or ask for less at a time",
      what, (bytes + kMiB - 1) / kMiB, options_.bytes_max / kMiB,
      (bytes + kStep - 1) / kStep * (kStep / kMiB)));
}

absl::Status LargeRoom::Busy(std::string_view what, int64_t bytes) const {
  absl::Status status = absl::UnavailableError(
      fmt::format("The server is busy: {} takes {} bytes of memory while it is worked on, {} of {} are taken "
                  "by others that are large, {} wait for their turn; nothing was done, try again",
                  what, bytes, taken_bytes_, options_.bytes_max, waiting_.size()));
  status.SetPayload(kTryLaterPayload, absl::Cord());
  return status;
}

bool LargeRoom::Fits(int64_t bytes) const {
  const int64_t others = TakenByOthers();
  if (taken_bytes_ + bytes + others <= options_.bytes_max - options_.reserve_bytes) return true;
  return taken_bytes_ == 0 && others <= options_.reserve_bytes;
}

bool LargeRoom::AwaitTurn(std::list<int64_t>::iterator self, absl::Time give_up,
                          const std::function<bool()>& gone) {
  const auto is_next = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return self == waiting_.begin() && Fits(*self);
  };
  bool fits = is_next();
  is_awaited_.store(true, std::memory_order_relaxed);
  for (absl::Time now = absl::Now(); !fits && now < give_up; now = absl::Now()) {
    fits = mutex_.AwaitWithTimeout(absl::Condition(&is_next), std::min(kLook, give_up - now));
    if (!fits && gone && gone()) break;
  }
  waiting_.erase(self);
  is_awaited_.store(!waiting_.empty(), std::memory_order_relaxed);
  return fits;
}

absl::StatusOr<LargeRoom::Place> LargeRoom::Take(std::string_view what, int64_t bytes, const Wait& wait) {
  if (absl::Status status = Check(what, bytes); !status.ok()) return status;
  const absl::Time give_up = std::min(wait.deadline, absl::Now() + wait.wait_max.value_or(options_.wait_max));
  const absl::MutexLock lock(&mutex_);
  if (!waiting_.empty() || !Fits(bytes)) {
    if (waiting_.size() >= options_.waiting_max) return Busy(what, bytes);
    if (!AwaitTurn(waiting_.insert(waiting_.end(), bytes), give_up, wait.gone)) return Busy(what, bytes);
  }
  SetTaken(taken_bytes_ + bytes);
  return Place(this, bytes);
}

LargeRoom::Place LargeRoom::TakeSurely(int64_t bytes, Turn turn) {
  const int64_t taken = std::min(bytes, options_.bytes_max);
  const absl::Time give_up = absl::Now() + options_.sure_wait_max;
  const absl::MutexLock lock(&mutex_);
  const auto at = turn == Turn::kBeforeAll ? waiting_.begin() : waiting_.end();
  AwaitTurn(waiting_.insert(at, taken), give_up, /*gone=*/nullptr);
  SetTaken(taken_bytes_ + taken);
  return Place(this, taken);
}

absl::StatusOr<LargeRoom::Place> LargeRoom::TryTake(std::string_view what, int64_t bytes) {
  if (absl::Status status = Check(what, bytes); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  if (!waiting_.empty() || !Fits(bytes)) return Busy(what, bytes);
  SetTaken(taken_bytes_ + bytes);
  return Place(this, bytes);
}

void LargeRoom::SetTaken(int64_t bytes) {
  taken_bytes_ = bytes;
  TellLeft();
}

void LargeRoom::TellLeft() {
  if (!set_left_) return;
  const int64_t left =
      std::max<int64_t>(0, options_.bytes_max - taken_bytes_ - TakenByOthers()) / kLeftStep * kLeftStep;
  if (std::exchange(left_bytes_, left) != left) set_left_(left);
}

void LargeRoom::Adjust() {
  const absl::MutexLock lock(&mutex_);
  TellLeft();
}

int64_t LargeRoom::taken_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return taken_bytes_;
}

void LargeRoom::Leave(int64_t bytes, bool writes) {
  if (writes && after_write_) after_write_();
  // Before the next one takes memory.
  Release();
  const absl::MutexLock lock(&mutex_);
  SetTaken(taken_bytes_ - bytes);
}

void LargeRoom::Place::Shrink(int64_t bytes) {
  if (room_ == nullptr || bytes >= bytes_) return;
  room_->Leave(bytes_ - bytes, writes_);
  bytes_ = bytes;
}

std::function<absl::Status(size_t)> TakeForEntries(LargeRoom* room, WhenFull when_full) {
  return [room, when_full, place = std::make_shared<LargeRoom::Place>()](size_t entry_bytes) {
    const int64_t wanted = kLargeReadCopies * static_cast<int64_t>(entry_bytes);
    if (wanted <= place->bytes()) return absl::OkStatus();
    place->Shrink(0);  // so that nobody waits with a place
    absl::StatusOr<LargeRoom::Place> taken =
        when_full == WhenFull::kWait ? room->Take("A row", wanted) : room->TryTake("A row", wanted);
    if (taken.ok()) *place = *std::move(taken);
    return taken.status();
  };
}

}  // namespace sonde
