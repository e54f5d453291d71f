#include "work/turn_clock.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/processors.h"
#include "work/schedule_times.h"

namespace sonde {
namespace {

// The kernel is asked only this often, as it costs a system call a thread.
constexpr absl::Duration kReadingPause = absl::Milliseconds(50);
constexpr absl::Duration kReadingCountedMax = absl::Milliseconds(500);
// Threads that share a processor take turns of some milliseconds; a container that has used its share up
// waits for up to 100.
constexpr absl::Duration kHalfLife = absl::Milliseconds(100);

absl::Duration TimeOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

double ShareOfProcessors(double ran, double waited, double processors) {
  const double wanted = std::min(ran + waited, processors);
  const double missed = std::max(0.0, wanted - ran);
  // Where less than one thread wanted to run, it was idle or waited for a disk for the rest: no loss.
  return 1 - missed / std::max(1.0, wanted);
}

std::unique_ptr<TurnClock> TurnClock::Start() {
  auto clock = std::make_unique<TurnClock>(UsableProcessors());
  clock->thread_ = std::thread([clock = clock.get()] { clock->Run(); });
  return clock;
}

TurnClock::~TurnClock() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  end_.SignalAll();
  if (thread_.joinable()) thread_.join();
}

int TurnClock::Watch() {
  const int file = OpenScheduleTimes();
  if (file < 0) return file;
  const absl::MutexLock lock(&mutex_);
  watched_nanos_[file] = ReadScheduleTimes(file).waited_nanos;
  return file;
}

void TurnClock::Unwatch(int file) {
  if (file < 0) return;
  const absl::MutexLock lock(&mutex_);
  watched_nanos_.erase(file);
  close(file);
}

TurnClock::ProcessorTimes TurnClock::Read() {
  ProcessorTimes times{.passed = TimeOf(CLOCK_MONOTONIC), .ran = TimeOf(CLOCK_PROCESS_CPUTIME_ID)};
  const absl::MutexLock lock(&mutex_);
  for (auto& [file, before] : watched_nanos_) {
    const int64_t nanos = ReadScheduleTimes(file).waited_nanos;
    waited_nanos_ += std::max<int64_t>(0, nanos - before);
    before = nanos;
  }
  times.waited = absl::Nanoseconds(waited_nanos_);
  return times;
}

void TurnClock::Beat(absl::Duration elapsed) {
  const absl::Duration had = std::clamp(elapsed, absl::ZeroDuration(), kBeatCountedMax) * share_;
  now_nanos_.fetch_add(absl::ToInt64Nanoseconds(had), std::memory_order_relaxed);
}

void TurnClock::Learn(const ProcessorTimes& times) {
  // A time in which nothing ran says nothing of how the processors are shared, however long it was.
  const absl::Duration passed = std::min(times.passed - last_.passed, kReadingCountedMax);
  const double kept = std::exp2(-absl::FDivDuration(passed, kHalfLife));
  recent_.passed = recent_.passed * kept + passed;
  recent_.ran = recent_.ran * kept + (times.ran - last_.ran);
  recent_.waited = recent_.waited * kept + (times.waited - last_.waited);
  last_ = times;
  if (recent_.passed <= absl::ZeroDuration()) return;
  share_ = ShareOfProcessors(absl::FDivDuration(recent_.ran, recent_.passed),
                             absl::FDivDuration(recent_.waited, recent_.passed), processors_);
}

void TurnClock::Run() {
  const WatchedThread watched(this);
  last_ = Read();
  absl::Duration beat = last_.passed;
  const auto ends = [this] {
    const absl::MutexLock lock(&mutex_);
    return end_.WaitFor(&mutex_, kBeat, absl::Condition(&ending_));
  };
  while (!ends()) {
    const absl::Duration now = TimeOf(CLOCK_MONOTONIC);
    // First, as a beat that comes late is one of those that tell why.
    if (now - last_.passed >= kReadingPause) Learn(Read());
    Beat(now - beat);
    beat = now;
  }
}

}  // namespace sonde
