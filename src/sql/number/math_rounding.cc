#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/math_families.h"

namespace sonde::sql {
namespace {

double Round(Call&, double number) { return std::round(number); }
double Truncate(Call&, double number) { return std::trunc(number); }
double Ceiling(Call&, double number) { return std::ceil(number); }
double Floor(Call&, double number) { return std::floor(number); }

// How numbers are rounded to digits: divided by a power of ten, rounded, multiplied again, all in a wider type, so that numbers
// that end within the digits stay as they are.  `T` is the type of the numbers.
template <typename T>
struct DecimalRange;

template <>
struct DecimalRange<double> {
  using Wide = long double;
  static constexpr int kPowerMin =
      std::numeric_limits<double>::min_exponent10 - std::numeric_limits<double>::digits10 - 1;
  static constexpr int kPowerMax = std::numeric_limits<double>::max_exponent10;
};

template <>
struct DecimalRange<float> {
  using Wide = double;
  static constexpr int kPowerMin =
      std::numeric_limits<float>::min_exponent10 - std::numeric_limits<float>::digits10 - 1;
  static constexpr int kPowerMax = std::numeric_limits<float>::max_exponent10;
};

// Powers of ten, each made from the one before by GoogleSQL's steps, so that they have the same last bits.
template <typename T>
class Powers {
 public:
  using Wide = typename DecimalRange<T>::Wide;

  static Wide Of(int power) {
    static const Powers powers;
    return powers.values_[power - DecimalRange<T>::kPowerMin];
  }

 private:
  Powers() {
    long double value = 1;
    for (int power = 0; power <= DecimalRange<T>::kPowerMax; ++power, value *= 10) Set(power, value);
    value = 1;
    for (int power = 0; power >= DecimalRange<T>::kPowerMin; --power, value /= 10) Set(power, value);
  }
  // Never larger than the value itself: a quotient that is too small would lose its last whole number.
  void Set(int power, long double value) {
    auto narrow = static_cast<Wide>(value);
    if (narrow > value) narrow = std::nextafter(narrow, Wide{0});
    values_[power - DecimalRange<T>::kPowerMin] = narrow;
  }

  std::array<Wide, DecimalRange<T>::kPowerMax - DecimalRange<T>::kPowerMin + 1> values_;
};

// The number rounded by `round`, which takes and gives Wide.
template <typename T, typename Rounding>
absl::StatusOr<double> ToDigits(double number, int64_t digits, Rounding round) {
  if (digits > -DecimalRange<T>::kPowerMin || !std::isfinite(number)) return number;
  if (digits < -DecimalRange<T>::kPowerMax) return 0.0;
  const auto power = Powers<T>::Of(static_cast<int>(-digits));
  const auto result = round(static_cast<typename DecimalRange<T>::Wide>(number) / power) * power;
  if (std::abs(result) > std::numeric_limits<T>::max()) {
    return absl::OutOfRangeError(
        fmt::format("Floating point overflow in function: ROUND({:g}, {})", number, -digits));
  }
  return static_cast<T>(result);
}

template <typename T>
absl::StatusOr<double> RoundDigits(Call&, double number, int64_t digits) {
  return ToDigits<T>(number, digits, [](auto value) { return std::round(value); });
}

template <typename T>
absl::StatusOr<double> TruncateDigits(Call&, double number, int64_t digits) {
  return ToDigits<T>(number, digits, [](auto value) { return std::trunc(value); });
}

std::vector<Overload> OfFloats(Kernel kernel) {
  return {Scalar("(FLOAT32) -> FLOAT32", kernel), Scalar("(FLOAT64) -> FLOAT64", kernel)};
}

std::vector<Overload> WithDigits(Kernel kernel, Kernel of_float, Kernel of_double) {
  std::vector<Overload> overloads = OfFloats(kernel);
  overloads.push_back(Scalar("(FLOAT32, INT64) -> FLOAT32", of_float));
  overloads.push_back(Scalar("(FLOAT64, INT64) -> FLOAT64", of_double));
  return overloads;
}

}  // namespace

std::vector<Function> RoundingFunctions() {
  return {
      {.name = "ROUND",
       .overloads =
           WithDigits(RowKernel<Round>, RowKernel<RoundDigits<float>>, RowKernel<RoundDigits<double>>),
       .meaning = "The nearest whole number, or the nearest number with so many digits behind the point.  "
                  "Halves are rounded away "
                  "from zero; negative digits round before the point.",
       .examples = {"ROUND(2.5)", "ROUND(123.456, 1)", "ROUND(155, -1)"}},
      {.name = "TRUNC",
       .overloads = WithDigits(RowKernel<Truncate>, RowKernel<TruncateDigits<float>>,
                               RowKernel<TruncateDigits<double>>),
       .meaning =
           "The number without what stands behind the point, or behind so many digits behind the point.",
       .examples = {"TRUNC(-2.7)", "TRUNC(1.239, 2)"}},
      {.name = "CEIL",
       .overloads = OfFloats(RowKernel<Ceiling>),
       .meaning = "The least whole number that is not less.",
       .examples = {"CEIL(1.2)"}},
      {.name = "CEILING", .alias_of = "CEIL"},
      {.name = "FLOOR",
       .overloads = OfFloats(RowKernel<Floor>),
       .meaning = "The greatest whole number that is not greater.",
       .examples = {"FLOOR(-1.2)"}},
  };
}

}  // namespace sonde::sql
