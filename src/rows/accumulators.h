// Accumulators: the aggregates of one column, for many groups of rows at once.  Each group has a number.
//
//   rows::Accumulators sums(ColumnType::kInt64, rows::AggregateNeeds::Of({rows::Aggregate::kSum}));
//   sums.Resize(2);
//   sums.Add(1, times, values);
//   sums.Int(rows::Aggregate::kSum, 1);
//
// Shape: counts, sums, extremes and ends lie in an array each, and an array is there only if an aggregate
//   needs it.  Rows are added by runs, so that the loop over the values of a run knows their type and calls
//   nothing.
// Order: the rows of a run lie by time, ascending or descending; runs come in any order.
// Ownership: accumulators copy what they keep.
// Threads: not for several threads.
// Errors: none.
// Cost: 0.1 to 2 ns a value, by what is kept.  If a run has missing values, the others are copied first.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "base/number_loops.h"
#include "model/column.h"
#include "rows/aggregate.h"
#include "rows/column.h"

namespace sonde::rows {

class Accumulators {
 public:
  // `type`: the type of the values.  If it is one of ints (kInt64, kTime, kInt128), they may come as any of
  // these.  Values of kDouble may come as kInt64, if doubles say them exactly.
  Accumulators(ColumnType type, const AggregateNeeds& needs);

  size_t size() const { return counts_.size(); }
  // New accumulators are empty.
  void Resize(size_t count);
  // Makes an accumulator empty.
  void Reset(size_t index);
  // How much memory an accumulator takes, about, without the values that it keeps for percentiles.
  size_t BytesOfOne() const;

  // Adds a run of rows: values.size() == times_micros.size(), one time a value.
  void Add(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values);
  // As if all values of an accumulator of `other` had been added: an empty one becomes the same, bit by bit.
  // `other` has the same type and needs.
  void Merge(size_t index, const Accumulators& other, size_t other_index);

  bool AreInts() const { return std::holds_alternative<Kept<absl::int128>>(kept_); }
  int64_t Count(size_t index) const { return counts_[index]; }
  // How many values an accumulator keeps one by one.
  size_t ValuesHeld(size_t index) const { return values_.empty() ? 0 : values_[index].numbers.size(); }
  // Makes percentiles cheap until more values come; worth while for several of them.
  void SortValues(size_t index);
  // The aggregate of the values so far.  Nothing if there was no value, and nothing for kStddev (of a sample,
  // by n - 1) if there was only one.  Where several values have the first time, kFirst is the least of those
  // that begin or end a run, and kLast likewise the most of those at the last time.  A percentile lies
  // between the two nearest values, as SQL's percentile_cont.  `aggregate` is one that the needs were made
  // of.
  std::optional<double> Double(const Aggregate& aggregate, size_t index) const;
  // The exact aggregate of ints, for kSum, kMin, kMax, kFirst and kLast; nothing for the others.
  std::optional<absl::int128> Int(const Aggregate& aggregate, size_t index) const;

 private:
  template <typename Number>
  struct Ends {
    int64_t first_micros = 0;
    int64_t last_micros = 0;
    Number first = 0;
    Number last = 0;
  };
  // `Number`: int128 for ints, or double.
  template <typename Number>
  struct Kept {
    using Sum = std::conditional_t<std::is_same_v<Number, double>, SumWithLoss, Number>;
    std::vector<Sum> sums;
    std::vector<LeastAndMost<Number>> extremes;
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

  // Adds those of `values` that are there.
  void AddThose(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values);
  // The first and the last value are there, so that the first and the last time are theirs.
  template <typename Number, typename Value>
  void AddRun(size_t index, absl::Span<const int64_t> times_micros, absl::Span<const Value> values);
  template <typename Number>
  void AddExtremes(size_t index, const LeastAndMost<Number>& extremes, Kept<Number>* kept) const;
  template <typename Number>
  void AddEnds(size_t index, const Ends<Number>& ends, Kept<Number>* kept) const;
  template <typename Number>
  void MergeKept(size_t index, const Kept<Number>& other, size_t other_index);
  template <typename Number>
  void CopyKept(size_t index, const Kept<Number>& other, size_t other_index);
  // Adds the moments of `count` values to those of counts_[index] values.
  void AddMoments(size_t index, int64_t count, const Moments& moments);
  double Percentile(size_t index, double percentile) const;

  const AggregateNeeds needs_;
  std::vector<int64_t> counts_;
  std::variant<std::monostate, Kept<absl::int128>, Kept<double>> kept_;  // monostate: of bytes
  std::vector<Moments> moments_;
  std::vector<Values> values_;
  Column values_there_;  // those of a run with missing values
};

}  // namespace sonde::rows
