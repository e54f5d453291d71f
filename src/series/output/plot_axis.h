// Round numbers and round times for the axes of a plot.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::series {

struct ValueAxis {
  double low = 0;
  double high = 1;
  std::vector<std::pair<double, std::string>> ticks;  // from low to high
};
// Holds [min, max], begins and ends at a tick, and has about `ticks_max` ticks at most.
ValueAxis MakeValueAxis(double min, double max, int ticks_max);

struct TimeTick {
  int64_t micros = 0;
  std::string label;
};
// In [first, last], at round times of the UTC calendar, as many as fit `width` characters with room between.
std::vector<TimeTick> MakeTimeTicks(int64_t first_micros, int64_t last_micros, int width);

}  // namespace sonde::series
