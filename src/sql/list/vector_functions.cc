// Distances and norms of vectors, which are arrays of numbers; vectors from bytes.
//
// Sums run from the first element to the last, so that results are GoogleSQL's to the last bit.  The first element that
// fails is told, whether it is NULL or its sum leaves the range.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/list/array_families.h"
#include "sql/list/functions.h"

namespace sonde::sql {
namespace {

// A sum that is counted twice: quickly, which tells only whether all went well, then element by element with checks, which
// finds the first fault.
struct Plain {
  // A sum that is not finite may have left the range.
  bool IsTrusted(double sum) { return std::isfinite(sum); }
  double Add(double a, double b) { return a + b; }
  double Subtract(double a, double b) { return a - b; }
  double Multiply(double a, double b) { return a * b; }
};

// Remembers the first operation of finite numbers whose result is none.
struct Checked {
  bool IsTrusted(double) { return true; }
  double Add(double a, double b) { return Check(a, '+', b, a + b); }
  double Subtract(double a, double b) { return Check(a, '-', b, a - b); }
  double Multiply(double a, double b) { return Check(a, '*', b, a * b); }
  double Check(double a, char sign, double b, double result) {
    if (!std::isfinite(result) && std::isfinite(a) && std::isfinite(b) && status.ok()) {
      status = absl::OutOfRangeError(fmt::format("double overflow: {:.6g} {} {:.6g}", a, sign, b));
    }
    return result;
  }
  absl::Status status;
};

template <typename Number>
double NumberOf(const Datum& item) {
  if constexpr (std::is_same_v<Number, int64_t>) return static_cast<double>(item.integer);
  return item.number;
}

// The place of the first NULL; the size of the array where there is none.
size_t FirstNull(List array) {
  const auto* const found =
      std::find_if(array.begin(), array.end(), [](const Datum& item) { return !item.is_there; });
  return static_cast<size_t>(found - array.begin());
}

// The result of Measure, which takes a way to count and how many elements it counts; counted again with checks where the
// result is not finite.  `null_text` is told of the NULL at place `first_null`, unless a sum before it leaves the range.
template <typename Measure>
absl::StatusOr<double> Measured(size_t size, size_t first_null, std::string_view null_text,
                                const Measure& measure) {
  if (first_null == size) {
    Plain plain;
    const absl::StatusOr<double> result = measure(plain, size);
    if (result.ok() && std::isfinite(*result)) return result;
  }
  Checked checked;
  absl::StatusOr<double> result = measure(checked, first_null);
  if (!checked.status.ok()) return checked.status;
  if (first_null < size) return absl::OutOfRangeError(std::string(null_text));
  return result;
}

template <typename Measure>
absl::StatusOr<double> OfPair(List a, List b, const Measure& measure) {
  if (a.size() != b.size()) {
    return absl::OutOfRangeError(fmt::format("Array length mismatch: {} and {}", a.size(), b.size()));
  }
  const size_t first = FirstNull(a);
  const size_t second = FirstNull(b);
  return Measured(
      a.size(), std::min(first, second),
      first <= second ? "NULL array element in first argument" : "NULL array element in second argument",
      measure);
}

template <typename Measure>
absl::StatusOr<double> OfVector(List a, const Measure& measure) {
  return Measured(a.size(), FirstNull(a), "NULL array element", measure);
}

template <typename Number>
absl::StatusOr<double> CosineDistance(Call&, List a, List b) {
  return OfPair(a, b, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double dot = 0;
    double squares_a = 0;
    double squares_b = 0;
    for (size_t i = 0; i < count; ++i) {
      const double x = NumberOf<Number>(a[i]);
      const double y = NumberOf<Number>(b[i]);
      dot = math.Add(dot, math.Multiply(x, y));
      squares_a = math.Add(squares_a, math.Multiply(x, x));
      squares_b = math.Add(squares_b, math.Multiply(y, y));
    }
    if (!math.IsTrusted(squares_a) || !math.IsTrusted(squares_b)) return std::nan("");
    if (squares_a == 0 || squares_b == 0) {
      return absl::OutOfRangeError("Cannot compute cosine distance against zero vector");
    }
    return 1 - dot / (std::sqrt(squares_a) * std::sqrt(squares_b));
  });
}

template <typename Number>
absl::StatusOr<double> EuclideanDistance(Call&, List a, List b) {
  return OfPair(a, b, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const double distance = math.Subtract(NumberOf<Number>(a[i]), NumberOf<Number>(b[i]));
      squares = math.Add(squares, math.Multiply(distance, distance));
    }
    return std::sqrt(squares);
  });
}

template <typename Number>
absl::StatusOr<double> ManhattanDistance(Call&, List a, List b) {
  return OfPair(a, b, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      sum = math.Add(sum, std::fabs(math.Subtract(NumberOf<Number>(a[i]), NumberOf<Number>(b[i]))));
    }
    return sum;
  });
}

template <typename Number>
absl::StatusOr<double> DotProduct(Call&, List a, List b) {
  return OfPair(a, b, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      sum = math.Add(sum, math.Multiply(NumberOf<Number>(a[i]), NumberOf<Number>(b[i])));
    }
    return sum;
  });
}

template <typename Number>
absl::StatusOr<double> L1Norm(Call&, List a) {
  return OfVector(a, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum = math.Add(sum, std::fabs(NumberOf<Number>(a[i])));
    return sum;
  });
}

template <typename Number>
absl::StatusOr<double> L2Norm(Call&, List a) {
  return OfVector(a, [&](auto& math, size_t count) -> absl::StatusOr<double> {
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const double number = NumberOf<Number>(a[i]);
      squares = math.Add(squares, math.Multiply(number, number));
    }
    return std::sqrt(squares);
  });
}

// Floats or doubles, each with its first byte first.
template <typename Bits, typename Number>
absl::StatusOr<List> VectorOf(Call& call, std::string_view bytes) {
  if (bytes.size() % sizeof(Bits) != 0) {
    return absl::OutOfRangeError(fmt::format("TO_VECTOR{} needs a multiple of {} bytes, not {}",
                                             sizeof(Bits) * 8, sizeof(Bits), bytes.size()));
  }
  const size_t count = bytes.size() / sizeof(Bits);
  const absl::StatusOr<Datum*> items = NewItems(call, count);
  if (!items.ok()) return items.status();
  for (size_t i = 0; i < count; ++i) {
    Bits bits = 0;
    for (size_t byte = 0; byte < sizeof(Bits); ++byte) {
      bits = bits << 8 | static_cast<unsigned char>(bytes[i * sizeof(Bits) + byte]);
    }
    (*items)[i] = Datum::Double(std::bit_cast<Number>(bits));
  }
  return List(*items, count);
}

// For vectors of FLOAT32 and FLOAT64; `of_ints`: of INT64, too.
std::vector<Overload> Overloads(size_t arguments, Kernel kernel, Kernel of_ints) {
  std::vector<Overload> overloads;
  const auto append = [&](std::string_view type, Kernel of) {
    const std::string array = fmt::format("ARRAY<{}>", type);
    overloads.push_back(Scalar(
        arguments == 1 ? fmt::format("({}) -> FLOAT64", array) : fmt::format("({0}, {0}) -> FLOAT64", array),
        of));
  };
  if (of_ints != nullptr) append("INT64", of_ints);
  append("FLOAT32", kernel);
  append("FLOAT64", kernel);
  return overloads;
}

}  // namespace

std::vector<Function> VectorFunctions() {
  std::vector<Function> functions;
  functions.push_back({.name = "COSINE_DISTANCE",
                       .overloads = Overloads(2, RowKernel<CosineDistance<double>>, nullptr),
                       .meaning = "1 less the cosine of the angle between two vectors.",
                       .examples = {"COSINE_DISTANCE([1.0, 2.0], [3.0, 4.0])"}});
  functions.push_back(
      {.name = "DOT_PRODUCT",
       .overloads = Overloads(2, RowKernel<DotProduct<double>>, RowKernel<DotProduct<int64_t>>),
       .meaning = "The sum of the products of the elements of two vectors.",
       .examples = {"DOT_PRODUCT([1.0, 2.0], [3.0, 4.0])"}});
  functions.push_back({.name = "EUCLIDEAN_DISTANCE",
                       .overloads = Overloads(2, RowKernel<EuclideanDistance<double>>, nullptr),
                       .meaning = "The distance between two points.",
                       .examples = {"EUCLIDEAN_DISTANCE([1.0, 2.0], [4.0, 6.0])"}});
  functions.push_back({.name = "L1_NORM",
                       .overloads = Overloads(1, RowKernel<L1Norm<double>>, RowKernel<L1Norm<int64_t>>),
                       .meaning = "The sum of the absolute values of the elements.",
                       .examples = {"L1_NORM([3.0, -4.0])"}});
  functions.push_back({.name = "L2_NORM",
                       .overloads = Overloads(1, RowKernel<L2Norm<double>>, RowKernel<L2Norm<int64_t>>),
                       .meaning = "The length of a vector.",
                       .examples = {"L2_NORM([3.0, -4.0])"}});
  functions.push_back(
      {.name = "MANHATTAN_DISTANCE",
       .overloads = Overloads(2, RowKernel<ManhattanDistance<double>>, RowKernel<ManhattanDistance<int64_t>>),
       .meaning = "The sum of the distances of the elements of two vectors.",
       .examples = {"MANHATTAN_DISTANCE([1.0, 2.0], [3.0, 5.0])"}});
  functions.push_back(
      {.name = "TO_VECTOR32",
       .overloads = {Scalar("(BYTES) -> ARRAY<FLOAT32>", RowKernel<VectorOf<uint32_t, float>>)},
       .meaning = "The floats whose bytes follow each other, big-endian, four bytes each.",
       .examples = {R"(TO_VECTOR32(b'\x3f\x80\x00\x00'))"}});
  functions.push_back(
      {.name = "TO_VECTOR64",
       .overloads = {Scalar("(BYTES) -> ARRAY<FLOAT64>", RowKernel<VectorOf<uint64_t, double>>)},
       .meaning = "The doubles whose bytes follow each other, big-endian, eight bytes each.",
       .examples = {R"(TO_VECTOR64(b'\x3f\xf0\x00\x00\x00\x00\x00\x00'))"}});
  return functions;
}

}  // namespace sonde::sql
