// The aggregates of one column, of many groups of rows at once: of each group an accumulator, by number.
//
// Shape: what an accumulator keeps lies in arrays by what it is (counts, sums, extremes, ends), each of plain
// numbers and only where an aggregate needs it.  Rows are added a run at a time: the loop over the values of
// a run knows their type and calls nothing. Order: the rows of a run lie by time, ascending or descending;
// runs come in any order. Ownership: accumulators copy what they keep. Threads: not for several threads.
// Errors: none. Cost: a value some 0.5 to 2 ns, by what is kept; missing ones a copy of those that are there.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "rows/aggregate.h"
#include "rows/column.h"

namespace sonde::rows {

class Accumulators {
 public:
  // `type`: of the values.  Ints may come as kInt64, kTime or kInt128, whichever of these `type` is.
  Accumulators(ColumnType type, const AggregateNeeds& needs);

  size_t size() const { return counts_.size(); }
  // New ones are empty.
  void Resize(size_t count);
  // Makes one of them empty.
  void Reset(size_t index);
  // About how many bytes an accumulator takes, without the values of its percentiles.
  size_t BytesOfOne() const;

  // Adds a run of rows: values.size() == times_micros.size(), one time a value.
  void Add(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values);
  // As if all values of another one had been added; it is of the same type and needs.
  void Merge(size_t index, const Accumulators& other, size_t other_index);

  bool AreInts() const { return std::holds_alternative<Kept<absl::int128>>(kept_); }
  int64_t Count(size_t index) const { return counts_[index]; }
  // Values that are kept one by one.
  size_t ValuesHeld(size_t index) const { return values_.empty() ? 0 : values_[index].numbers.size(); }
  // For several percentiles: makes each of them cheap, until more values come.
  void SortValues(size_t index);
  // Returns nothing if there was no value; and for kStddev (of a sample, by n - 1) if there was only one.  If
  // several values have one time, kFirst takes the smallest and kLast the largest of the runs that they begin
  // or end, whatever their order.  Percentiles lie between the two nearest values, as SQL's percentile_cont
  // defines.  `aggregate` must be one of those that the needs were made of.
  std::optional<double> Double(const Aggregate& aggregate, size_t index) const;
  // The same of ints, exactly; of kSum, kMin, kMax, kFirst and kLast, and nothing of others.
  std::optional<absl::int128> Int(const Aggregate& aggregate, size_t index) const;

 private:
  // A sum, and beside it the part that it has lost to rounding (Neumaier's summation).
  struct DoubleSum {
    double sum = 0;
    double error = 0;

    void Add(double value);
    DoubleSum& operator+=(const DoubleSum& other);
    double Value() const;
  };
  template <typename Number>
  struct Extremes {
    Number least = 0;
    Number most = 0;
  };
  template <typename Number>
  struct Ends {
    int64_t first_micros = 0;
    int64_t last_micros = 0;
    Number first = 0;
    Number last = 0;
  };
  // For ints (as int128) or doubles.
  template <typename Number>
  struct Kept {
    using Sum = std::conditional_t<std::is_same_v<Number, double>, DoubleSum, Number>;
    std::vector<Sum> sums;
    std::vector<Extremes<Number>> extremes;
    std::vector<Ends<Number>> ends;
  };
  struct Moments {
    double mean = 0;
    double squares = 0;  // the sum of squared distances from the mean (Welford)
  };
  struct Values {
    std::vector<double> numbers;
    bool is_sorted = false;
  };

  // Adds the values that are there.
  void AddThose(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values);
  // The first and the last of the times are those of the first and the last value.
  template <typename Number, typename Value>
  void AddRun(size_t index, absl::Span<const int64_t> times_micros, absl::Span<const Value> values);
  template <typename Number>
  void AddExtremes(size_t index, const Extremes<Number>& extremes, Kept<Number>* kept) const;
  template <typename Number>
  void AddEnds(size_t index, const Ends<Number>& ends, Kept<Number>* kept) const;
  template <typename Number>
  void MergeKept(size_t index, const Kept<Number>& other, size_t other_index);
  // Behind counts_[index] values.
  void AddMoments(size_t index, int64_t count, const Moments& moments);
  double Percentile(size_t index, double percentile) const;

  static DoubleSum SumOf(absl::Span<const double> values);
  static absl::int128 SumOf(absl::Span<const int64_t> values);
  static absl::int128 SumOf(absl::Span<const absl::int128> values);
  static Extremes<double> ExtremesOf(absl::Span<const double> values);
  static Extremes<absl::int128> ExtremesOf(absl::Span<const int64_t> values);
  static Extremes<absl::int128> ExtremesOf(absl::Span<const absl::int128> values);

  const AggregateNeeds needs_;
  std::vector<int64_t> counts_;
  std::variant<std::monostate, Kept<absl::int128>, Kept<double>> kept_;  // monostate: of bytes
  std::vector<Moments> moments_;
  std::vector<Values> values_;
  Column values_there_;  // of a run that has missing values
};

}  // namespace sonde::rows
