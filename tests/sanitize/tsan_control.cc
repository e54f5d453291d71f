// A race that ThreadSanitizer must find, and what only looks like one when it does not see absl::Mutex.
// usage: sonde_tsan_control race|locked|awaited
#include <iostream>
#include <string_view>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace {

constexpr int kRounds = 1'000;

void Race() {
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < kRounds; ++i) ++count;
  };
  std::thread other(add);
  add();
  other.join();
}

void Locked() {
  absl::Mutex mutex;
  int count = 0;
  const auto add_and_look = [&] {
    for (int i = 0; i < kRounds; ++i) {
      {
        const absl::MutexLock lock(&mutex);
        ++count;
      }
      const absl::ReaderMutexLock lock(&mutex);
      if (count == 0) std::cerr << "nothing was added\n";
    }
  };
  std::thread other(add_and_look);
  add_and_look();
  other.join();
}

// Two threads take turns: each waits in one of the two ways until it is its own.
void Awaited() {
  absl::Mutex mutex;
  bool is_first = true, is_second = false;
  int count = 0;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      const absl::MutexLock lock(&mutex, absl::Condition(&is_second));
      ++count;
      is_second = false;
      is_first = true;
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    const absl::MutexLock lock(&mutex);
    while (!mutex.AwaitWithTimeout(absl::Condition(&is_first), absl::Seconds(1))) {
    }
    ++count;
    is_first = false;
    is_second = true;
  }
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "race") {
    Race();
  } else if (what == "locked") {
    Locked();
  } else if (what == "awaited") {
    Awaited();
  } else {
    std::cerr << "usage: sonde_tsan_control race|locked|awaited\n";
    return 2;
  }
  return 0;
}
