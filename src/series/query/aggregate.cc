#include "series/query/aggregate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde::series {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"avg", "min", "max", "count", "sum", "first", "last"};

}  // namespace

std::string_view AggregateName(Aggregate aggregate) { return kNames[static_cast<size_t>(aggregate)]; }

std::optional<Aggregate> AggregateOfName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Aggregate>(found - kNames.begin());
}

std::string AggregateNames() {
  std::string names;
  for (const std::string_view name : kNames) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

void Accumulator::Add(int64_t time_micros, double value) {
  if (count_ == 0) {
    min_ = max_ = first_ = last_ = value;
    first_micros_ = last_micros_ = time_micros;
  }
  ++count_;
  const double sum = sum_ + value;
  sum_error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  if (time_micros < first_micros_) {
    first_micros_ = time_micros;
    first_ = value;
  }
  if (time_micros >= last_micros_) {
    last_micros_ = time_micros;
    last_ = value;
  }
}

std::optional<double> Accumulator::Value(Aggregate aggregate) const {
  if (aggregate == Aggregate::kCount) return static_cast<double>(count_);
  if (count_ == 0) return std::nullopt;
  const double sum = sum_ + sum_error_;
  switch (aggregate) {
    case Aggregate::kAvg:
      return sum / static_cast<double>(count_);
    case Aggregate::kMin:
      return min_;
    case Aggregate::kMax:
      return max_;
    case Aggregate::kSum:
      return sum;
    case Aggregate::kFirst:
      return first_;
    case Aggregate::kLast:
      return last_;
    case Aggregate::kCount:
      break;
  }
  return std::nullopt;
}

}  // namespace sonde::series
