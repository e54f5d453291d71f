#include "series/output/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

constexpr int kLabelRoom = 2;  // blanks between two labels of times

// 1, 2 or 5 times a power of ten, at least `least`.
double RoundStep(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// The digits behind the point that multiples of `step` have.
int DecimalsOf(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
}

// As many digits as tell a value from its neighbours, however large both are.
std::string ValueLabel(double value, double step) {
  struct Scale {
    double factor;
    const char* sign;
  };
  for (const Scale scale : {Scale{1e12, "T"}, Scale{1e9, "G"}, Scale{1e6, "M"}}) {
    if (step < scale.factor / 1000 || std::abs(value) < scale.factor) continue;
    constexpr double kWholeDigitsMax = 1e9;
    if (std::abs(value / scale.factor) >= kWholeDigitsMax)
      return fmt::format("{:.6g}{}", value / scale.factor, scale.sign);
    std::string digits = fmt::format("{:.{}f}", value / scale.factor, DecimalsOf(step / scale.factor));
    if (digits.find('.') != std::string::npos) digits.resize(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return digits + scale.sign;
  }
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, DecimalsOf(step));
}

// Either so many microseconds, or so many months.
struct TimeStep {
  int64_t micros;
  int months;
  int label_width;
};
constexpr std::array kTimeSteps = {
    TimeStep{kMicrosPerSecond / 1000, 0, 12},
    TimeStep{kMicrosPerSecond / 100, 0, 12},
    TimeStep{kMicrosPerSecond / 10, 0, 12},
    TimeStep{kMicrosPerSecond, 0, 8},
    TimeStep{2 * kMicrosPerSecond, 0, 8},
    TimeStep{5 * kMicrosPerSecond, 0, 8},
    TimeStep{10 * kMicrosPerSecond, 0, 8},
    TimeStep{15 * kMicrosPerSecond, 0, 8},
    TimeStep{30 * kMicrosPerSecond, 0, 8},
    TimeStep{kMicrosPerMinute, 0, 5},
    TimeStep{2 * kMicrosPerMinute, 0, 5},
    TimeStep{5 * kMicrosPerMinute, 0, 5},
    TimeStep{10 * kMicrosPerMinute, 0, 5},
    TimeStep{15 * kMicrosPerMinute, 0, 5},
    TimeStep{30 * kMicrosPerMinute, 0, 5},
    TimeStep{kMicrosPerHour, 0, 5},
    TimeStep{2 * kMicrosPerHour, 0, 5},
    TimeStep{3 * kMicrosPerHour, 0, 5},
    TimeStep{6 * kMicrosPerHour, 0, 5},
    TimeStep{12 * kMicrosPerHour, 0, 5},
    TimeStep{kMicrosPerDay, 0, 6},
    TimeStep{2 * kMicrosPerDay, 0, 6},
    TimeStep{7 * kMicrosPerDay, 0, 6},
    TimeStep{14 * kMicrosPerDay, 0, 6},
    TimeStep{0, 1, 8},
    TimeStep{0, 2, 8},
    TimeStep{0, 3, 8},
    TimeStep{0, 6, 8},
    TimeStep{0, 12, 4},
    TimeStep{0, 24, 4},
    TimeStep{0, 60, 4},
    TimeStep{0, 120, 4},
    TimeStep{0, 600, 4},
    TimeStep{0, 1200, 4},
};
constexpr std::array<const char*, 12> kMonthNames = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::string TimeLabel(int64_t micros, const TimeStep& step) {
  const CivilTime t = CivilFromMicros(micros);
  if (step.months >= 12) return fmt::format("{}", t.year);
  if (step.months > 0) return fmt::format("{} {}", kMonthNames[t.month - 1], t.year);
  const bool is_midnight = micros % kMicrosPerDay == 0;
  if (step.micros >= kMicrosPerDay || (is_midnight && step.micros >= kMicrosPerMinute)) {
    return fmt::format("{} {}", kMonthNames[t.month - 1], t.day);
  }
  if (step.micros >= kMicrosPerMinute) return fmt::format("{:02}:{:02}", t.hour, t.minute);
  std::string label = fmt::format("{:02}:{:02}:{:02}", t.hour, t.minute, t.second);
  if (step.micros < kMicrosPerSecond) label += fmt::format(".{:03}", t.micros / 1000);
  return label;
}

// The first tick at or behind `micros`.
int64_t FirstTick(int64_t micros, const TimeStep& step) {
  if (step.months == 0) {
    // Weeks begin on Monday, and are counted as buckets of several are: from 1969-12-29.
    const int64_t origin_micros = step.micros % kMicrosPerWeek == 0 ? -3 * kMicrosPerDay : 0;
    return FloorMicros(micros - origin_micros + step.micros - 1, step.micros) + origin_micros;
  }
  const CivilTime t = CivilFromMicros(micros);
  int months = t.year * 12 + t.month - 1;
  months -= months % step.months;
  while (true) {
    const auto tick = MicrosFromCivil({months / 12, months % 12 + 1, 1});
    if (months / 12 > 9999 || (tick && *tick >= micros)) return tick.value_or(kTimeEndMicros);
    months += step.months;
  }
}

}  // namespace

ValueAxis MakeValueAxis(double min, double max, int ticks_max) {
  if (max - min < std::max(std::abs(max), std::abs(min)) * 1e-9 || max == min) {
    const double room = max == 0 ? 1 : std::abs(max) * 0.1;
    min -= room;
    max += room;
  }
  const double step = RoundStep((max - min) / std::max(ticks_max - 1, 1));
  ValueAxis axis;
  axis.low = std::floor(min / step + 1e-9) * step;
  axis.high = std::ceil(max / step - 1e-9) * step;
  const int steps = static_cast<int>(std::lround((axis.high - axis.low) / step));
  for (int i = 0; i <= steps; ++i) {
    // Multiplied, not summed, so that 0 is 0.
    const double value = (std::round(axis.low / step) + i) * step;
    axis.ticks.emplace_back(value, ValueLabel(value, step));
  }
  return axis;
}

std::vector<TimeTick> MakeTimeTicks(int64_t first_micros, int64_t last_micros, int width) {
  const TimeStep* step = &kTimeSteps.back();
  for (const TimeStep& candidate : kTimeSteps) {
    const int64_t micros = candidate.months > 0 ? candidate.months * 30 * kMicrosPerDay : candidate.micros;
    const int64_t labels = (last_micros - first_micros) / micros + 1;
    if (labels * (candidate.label_width + kLabelRoom) <= width) {
      step = &candidate;
      break;
    }
  }
  std::vector<TimeTick> ticks;
  for (int64_t at = FirstTick(first_micros, *step); at <= last_micros; at = FirstTick(at + 1, *step)) {
    ticks.push_back({at, TimeLabel(at, *step)});
  }
  return ticks;
}

}  // namespace sonde::series
