#include "work/idle_workers.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "work/schedule_times.h"

namespace sonde {
namespace {

// A helper is judged by so long a time of its own, of which it may have waited for a processor this share.
constexpr int64_t kJudgedNanos = 5'000'000;
constexpr double kWaitedShareMax = 0.25;
// The pause that follows, in times of the time that was judged.
constexpr int kPauseTimes = 4;
constexpr absl::Duration kPauseMax = absl::Milliseconds(500);

}  // namespace

IdleWorkers::IdleWorkers(double processors) : processors_(static_cast<size_t>(std::max(processors, 1.0))) {
  for (size_t i = 1; i < processors_; ++i) threads_.emplace_back([this] { Run(); });
}

IdleWorkers::~IdleWorkers() {
  {
    const absl::MutexLock lock(&mutex_);
    assert(all_.empty());
    is_ending_ = true;
    wake_.SignalAll();
  }
  is_over_.SignalAll();
  for (std::thread& thread : threads_) thread.join();
}

bool IdleWorkers::IsWanted() const { return all_.size() + helping_ < processors_ && FindParts() != nullptr; }

PartsInOrder* IdleWorkers::FindParts() const {
  PartsInOrder* found = nullptr;
  size_t fewest = processors_;
  for (PartsInOrder* const parts : all_) {
    parts->workers_->mutex_.AssertHeld();
    if (!parts->CanBegin() || parts->helpers_ >= fewest) continue;
    found = parts;
    fewest = parts->helpers_;
  }
  return found;
}

void IdleWorkers::AwaitWork() {
  ++waiting_;
  while (!is_ending_ && !IsWanted()) wake_.Wait(&mutex_);
  --waiting_;
}

absl::Duration IdleWorkers::Help(int schedule_file) {
  ScheduleTimes before = ReadScheduleTimes(schedule_file);
  while (!is_ending_ && IsWanted()) {
    PartsInOrder* const parts = FindParts();
    parts->workers_->mutex_.AssertHeld();
    ++helping_;
    ++parts->helpers_;
    parts->DoOne();
    --parts->helpers_;
    --helping_;
    parts->done_.Signal();
    const ScheduleTimes now = ReadScheduleTimes(schedule_file);
    const int64_t waited = now.waited_nanos - before.waited_nanos;
    const int64_t wanted = now.ran_nanos - before.ran_nanos + waited;
    if (wanted < kJudgedNanos) continue;
    if (static_cast<double>(waited) > static_cast<double>(wanted) * kWaitedShareMax) {
      return std::min(absl::Nanoseconds(wanted) * kPauseTimes, kPauseMax);
    }
    before = now;
  }
  return absl::ZeroDuration();
}

void IdleWorkers::Run() {
  const int schedule_file = OpenScheduleTimes();
  {
    const absl::MutexLock lock(&mutex_);
    while (!is_ending_) {
      AwaitWork();
      const absl::Duration pause = Help(schedule_file);
      if (pause > absl::ZeroDuration()) is_over_.WaitFor(&mutex_, pause, absl::Condition(&is_ending_));
    }
  }
  if (schedule_file >= 0) close(schedule_file);
}

PartsInOrder::PartsInOrder(IdleWorkers* workers, size_t count, size_t ahead_max, Work work)
    : workers_(workers),
      ahead_max_(ahead_max),
      work_(std::move(work)),
      wanted_end_(count),
      done_parts_(count) {
  assert(ahead_max > 0);
  const absl::MutexLock lock(&workers_->mutex_);
  workers_->all_.push_back(this);
  WakeHelpers();
}

PartsInOrder::~PartsInOrder() {
  const absl::MutexLock lock(&workers_->mutex_);
  std::erase(workers_->all_, this);
  wanted_end_.store(0, std::memory_order_relaxed);
  while (helpers_ > 0) done_.Wait(&workers_->mutex_);
  // The processor of this question is another's now.
  workers_->wake_.SignalAll();
}

bool PartsInOrder::CanBegin() const {
  return begun_ < done_parts_.size() && begun_ - next_ < ahead_max_ && !IsInVain(begun_);
}

void PartsInOrder::WakeHelpers() {
  if (workers_->waiting_ > 0 && workers_->IsWanted()) workers_->wake_.SignalAll();
}

void PartsInOrder::DoOne() {
  const size_t part = begun_++;
  workers_->mutex_.Unlock();
  absl::Status status = work_(*this, part);
  workers_->mutex_.Lock();
  if (!status.ok() && !IsInVain(part)) wanted_end_.store(part + 1, std::memory_order_relaxed);
  done_parts_[part] = std::move(status);
}

absl::StatusOr<std::optional<size_t>> PartsInOrder::Next() {
  const absl::MutexLock lock(&workers_->mutex_);
  if (next_ == done_parts_.size()) return std::nullopt;
  while (!done_parts_[next_].has_value()) {
    if (CanBegin()) {
      DoOne();
    } else {
      done_.Wait(&workers_->mutex_);
    }
  }
  if (!done_parts_[next_]->ok()) return *done_parts_[next_];
  const size_t part = next_++;
  WakeHelpers();
  return part;
}

}  // namespace sonde
