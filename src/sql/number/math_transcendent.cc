#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/math_families.h"

namespace sonde::sql {
namespace {

// A function of one number.  kFails: a result that is infinite or NaN, of a number that is not, is an error.
enum class Fails : uint8_t { kNever, kError, kOverflow };

struct Sine {
  static constexpr std::string_view kName = "SIN";
  static constexpr Fails kFails = Fails::kNever;
  static double Of(double x) { return std::sin(x); }
};
struct Cosine {
  static constexpr std::string_view kName = "COS";
  static constexpr Fails kFails = Fails::kNever;
  static double Of(double x) { return std::cos(x); }
};
struct Tangent {
  static constexpr std::string_view kName = "TAN";
  static constexpr Fails kFails = Fails::kOverflow;
  static double Of(double x) { return std::tan(x); }
};
struct Cotangent {
  static constexpr std::string_view kName = "COT";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return 1 / std::tan(x); }
};
struct Secant {
  static constexpr std::string_view kName = "SEC";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return 1 / std::cos(x); }
};
struct Cosecant {
  static constexpr std::string_view kName = "CSC";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return 1 / std::sin(x); }
};
struct ArcSine {
  static constexpr std::string_view kName = "ASIN";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::asin(x); }
};
struct ArcCosine {
  static constexpr std::string_view kName = "ACOS";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::acos(x); }
};
struct ArcTangent {
  static constexpr std::string_view kName = "ATAN";
  static constexpr Fails kFails = Fails::kNever;
  static double Of(double x) { return std::atan(x); }
};
struct HyperbolicSine {
  static constexpr std::string_view kName = "SINH";
  static constexpr Fails kFails = Fails::kOverflow;
  static double Of(double x) { return std::sinh(x); }
};
struct HyperbolicCosine {
  static constexpr std::string_view kName = "COSH";
  static constexpr Fails kFails = Fails::kOverflow;
  static double Of(double x) { return std::cosh(x); }
};
struct HyperbolicTangent {
  static constexpr std::string_view kName = "TANH";
  static constexpr Fails kFails = Fails::kNever;
  static double Of(double x) { return std::tanh(x); }
};
struct HyperbolicCotangent {
  static constexpr std::string_view kName = "COTH";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return 1 / std::tanh(x); }
};
struct HyperbolicSecant {
  static constexpr std::string_view kName = "SECH";
  static constexpr Fails kFails = Fails::kNever;
  static double Of(double x) { return 1 / std::cosh(x); }
};
struct HyperbolicCosecant {
  static constexpr std::string_view kName = "CSCH";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return 1 / std::sinh(x); }
};
struct AreaSine {
  static constexpr std::string_view kName = "ASINH";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::asinh(x); }
};
struct AreaCosine {
  static constexpr std::string_view kName = "ACOSH";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::acosh(x); }
};
struct AreaTangent {
  static constexpr std::string_view kName = "ATANH";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::atanh(x); }
};
struct Exponential {
  static constexpr std::string_view kName = "EXP";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::exp(x); }
};
struct NaturalLogarithm {
  static constexpr std::string_view kName = "LN";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::log(x); }
};
struct DecimalLogarithm {
  static constexpr std::string_view kName = "LOG10";
  static constexpr Fails kFails = Fails::kError;
  static double Of(double x) { return std::log10(x); }
};
struct CubeRoot {
  static constexpr std::string_view kName = "CBRT";
  static constexpr Fails kFails = Fails::kNever;
  // Rounded once: the cube root of 27 is 3.
  static double Of(double x) { return static_cast<double>(std::cbrt(static_cast<long double>(x))); }
};

template <typename F>
absl::StatusOr<double> Apply(Call&, double x) {
  const double result = F::Of(x);
  if (F::kFails == Fails::kNever || std::isfinite(result) || !std::isfinite(x)) return result;
  const std::string_view what = F::kFails == Fails::kOverflow ? "overflow" : "error";
  return absl::OutOfRangeError(fmt::format("Floating point {} in function: {}({:g})", what, F::kName, x));
}

absl::StatusOr<double> CheckTwo(std::string_view name, double x, double y, double result) {
  if (std::isfinite(result) || !std::isfinite(x) || !std::isfinite(y)) return result;
  return absl::OutOfRangeError(fmt::format("Floating point error in function: {}({:g}, {:g})", name, x, y));
}

absl::StatusOr<double> SquareRoot(Call&, double x) {
  if (x < 0) return absl::OutOfRangeError(fmt::format("Argument to SQRT cannot be negative: {:g}", x));
  return std::sqrt(x);
}
absl::StatusOr<double> Power(Call&, double x, double y) { return CheckTwo("POW", x, y, std::pow(x, y)); }
absl::StatusOr<double> ArcTangentOfTwo(Call&, double y, double x) {
  return CheckTwo("ATAN2", y, x, std::atan2(y, x));
}
absl::StatusOr<double> Logarithm(Call&, double x, double base) {
  const bool is_base = std::isfinite(base) && base > 0;
  return CheckTwo("LOG", x, base,
                  is_base ? std::log(x) / std::log(base) : std::numeric_limits<double>::quiet_NaN());
}

template <typename F>
Function OfNumber(std::string meaning) {
  const std::string name(F::kName);
  const char* const at = name == "ACOSH" ? "1.5" : "0.5";
  return {.name = name,
          .overloads = {Scalar("(FLOAT64) -> FLOAT64", RowKernel<Apply<F>>)},
          .meaning = std::move(meaning),
          .examples = {fmt::format("{}({})", name, at)}};
}

}  // namespace

std::vector<Function> TranscendentFunctions() {
  return {
      OfNumber<Sine>("The sine of an angle in radians."),
      OfNumber<Cosine>("The cosine of an angle in radians."),
      OfNumber<Tangent>("The tangent of an angle in radians."),
      OfNumber<Cotangent>("The cotangent of an angle in radians.  Of 0 it is an error."),
      OfNumber<Secant>("The secant of an angle in radians."),
      OfNumber<Cosecant>("The cosecant of an angle in radians.  Of 0 it is an error."),
      OfNumber<ArcSine>("The angle whose sine is the number, which lies between -1 and 1."),
      OfNumber<ArcCosine>("The angle whose cosine is the number, which lies between -1 and 1."),
      OfNumber<ArcTangent>("The angle whose tangent is the number."),
      OfNumber<HyperbolicSine>("The hyperbolic sine."),
      OfNumber<HyperbolicCosine>("The hyperbolic cosine."),
      OfNumber<HyperbolicTangent>("The hyperbolic tangent."),
      OfNumber<HyperbolicCotangent>("The hyperbolic cotangent.  Of 0 it is an error."),
      OfNumber<HyperbolicSecant>("The hyperbolic secant."),
      OfNumber<HyperbolicCosecant>("The hyperbolic cosecant.  Of 0 it is an error."),
      OfNumber<AreaSine>("The number whose hyperbolic sine is the argument."),
      OfNumber<AreaCosine>("The number whose hyperbolic cosine is the argument, which is 1 or more."),
      OfNumber<AreaTangent>(
          "The number whose hyperbolic tangent is the argument, which lies between -1 and 1."),
      OfNumber<Exponential>("The power of e."),
      OfNumber<NaturalLogarithm>("The natural logarithm of a number above 0."),
      OfNumber<DecimalLogarithm>("The logarithm to base 10 of a number above 0."),
      OfNumber<CubeRoot>("The cube root."),
      {.name = "LOG",
       .overloads = {Scalar("(FLOAT64) -> FLOAT64", RowKernel<Apply<NaturalLogarithm>>),
                     Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<Logarithm>)},
       .meaning = "The natural logarithm, or that to the base which the second argument is.",
       .examples = {"LOG(8, 2)"}},
      {.name = "SQRT",
       .overloads = {Scalar("(FLOAT64) -> FLOAT64", RowKernel<SquareRoot>)},
       .meaning = "The square root of a number that is not negative.",
       .examples = {"SQRT(2)"}},
      {.name = "POW",
       .overloads = {Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<Power>)},
       .meaning = "The first number raised to the power of the second one.",
       .examples = {"POW(2, 10)"}},
      {.name = "POWER", .alias_of = "POW"},
      {.name = "ATAN2",
       .overloads = {Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<ArcTangentOfTwo>)},
       .meaning =
           "The angle of the point whose ordinate is the first number and whose abscissa is the second one.",
       .examples = {"ATAN2(1, -1)"}},
  };
}

}  // namespace sonde::sql
