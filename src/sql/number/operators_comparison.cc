#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "sql/function/binary_kernel.h"
#include "sql/function/equality.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

template <typename T>
struct ComparisonOp {
  using In = T;
  using Out = int64_t;
  static constexpr bool kMayFail = false;
};
template <typename T>
struct EqualOp : ComparisonOp<T> {
  static int64_t Value(T a, T b) { return a == b ? 1 : 0; }
};
template <typename T>
struct NotEqualOp : ComparisonOp<T> {
  static int64_t Value(T a, T b) { return a != b ? 1 : 0; }
};
template <typename T>
struct LessOp : ComparisonOp<T> {
  static int64_t Value(T a, T b) { return a < b ? 1 : 0; }
};
template <typename T>
struct LessOrEqualOp : ComparisonOp<T> {
  static int64_t Value(T a, T b) { return a <= b ? 1 : 0; }
};

template <template <typename> typename Op>
ColumnView CompareScalars(Call& call, absl::Span<const ColumnView> arguments) {
  switch (ColumnTypeOf(call.argument_type(0))) {
    case ColumnType::kDouble:
      return BinaryKernel<Op<double>>(call, arguments);
    case ColumnType::kBytes:
      return BinaryKernel<Op<std::string_view>>(call, arguments);
    default:
      return BinaryKernel<Op<int64_t>>(call, arguments);
  }
}

template <bool kWhenEqual>
ColumnView CompareStructs(Call& call, absl::Span<const ColumnView> arguments) {
  auto* const results = call.arena()->New<int64_t>(call.rows());
  auto* const there = call.arena()->New<uint8_t>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    const Truth equal = AreEqual(DatumAt(arguments[0], row), DatumAt(arguments[1], row));
    results[row] = (equal == Truth::kTrue) == kWhenEqual ? 1 : 0;
    there[row] = equal == Truth::kUnknown ? 0 : 1;
  }
  return ColumnView::OfInts({results, call.rows()}, there);
}

bool IsOfLists(const Call& call) { return ColumnTypeOf(call.argument_type(0)) == ColumnType::kList; }

ColumnView Equal(Call& call, absl::Span<const ColumnView> arguments) {
  return IsOfLists(call) ? CompareStructs<true>(call, arguments) : CompareScalars<EqualOp>(call, arguments);
}
ColumnView NotEqual(Call& call, absl::Span<const ColumnView> arguments) {
  return IsOfLists(call) ? CompareStructs<false>(call, arguments)
                         : CompareScalars<NotEqualOp>(call, arguments);
}
ColumnView Less(Call& call, absl::Span<const ColumnView> arguments) {
  return CompareScalars<LessOp>(call, arguments);
}
ColumnView LessOrEqual(Call& call, absl::Span<const ColumnView> arguments) {
  return CompareScalars<LessOrEqualOp>(call, arguments);
}
ColumnView Greater(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView swapped[] = {arguments[1], arguments[0]};
  return Less(call, swapped);
}
ColumnView GreaterOrEqual(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView swapped[] = {arguments[1], arguments[0]};
  return LessOrEqual(call, swapped);
}

// a AND b, of columns of BOOL that are not both constant or both are.
ColumnView BothTrue(Call& call, const ColumnView& a, const ColumnView& b) {
  auto* const results = call.arena()->New<int64_t>(call.rows());
  if (a.there() == nullptr && b.there() == nullptr && !a.is_constant() && !b.is_constant()) {
    for (size_t row = 0; row < call.rows(); ++row) results[row] = a.ints()[row] & b.ints()[row];
    return ColumnView::OfInts({results, call.rows()});
  }
  auto* const there = call.arena()->New<uint8_t>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    const bool a_there = a.IsThere(row);
    const bool b_there = b.IsThere(row);
    const bool a_false = a_there && a.ints()[a.PlaceOf(row)] == 0;
    const bool b_false = b_there && b.ints()[b.PlaceOf(row)] == 0;
    results[row] = a_false || b_false ? 0 : 1;
    there[row] = a_false || b_false || (a_there && b_there) ? 1 : 0;
  }
  return ColumnView::OfInts({results, call.rows()}, there);
}

ColumnView Between(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView from[] = {arguments[1], arguments[0]};
  const ColumnView to[] = {arguments[0], arguments[2]};
  const ColumnView at_least = LessOrEqual(call, from);
  return BothTrue(call, at_least, LessOrEqual(call, to));
}

ColumnView IsDistinctFrom(Call& call, absl::Span<const ColumnView> arguments) {
  auto* const results = call.arena()->New<int64_t>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    results[row] = Compare(arguments[0], row, arguments[1], row) != 0 ? 1 : 0;
  }
  return ColumnView::OfInts({results, call.rows()});
}

Function Ordering(std::string name, Kernel kernel, std::string meaning, std::string example) {
  return {.name = std::move(name),
          .overloads = {Scalar("(T1:ORDERABLE, T1) -> BOOL", kernel)},
          .meaning = std::move(meaning),
          .examples = {std::move(example)}};
}

}  // namespace

std::vector<Function> ComparisonOperators() {
  return {
      {.name = "$equal",
       .overloads = {Scalar("(T1:COMPARABLE, T1) -> BOOL", Equal)},
       .meaning =
           "Whether two values are equal.  NaN is equal to nothing; structs are compared field by field.",
       .examples = {"1 = 1.0", "(1, NULL) = (2, NULL)"}},
      {.name = "$not_equal",
       .overloads = {Scalar("(T1:COMPARABLE, T1) -> BOOL", NotEqual)},
       .meaning = "Whether two values differ.",
       .examples = {"'a' != 'A'"}},
      Ordering("$less", Less, "Whether a value comes before another.  Texts are ordered by their bytes.",
               "'a' < 'b'"),
      Ordering("$less_or_equal", LessOrEqual, "Whether a value comes before another, or is equal to it.",
               "2 <= 2"),
      Ordering("$greater", Greater, "Whether a value comes behind another.", "TRUE > FALSE"),
      Ordering("$greater_or_equal", GreaterOrEqual,
               "Whether a value comes behind another, or is equal to it.",
               "DATE '2024-01-01' >= '2023-12-31'"),
      {.name = "$between",
       .overloads = {Scalar("(T1:ORDERABLE, T1, T1) -> BOOL", Between)},
       .meaning = "Whether a value lies between two others, or is equal to one of them.",
       .examples = {"5 BETWEEN 1 AND 5"}},
      {.name = "$is_distinct",
       .overloads = {Scalar("(T1:COMPARABLE, T1) -> BOOL", IsDistinctFrom)},
       .meaning =
           "Whether two values differ, where NULL is a value like others: NULL and NULL do not differ.",
       .examples = {"NULL IS DISTINCT FROM 1"}},
  };
}

}  // namespace sonde::sql
