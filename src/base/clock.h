// The time of day, behind an interface that a test can replace.
#pragma once

#include <chrono>
#include <cstdint>

namespace sonde {

class Clock {
 public:
  virtual ~Clock() = default;
  // Microseconds since 1970-01-01T00:00:00Z.  May go back when somebody sets the machine's clock.
  virtual int64_t NowMicros() const = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t NowMicros() const override {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

// A clock that stands still until it is told otherwise.  Not for several threads.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_micros) : now_micros_(now_micros) {}
  int64_t NowMicros() const override { return now_micros_; }
  void Set(int64_t now_micros) { now_micros_ = now_micros; }
  void Advance(int64_t micros) { now_micros_ += micros; }

 private:
  int64_t now_micros_;
};

}  // namespace sonde
