// Makes kernels of functions of one row.
//
//   absl::StatusOr<int64_t> Div(Call&, int64_t a, int64_t b);
//   constexpr Kernel kDiv = RowKernel<Div>;
//
// Arguments of the function, after the Call: bool, int64_t (INT64, DATE, TIMESTAMP, ENUM), double, std::string_view,
//   absl::Span<const Datum> (lists), Datum (a value of any type).  A row with a NULL among its arguments is NULL,
//   and the function is not asked for it; a std::optional of these types takes the NULL itself.
// Results: the same types, in a std::optional (nullopt: NULL) or an absl::StatusOr (an error: Call::Fail), or in
//   absl::StatusOr<std::optional<...>>.  Views must lie in the call's arena, in the arguments, or in what is static.
// Cost: a loop without indirect calls; where all arguments are there, without branches on NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/function/call.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace row_kernel_internal {

template <typename T>
struct Plain {
  using type = T;
  static constexpr bool kMayBeMissing = false;
  static constexpr bool kMayFail = false;
};
template <typename T>
struct Plain<std::optional<T>> {
  using type = T;
  static constexpr bool kMayBeMissing = true;
  static constexpr bool kMayFail = false;
};
template <typename T>
struct Plain<absl::StatusOr<T>> {
  using type = typename Plain<T>::type;
  static constexpr bool kMayBeMissing = Plain<T>::kMayBeMissing;
  static constexpr bool kMayFail = true;
};

template <typename T>
T Get(const ColumnView& column, size_t row) {
  const size_t place = column.PlaceOf(row);
  if constexpr (std::is_same_v<T, bool>) {
    return column.ints()[place] != 0;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return column.ints()[place];
  } else if constexpr (std::is_same_v<T, double>) {
    return column.doubles()[place];
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return column.bytes()[place];
  } else if constexpr (std::is_same_v<T, absl::Span<const Datum>>) {
    return column.lists()[place].list();
  } else {
    static_assert(std::is_same_v<T, Datum>);
    return DatumAt(column, row);
  }
}

// An argument as the function takes it: the value itself, or a std::optional of it.
template <typename T>
T Argument(const ColumnView& column, size_t row) {
  using Value = typename Plain<T>::type;
  if constexpr (Plain<T>::kMayBeMissing) {
    return column.IsThere(row) ? T(Get<Value>(column, row)) : std::nullopt;
  } else {
    return Get<Value>(column, row);
  }
}

// Where the results of a type go.
template <typename T>
struct Stored {
  using type = T;
};
template <>
struct Stored<bool> {
  using type = int64_t;
};
template <>
struct Stored<absl::Span<const Datum>> {
  using type = Datum;
};

// The results of a call, which become a column.
template <typename T>
class Results {
 public:
  Results(Call& call, bool may_be_missing) : rows_(call.rows()) {
    values_ = call.arena()->New<typename Stored<T>::type>(rows_);
    if (!may_be_missing) return;
    there_ = call.arena()->New<uint8_t>(rows_);
  }

  void Set(size_t row, const T& value) {
    if constexpr (std::is_same_v<T, absl::Span<const Datum>>) {
      values_[row] = Datum::List(value);
    } else {
      values_[row] = value;
    }
    if (there_ != nullptr) there_[row] = 1;
  }
  void SetMissing(size_t row) {
    values_[row] = {};
    there_[row] = 0;
  }

  ColumnView View() const {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>) {
      return ColumnView::OfInts({values_, rows_}, there_);
    } else if constexpr (std::is_same_v<T, double>) {
      return ColumnView::OfDoubles({values_, rows_}, there_);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return ColumnView::OfBytes({values_, rows_}, there_);
    } else {
      return ColumnView::OfLists({values_, rows_}, there_);
    }
  }

 private:
  size_t rows_;
  typename Stored<T>::type* values_ = nullptr;
  uint8_t* there_ = nullptr;
};

template <typename F>
struct Function;
template <typename Result, typename... Arguments>
struct Function<Result (*)(Call&, Arguments...)> {
  using Value = typename Plain<Result>::type;

  template <auto kFunction, size_t... kIndex>
  static ColumnView Run(Call& call, [[maybe_unused]] absl::Span<const ColumnView> arguments,
                        std::index_sequence<kIndex...>) {
    // The arguments that make a row NULL.
    const bool all_there = ((Plain<Arguments>::kMayBeMissing || arguments[kIndex].there() == nullptr) && ...);
    constexpr bool kMayBeMissing = Plain<Result>::kMayBeMissing || Plain<Result>::kMayFail;
    Results<Value> results(call, kMayBeMissing || !all_there);
    for (size_t row = 0; row < call.rows(); ++row) {
      if (!all_there && !((Plain<Arguments>::kMayBeMissing || arguments[kIndex].IsThere(row)) && ...)) {
        results.SetMissing(row);
        continue;
      }
      auto&& result = kFunction(call, Argument<Arguments>(arguments[kIndex], row)...);
      Put(call, row, result, &results);
    }
    return results.View();
  }

  static void Put(Call& call, size_t row, const Result& result, Results<Value>* results) {
    if constexpr (Plain<Result>::kMayFail) {
      if (!result.ok()) {
        call.Fail(row, result.status());
        return results->SetMissing(row);
      }
      PutThere(row, *result, results);
    } else {
      PutThere(row, result, results);
    }
  }
  template <typename There>
  static void PutThere(size_t row, const There& there, Results<Value>* results) {
    if constexpr (Plain<There>::kMayBeMissing) {
      if (!there.has_value()) return results->SetMissing(row);
      results->Set(row, *there);
    } else {
      results->Set(row, there);
    }
  }

  template <auto kFunction>
  static ColumnView Kernel(Call& call, absl::Span<const ColumnView> arguments) {
    return Run<kFunction>(call, arguments, std::index_sequence_for<Arguments...>());
  }
};

}  // namespace row_kernel_internal

template <auto kFunction>
constexpr Kernel RowKernel = row_kernel_internal::Function<decltype(kFunction)>::template Kernel<kFunction>;

}  // namespace sonde::sql
