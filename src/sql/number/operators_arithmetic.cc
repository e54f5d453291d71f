#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/binary_kernel.h"
#include "sql/function/checked_arithmetic.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"
#include "sql/time/calendar.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

absl::StatusOr<int64_t> MinusInt(Call&, int64_t number) {
  if (number == std::numeric_limits<int64_t>::min()) {
    return absl::OutOfRangeError(fmt::format("int64 overflow: -{}", number));
  }
  return -number;
}

double MinusDouble(Call&, double number) { return -number; }

absl::StatusOr<int64_t> AddDays(Call&, int64_t date, int64_t days) {
  int64_t sum = 0;
  if (__builtin_add_overflow(date, days, &sum) || !IsDate(sum)) {
    return absl::OutOfRangeError(
        fmt::format("Adding {} DAY to date {} causes overflow", days, DateText(date)));
  }
  return sum;
}

absl::StatusOr<int64_t> AddDaysBefore(Call& call, int64_t days, int64_t date) {
  return AddDays(call, date, days);
}

absl::StatusOr<int64_t> SubtractDays(Call& call, int64_t date, int64_t days) {
  if (days == std::numeric_limits<int64_t>::min()) {
    return absl::OutOfRangeError(
        fmt::format("Subtracting {} DAY from date {} causes overflow", days, DateText(date)));
  }
  return AddDays(call, date, -days);
}

}  // namespace

std::vector<Function> ArithmeticOperators() {
  return {
      {.name = "$add",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<AddInts>),
                     Scalar("(FLOAT64, FLOAT64) -> FLOAT64", BinaryKernel<AddDoubles>),
                     Scalar("(DATE, INT64) -> DATE", RowKernel<AddDays>),
                     Scalar("(INT64, DATE) -> DATE", RowKernel<AddDaysBefore>), TimestampPlusInterval()},
       .meaning =
           "The sum of two numbers, the date that is so many days after another, or the timestamp that is an "
           "interval after another.",
       .examples = {"1 + 2", "DATE '2024-02-28' + 2", "TIMESTAMP '2024-02-28 12:00:00' + INTERVAL 1 WEEK"}},
      {.name = "$subtract",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<SubtractInts>),
                     Scalar("(FLOAT64, FLOAT64) -> FLOAT64", BinaryKernel<SubtractDoubles>),
                     Scalar("(DATE, INT64) -> DATE", RowKernel<SubtractDays>), TimestampMinusInterval()},
       .meaning =
           "The difference of two numbers, the date that is so many days before another, or the timestamp "
           "that is an interval before another.",
       .examples = {"1.5 - 2", "TIMESTAMP '2024-02-28 12:00:00' - INTERVAL 90 SECOND"}},
      {.name = "$multiply",
       .overloads = {Scalar("(INT64, INT64) -> INT64", BinaryKernel<MultiplyInts>),
                     Scalar("(FLOAT64, FLOAT64) -> FLOAT64", BinaryKernel<MultiplyDoubles>)},
       .meaning = "The product of two numbers.",
       .examples = {"6 * 7"}},
      {.name = "$divide",
       .overloads = {Scalar("(FLOAT64, FLOAT64) -> FLOAT64", BinaryKernel<DivideDoubles>)},
       .meaning = "The quotient of two numbers, which is a FLOAT64 for whole numbers, too.",
       .examples = {"7 / 2"}},
      {.name = "$unary_minus",
       .overloads = {Scalar("(INT64) -> INT64", RowKernel<MinusInt>),
                     Scalar("(FLOAT64) -> FLOAT64", RowKernel<MinusDouble>),
                     Scalar("(FLOAT32) -> FLOAT32", RowKernel<MinusDouble>)},
       .meaning = "The number with the other sign.",
       .examples = {"-(2 + 3)"}},
  };
}

}  // namespace sonde::sql
