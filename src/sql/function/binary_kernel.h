// Kernels of operators of two values of one type, for columns of numbers and of bytes.
//
// An operation is a type Op:
//   Op::In, Op::Out            what it takes and gives: int64_t, double, std::string_view
//   Op::Value(a, b)            the result; of rows that fail, or are NULL, anything
//   Op::kMayFail               whether a row can fail; then:
//   Op::Suspect(a, b, result)  not 0: the row may have failed.  Cheap, as it is asked for all rows
//   Op::Check(a, b)            why the row fails, or OK
//
// Cost: loops over blocks of a fixed size without branches, which the compiler turns into vector instructions; one loop for
//   each of column and column, column and constant, constant and column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "sql/function/call.h"

namespace sonde::sql {
namespace binary_kernel_internal {

template <typename T>
const T* ValuesOf(const ColumnView& column) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return column.ints();
  } else if constexpr (std::is_same_v<T, double>) {
    return column.doubles();
  } else {
    return column.bytes();
  }
}

template <typename T>
ColumnView ColumnOf(const T* values, size_t rows, const uint8_t* there) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return ColumnView::OfInts({values, rows}, there);
  } else {
    return ColumnView::OfDoubles({values, rows}, there);
  }
}

template <typename T>
constexpr ColumnType kColumnTypeOf = std::is_same_v<T, int64_t> ? ColumnType::kInt64 : ColumnType::kDouble;

constexpr size_t kBlockRows = 16;

// The results of rows [0, rows), and whether one of them may have failed.
template <typename Op, bool kConstantA, bool kConstantB>
bool Fill(const typename Op::In* __restrict a, const typename Op::In* __restrict b, size_t rows,
          typename Op::Out* __restrict results) {
  const auto value_of = [](const auto* values, bool is_constant, size_t row) {
    return values[is_constant ? 0 : row];
  };
  uint64_t suspect = 0;
  const auto fill = [&](size_t row) __attribute__((always_inline)) {
    const auto left = value_of(a, kConstantA, row);
    const auto right = value_of(b, kConstantB, row);
    results[row] = Op::Value(left, right);
    if constexpr (Op::kMayFail) suspect |= Op::Suspect(left, right, results[row]);
  };
  size_t row = 0;
  for (; row + kBlockRows <= rows; row += kBlockRows) {
    for (size_t i = 0; i < kBlockRows; ++i) fill(row + i);
  }
  for (; row < rows; ++row) fill(row);
  return suspect != 0;
}

// The same of rows that may be NULL: what stands in their places is not looked at, as bytes there may be no more.
template <typename Op>
void FillThere(const ColumnView& a, const ColumnView& b, size_t rows, const uint8_t* there,
               typename Op::Out* results) {
  const auto* const lefts = ValuesOf<typename Op::In>(a);
  const auto* const rights = ValuesOf<typename Op::In>(b);
  for (size_t row = 0; row < rows; ++row) {
    results[row] = there[row] == 0 ? 0 : Op::Value(lefts[a.PlaceOf(row)], rights[b.PlaceOf(row)]);
  }
}

// Tells of the rows that fail.  The byte of such a row in `there` becomes 0.
template <typename Op>
void FailRows(Call& call, const ColumnView& a, const ColumnView& b, size_t rows, uint8_t* there) {
  const auto* const lefts = ValuesOf<typename Op::In>(a);
  const auto* const rights = ValuesOf<typename Op::In>(b);
  for (size_t row = 0; row < rows; ++row) {
    if (there[row] == 0) continue;
    absl::Status why = Op::Check(lefts[a.PlaceOf(row)], rights[b.PlaceOf(row)]);
    if (why.ok()) continue;
    call.Fail(row, std::move(why));
    there[row] = 0;
  }
}

}  // namespace binary_kernel_internal

// For `rows` rows: 1 where both values are there, or null if all are.  Constant columns are there.
inline const uint8_t* BothThere(const ColumnView& a, const ColumnView& b, size_t rows, Arena* arena) {
  const uint8_t* const of_a = a.is_constant() ? nullptr : a.there();
  const uint8_t* const of_b = b.is_constant() ? nullptr : b.there();
  if (of_a == nullptr || of_b == nullptr || of_a == of_b) return of_a == nullptr ? of_b : of_a;
  auto* const both = arena->New<uint8_t>(rows);
  for (size_t row = 0; row < rows; ++row) both[row] = of_a[row] & of_b[row];
  return both;
}

template <typename Op>
ColumnView BinaryKernel(Call& call, absl::Span<const ColumnView> arguments) {
  namespace internal = binary_kernel_internal;
  using In = typename Op::In;
  using Out = typename Op::Out;
  const ColumnView& a = arguments[0];
  const ColumnView& b = arguments[1];
  if ((a.is_constant() && !a.IsThere(0)) || (b.is_constant() && !b.IsThere(0))) {
    return ColumnView::Missing(internal::kColumnTypeOf<Out>, call.rows());
  }
  const bool is_constant = a.is_constant() && b.is_constant();
  const size_t rows = is_constant ? std::min<size_t>(call.rows(), 1) : call.rows();
  Out* const results = call.arena()->New<Out>(rows);
  const In* const lefts = internal::ValuesOf<In>(a);
  const In* const rights = internal::ValuesOf<In>(b);
  const uint8_t* there = BothThere(a, b, rows, call.arena());
  if constexpr (std::is_same_v<In, std::string_view>) {
    static_assert(!Op::kMayFail);
    if (there != nullptr) {
      internal::FillThere<Op>(a, b, rows, there, results);
      return internal::ColumnOf(results, rows, there);
    }
  }
  const bool suspect = a.is_constant()   ? internal::Fill<Op, true, false>(lefts, rights, rows, results)
                       : b.is_constant() ? internal::Fill<Op, false, true>(lefts, rights, rows, results)
                                         : internal::Fill<Op, false, false>(lefts, rights, rows, results);
  if constexpr (Op::kMayFail) {
    if (suspect) {
      auto* const left_over = call.arena()->New<uint8_t>(rows);
      for (size_t row = 0; row < rows; ++row) left_over[row] = there == nullptr ? 1 : there[row];
      internal::FailRows<Op>(call, a, b, rows, left_over);
      there = left_over;
    }
  }
  const ColumnView column = internal::ColumnOf(results, rows, there);
  return is_constant && rows == 1 ? ColumnView::Constant(column, call.rows()) : column;
}

}  // namespace sonde::sql
