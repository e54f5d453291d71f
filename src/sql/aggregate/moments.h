// What variances, covariances and correlations are made of: how many numbers there were, their sums, and the sums of
// their squares and products.
//
// Shape: the sums are exact (double_sum.h), so that results do not depend on the order and parts in which numbers came,
//   and are right to the last bits however far the numbers are from 0.  Numbers whose squares may leave the range of
//   doubles (beyond 2^240, or nearer to 0 than 2^-240) have their moments in long doubles instead, by Welford's method.
// Threads: not for several threads.
// Source: Chan, Golub, LeVeque: Algorithms for computing the sample variance (1983), for merging; Dekker: A floating-point
//   technique for extending the available precision (1971), for exact products.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sql/aggregate/double_sum.h"

namespace sonde::sql {

// Of kVariables numbers a row: 1 or 2.
template <size_t kVariables>
class Moments {
 public:
  using Row = std::array<double, kVariables>;

  Moments() = default;
  Moments(const Moments& other) { *this = other; }
  Moments& operator=(const Moments& other);
  Moments(Moments&&) noexcept = default;
  Moments& operator=(Moments&&) noexcept = default;
  ~Moments() = default;

  void Add(const Row& row);

  int64_t count() const { return count_; }
  // The sum of (x - mean of x) * (y - mean of y), of the variables x and y.
  long double Deviations(size_t x, size_t y) const;

  absl::Status Merge(const Moments& other);
  size_t HeldBytes() const;
  void Save(std::string* bytes) const;
  bool Load(std::string_view* bytes);

 private:
  static constexpr size_t kProducts = kVariables * (kVariables + 1) / 2;
  // The place of the product of two variables: (0, 0), (0, 1), (1, 1).
  // The sum of products: of the products themselves, and of what these lost by rounding.
  struct ProductSum {
    DoubleSum products;
    DoubleSum rests;
  };
  static constexpr size_t Place(size_t x, size_t y) { return x + y; }

  struct Rough {
    std::array<long double, kVariables> means = {};
    std::array<long double, kProducts> deviations = {};
  };

  void AddToRough(const Row& row);
  void MakeRough();
  // The deviations of the exact sums.
  long double ExactDeviations(size_t x, size_t y) const;

  int64_t count_ = 0;
  std::array<DoubleSum, kVariables> sums_;
  std::array<ProductSum, kProducts> products_;
  std::unique_ptr<Rough> rough_;  // null: the sums are exact; else nothing is in them
};

extern template class Moments<1>;
extern template class Moments<2>;

}  // namespace sonde::sql
