#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"

namespace sonde::sql {
namespace {

bool Not(Call&, bool value) { return !value; }
bool IsTrue(Call&, std::optional<bool> value) { return value.value_or(false); }
bool IsFalse(Call&, std::optional<bool> value) { return !value.value_or(true); }

// Of values of any type, which it does not look at.
ColumnView IsNull(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& value = arguments[0];
  const size_t rows =
      value.is_constant() || value.there() == nullptr ? std::min<size_t>(1, call.rows()) : call.rows();
  auto* const results = call.arena()->New<int64_t>(rows);
  for (size_t row = 0; row < rows; ++row) results[row] = value.IsThere(row) ? 0 : 1;
  const ColumnView column = ColumnView::OfInts({results, rows});
  return rows == call.rows() ? column : ColumnView::Constant(column, call.rows());
}

}  // namespace

std::vector<Function> LogicOperators() {
  return {
      {.name = "$not",
       .overloads = {Scalar("(BOOL) -> BOOL", RowKernel<Not>)},
       .meaning = "TRUE for FALSE, and FALSE for TRUE.",
       .examples = {"NOT TRUE"}},
      {.name = "$is_null",
       .overloads = {Scalar("(T1) -> BOOL", IsNull)},
       .meaning = "Whether a value is NULL.",
       .examples = {"NULL IS NULL"}},
      {.name = "$is_true",
       .overloads = {Scalar("(BOOL) -> BOOL", RowKernel<IsTrue>)},
       .meaning = "Whether a value is TRUE; FALSE for NULL.",
       .examples = {"NULL IS TRUE"}},
      {.name = "$is_false",
       .overloads = {Scalar("(BOOL) -> BOOL", RowKernel<IsFalse>)},
       .meaning = "Whether a value is FALSE; FALSE for NULL.",
       .examples = {"NULL IS FALSE"}},
  };
}

}  // namespace sonde::sql
