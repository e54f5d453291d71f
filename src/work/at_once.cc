#include "work/at_once.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace sonde {

void ForEachAtOnce(size_t count, size_t at_once_max, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(count, at_once_max); ++i) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace sonde
