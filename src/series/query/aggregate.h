// Many values to one: count, sum, min, max, avg, first, last, stddev, percentiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "series/key/field_codec.h"

namespace sonde::series {

struct Aggregate {
  enum class Kind : uint8_t { kAvg, kMin, kMax, kCount, kSum, kFirst, kLast, kStddev, kPercentile };
  Kind kind = Kind::kAvg;
  double percentile = 0;  // of kPercentile: 0 to 100

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

// What an accumulator has to keep; more aggregates cost more time, and percentiles keep every value.
struct AggregateNeeds {
  bool has_sum = false;
  bool has_extremes = false;
  bool has_ends = false;
  bool has_moments = false;
  bool has_values = false;

  static AggregateNeeds Of(const std::vector<Aggregate>& aggregates);
};

// The values of one field in one bucket; they may come in any order of time, and from several scans.
class Accumulator {
 public:
  // `times_micros` ascend, one a value.  `rests`: what ints have more than their values, one a value or none
  // (numbers.h).
  void Add(const AggregateNeeds& needs, absl::Span<const int64_t> times_micros,
           absl::Span<const double> values, absl::Span<const int16_t> rests = {});
  // Values that are no numbers.
  void AddCount(int64_t count) { count_ += count; }
  // As if all values of `other` had been added.
  void Merge(const AggregateNeeds& needs, const Accumulator& other);

  int64_t count() const { return count_; }
  // For several percentiles: makes each of them cheap, until more values come.
  void SortValues();
  // Values that are kept one by one.
  size_t values_held() const { return values_.size(); }
  // Nothing when there was no value, and of kStddev (of a sample, by n - 1) when there was only one.
  // Of several values at one time, kFirst takes the smallest and kLast the largest, whatever their order.
  // Percentiles lie between the two nearest values, as SQL's percentile_cont has it.  `aggregate` is one of
  // those that the needs were made of.
  std::optional<double> Value(const Aggregate& aggregate) const;
  // The same of ints, exactly; of kSum, kMin, kMax, kFirst and kLast.
  std::optional<absl::int128> IntValue(const Aggregate& aggregate) const;

 private:
  void AddToSum(double value);
  void AddMoments(int64_t count, double mean, double squares);
  void AddExtremes(ExactNumber least, ExactNumber most);
  void AddEnds(int64_t first_micros, ExactNumber first, int64_t last_micros, ExactNumber last);
  double Percentile(double percentile) const;

  int64_t count_ = 0;
  double sum_ = 0;
  double sum_error_ = 0;  // what sum_ has lost to rounding (Neumaier's summation); of ints, both are whole
  double min_ = 0;
  double max_ = 0;
  double first_ = 0;
  double last_ = 0;
  int64_t first_micros_ = 0;
  int64_t last_micros_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // the sum of squared distances from mean_ (Welford)
  // What ints have more than these.
  int16_t min_rest_ = 0;
  int16_t max_rest_ = 0;
  int16_t first_rest_ = 0;
  int16_t last_rest_ = 0;
  bool is_sorted_ = false;  // values_
  std::vector<double> values_;
};

}  // namespace sonde::series
