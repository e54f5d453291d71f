#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "sql/function/checked_arithmetic.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/math_families.h"

namespace sonde::sql {
namespace {

absl::Status NegatedTooFar(int64_t number) {
  return absl::OutOfRangeError(fmt::format("int64 overflow: -{}", number));
}

absl::StatusOr<int64_t> AbsoluteInt(Call&, int64_t number) {
  if (number == std::numeric_limits<int64_t>::min()) return NegatedTooFar(number);
  return number < 0 ? -number : number;
}
double AbsoluteDouble(Call&, double number) { return std::abs(number); }

int64_t SignOfInt(Call&, int64_t number) { return number < 0 ? -1 : number > 0 ? 1 : 0; }
double SignOfDouble(Call&, double number) {
  return number < 0 ? -1 : number > 0 ? 1 : std::isnan(number) ? number : 0;
}

absl::StatusOr<int64_t> Divide(Call&, int64_t a, int64_t b) {
  if (b == 0) return absl::OutOfRangeError(fmt::format("division by zero: {} / {}", a, b));
  if (b == -1 && a == std::numeric_limits<int64_t>::min()) return NegatedTooFar(a);
  return a / b;
}

absl::StatusOr<int64_t> Modulo(Call&, int64_t a, int64_t b) {
  if (b == 0) return absl::OutOfRangeError(fmt::format("division by zero: MOD({}, {})", a, b));
  return b == -1 ? 0 : a % b;
}

__attribute__((no_sanitize("float-divide-by-zero"))) double IeeeDivide(Call&, double a, double b) {
  return a / b;
}
__attribute__((no_sanitize("float-divide-by-zero"))) double IeeeDivideFloats(Call&, double a, double b) {
  return static_cast<float>(a) / static_cast<float>(b);
}

// NULL where Op fails.
template <typename Op>
std::optional<typename Op::Out> Safe(Call&, typename Op::In a, typename Op::In b) {
  const typename Op::Out result = Op::Value(a, b);
  if (Op::Suspect(a, b, result) != 0 && !Op::Check(a, b).ok()) return std::nullopt;
  return result;
}
std::optional<int64_t> SafeNegateInt(Call&, int64_t number) {
  if (number == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return -number;
}
double NegateDouble(Call&, double number) { return -number; }

bool NumberIsInfinite(Call&, double number) { return std::isinf(number); }
bool NumberIsNan(Call&, double number) { return std::isnan(number); }

int64_t CountBits(Call&, int64_t number) { return std::popcount(static_cast<uint64_t>(number)); }
int64_t CountBitsOfBytes(Call&, std::string_view bytes) {
  int64_t count = 0;
  for (const char byte : bytes) count += std::popcount(static_cast<unsigned char>(byte));
  return count;
}

// Each call of RAND in a statement has numbers of its own.
class RandomState : public CallState {
 public:
  double Next(const Call& call) {
    if (!random_.has_value()) random_.emplace(call.facts().seed ^ reinterpret_cast<uintptr_t>(this));
    return random_->UniformReal();
  }

 private:
  std::optional<SeededRandom> random_;
};
double RandomNumber(Call& call) { return call.state<RandomState>().Next(call); }

template <typename IntOp, typename DoubleOp>
Function SafeOf(std::string name, std::string of, std::string example) {
  return {
      .name = std::move(name),
      .overloads = {Scalar("(INT64, INT64) -> INT64", RowKernel<Safe<IntOp>>),
                    Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<Safe<DoubleOp>>)},
      .meaning = fmt::format("The {} of two numbers, or NULL where it leaves the range of their type.", of),
      .examples = {std::move(example)}};
}

std::vector<Function> SafeFunctions() {
  return {
      SafeOf<AddInts, AddDoubles>("SAFE_ADD", "sum", "SAFE_ADD(9223372036854775807, 1)"),
      SafeOf<SubtractInts, SubtractDoubles>("SAFE_SUBTRACT", "difference", "SAFE_SUBTRACT(5, 3)"),
      SafeOf<MultiplyInts, MultiplyDoubles>("SAFE_MULTIPLY", "product", "SAFE_MULTIPLY(1e308, 10)"),
      {.name = "SAFE_DIVIDE",
       .overloads = {Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<Safe<DivideDoubles>>)},
       .meaning = "The quotient of two numbers, or NULL where / is an error.",
       .examples = {"SAFE_DIVIDE(1, 0)"}},
      {.name = "SAFE_NEGATE",
       .overloads = {Scalar("(INT64) -> INT64", RowKernel<SafeNegateInt>),
                     Scalar("(FLOAT32) -> FLOAT32", RowKernel<NegateDouble>),
                     Scalar("(FLOAT64) -> FLOAT64", RowKernel<NegateDouble>)},
       .meaning = "The number with the other sign, or NULL where that leaves the range of its type.",
       .examples = {"SAFE_NEGATE(7)"}},
  };
}

std::vector<Overload> OfAllNumbers(Kernel of_ints, Kernel of_doubles) {
  return {Scalar("(INT64) -> INT64", of_ints), Scalar("(FLOAT32) -> FLOAT32", of_doubles),
          Scalar("(FLOAT64) -> FLOAT64", of_doubles)};
}

}  // namespace

std::vector<Function> NumberFunctions() {
  std::vector<Function> functions = SafeFunctions();
  const std::vector<Function> others = {
      {.name = "ABS",
       .overloads = OfAllNumbers(RowKernel<AbsoluteInt>, RowKernel<AbsoluteDouble>),
       .meaning = "The number without its sign.",
       .examples = {"ABS(-7)"}},
      {.name = "SIGN",
       .overloads = OfAllNumbers(RowKernel<SignOfInt>, RowKernel<SignOfDouble>),
       .meaning = "-1, 0 or 1 for numbers below 0, 0, and above 0.",
       .examples = {"SIGN(-2.5)"}},
      {.name = "DIV",
       .overloads = {Scalar("(INT64, INT64) -> INT64", RowKernel<Divide>)},
       .meaning = "The quotient of two whole numbers, cut to a whole number.",
       .examples = {"DIV(-7, 2)"}},
      {.name = "MOD",
       .overloads = {Scalar("(INT64, INT64) -> INT64", RowKernel<Modulo>)},
       .meaning = "The remainder of DIV, which has the sign of the first number.",
       .examples = {"MOD(-7, 2)"}},
      {.name = "IEEE_DIVIDE",
       .overloads = {Scalar("(FLOAT32, FLOAT32) -> FLOAT32", RowKernel<IeeeDivideFloats>),
                     Scalar("(FLOAT64, FLOAT64) -> FLOAT64", RowKernel<IeeeDivide>)},
       .meaning = "The quotient of two numbers, which is infinite or NaN where / is an error.",
       .examples = {"IEEE_DIVIDE(1, 0)"}},
      {.name = "IS_INF",
       .overloads = {Scalar("(FLOAT64) -> BOOL", RowKernel<NumberIsInfinite>)},
       .meaning = "Whether a number is infinite.",
       .examples = {"IS_INF(IEEE_DIVIDE(1, 0))"}},
      {.name = "IS_NAN",
       .overloads = {Scalar("(FLOAT64) -> BOOL", RowKernel<NumberIsNan>)},
       .meaning = "Whether a number is NaN.",
       .examples = {"IS_NAN(1.5)"}},
      {.name = "BIT_COUNT",
       .overloads = {Scalar("(INT64) -> INT64", RowKernel<CountBits>),
                     Scalar("(BYTES) -> INT64", RowKernel<CountBitsOfBytes>)},
       .meaning = "How many bits are set.",
       .examples = {"BIT_COUNT(5)"}},
      {.name = "RAND",
       .overloads = {Scalar("() -> FLOAT64", RowKernel<RandomNumber>)},
       .meaning = "A random number from 0 on and below 1, another one for each row.",
       .examples = {"RAND() < 1"},
       .is_volatile = true},
  };
  functions.insert(functions.end(), others.begin(), others.end());
  return functions;
}

}  // namespace sonde::sql
