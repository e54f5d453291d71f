// Many values to one: count, sum, min, max, avg, first, last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::series {

enum class Aggregate : uint8_t { kAvg, kMin, kMax, kCount, kSum, kFirst, kLast };

std::string_view AggregateName(Aggregate aggregate);
std::optional<Aggregate> AggregateOfName(std::string_view name);
// All names, separated by ", ".
std::string AggregateNames();

// The values of one field in one bucket; they may come in any order of time.
class Accumulator {
 public:
  void Add(int64_t time_micros, double value);
  // Of a value that is no number.
  void AddCount() { ++count_; }

  int64_t count() const { return count_; }
  // Nothing when there was no value.
  std::optional<double> Value(Aggregate aggregate) const;

 private:
  int64_t count_ = 0;
  double sum_ = 0;
  double sum_error_ = 0;  // what sum_ has lost to rounding (Neumaier's summation)
  double min_ = 0;
  double max_ = 0;
  double first_ = 0;
  double last_ = 0;
  int64_t first_micros_ = 0;
  int64_t last_micros_ = 0;
};

}  // namespace sonde::series
