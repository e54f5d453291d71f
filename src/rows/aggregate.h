// The words for aggregates: count, sum, min, max, avg, first, last, stddev, percentiles.
//
// Types: count is an int, of any column.  Sum, min, max, first and last of ints are ints, and exact.  All
//   others are doubles.  An aggregate that is an int has up to 128 bits until it is given out; one that has
//   left 64 bits then is an error (GoogleSQL's "int64 overflow"), never a rounded number.  avg and stddev of
//   ints are the doubles next to what the exact sum gives.
// NaN and infinities are values as in GoogleSQL: min and max are NaN if one of the values is, and NaN is less
//   than all other values in a percentile.
// Missing values count nowhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/column.h"

namespace sonde::rows {

struct Aggregate {
  enum class Kind : uint8_t { kAvg, kMin, kMax, kCount, kSum, kFirst, kLast, kStddev, kPercentile };
  Kind kind = Kind::kAvg;
  double percentile = 0;  // for kPercentile: 0 to 100

  static const Aggregate kAvg, kMin, kMax, kCount, kSum, kFirst, kLast, kStddev;
  static constexpr Aggregate Percentile(double percentile) { return {Kind::kPercentile, percentile}; }

  bool operator==(const Aggregate&) const = default;
};
inline constexpr Aggregate Aggregate::kAvg{Kind::kAvg};
inline constexpr Aggregate Aggregate::kMin{Kind::kMin};
inline constexpr Aggregate Aggregate::kMax{Kind::kMax};
inline constexpr Aggregate Aggregate::kCount{Kind::kCount};
inline constexpr Aggregate Aggregate::kSum{Kind::kSum};
inline constexpr Aggregate Aggregate::kFirst{Kind::kFirst};
inline constexpr Aggregate Aggregate::kLast{Kind::kLast};
inline constexpr Aggregate Aggregate::kStddev{Kind::kStddev};

// avg, ...; p95, p99.9; median is p50.
std::string AggregateName(const Aggregate& aggregate);
std::optional<Aggregate> AggregateOfName(std::string_view name);
// All names, separated by ", ".
std::string AggregateNames();

// The type of the values that `aggregate` makes from a column of `type`.
ColumnType TypeOfAggregate(const Aggregate& aggregate, ColumnType type);

// What accumulators have to keep.  Each need costs time, and percentiles keep every value.
struct AggregateNeeds {
  bool has_sum = false;
  bool has_extremes = false;
  bool has_ends = false;
  bool has_moments = false;
  bool has_values = false;

  static AggregateNeeds Of(const std::vector<Aggregate>& aggregates);
};

}  // namespace sonde::rows
