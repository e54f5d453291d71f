#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "sql/function/equality.h"
#include "sql/function/function_list.h"
#include "sql/function/value_set.h"
#include "sql/number/operator_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// The set of a list that is the same for all rows of a batch, mostly for all batches.
class SetState : public CallState {
 public:
  bool is_built() const { return set_.has_value(); }
  const ValueSet& set() const { return *set_; }
  // Builds the set, if it is not that of these values already.
  void Build(const Type& type, absl::Span<const Datum> values) {
    if (!set_.has_value() || !set_->IsOf(values)) set_.emplace(type, values);
  }

 private:
  std::optional<ValueSet> set_;
};

class Truths {
 public:
  explicit Truths(Call& call) : rows_(call.rows()) {
    values_ = call.arena()->New<int64_t>(rows_);
    there_ = call.arena()->New<uint8_t>(rows_);
  }
  void Set(size_t row, Truth truth) {
    values_[row] = truth == Truth::kTrue ? 1 : 0;
    there_[row] = truth == Truth::kUnknown ? 0 : 1;
  }
  ColumnView View() const { return ColumnView::OfInts({values_, rows_}, there_); }

 private:
  size_t rows_;
  int64_t* values_;
  uint8_t* there_;
};

template <typename T>
void LookUpAll(const ValueSet& set, const ColumnView& column, const T* values, size_t rows, Truths* truths) {
  for (size_t row = 0; row < rows; ++row) {
    truths->Set(row, column.IsThere(row) ? set.Contains(values[column.PlaceOf(row)]) : Truth::kUnknown);
  }
}

ColumnView InSet(Call& call, const ColumnView& column, const ValueSet& set) {
  Truths truths(call);
  if (set.empty()) {
    for (size_t row = 0; row < call.rows(); ++row) truths.Set(row, Truth::kFalse);
    return truths.View();
  }
  switch (column.type()) {
    case ColumnType::kDouble:
      LookUpAll(set, column, column.doubles(), call.rows(), &truths);
      break;
    case ColumnType::kBytes:
      LookUpAll(set, column, column.bytes(), call.rows(), &truths);
      break;
    case ColumnType::kList:
      for (size_t row = 0; row < call.rows(); ++row) truths.Set(row, set.Contains(DatumAt(column, row)));
      break;
    default:
      LookUpAll(set, column, column.ints(), call.rows(), &truths);
  }
  return truths.View();
}

// value IN (values, row by row).
Truth IsAmong(const Datum& value, absl::Span<const Datum> values) {
  Truth found = Truth::kFalse;
  for (const Datum& one : values) {
    const Truth equal = AreEqual(value, one);
    if (equal == Truth::kTrue) return equal;
    if (equal == Truth::kUnknown) found = equal;
  }
  return found;
}

ColumnView InList(Call& call, absl::Span<const ColumnView> arguments) {
  const absl::Span<const ColumnView> list = arguments.subspan(1);
  SetState& state = call.state<SetState>();
  bool is_fixed = true;
  for (size_t i = 0; i < list.size() && is_fixed; ++i) is_fixed = call.is_fixed(i + 1);
  if (is_fixed && state.is_built()) return InSet(call, arguments[0], state.set());
  std::vector<Datum> values(list.size());
  if (std::all_of(list.begin(), list.end(), [](const ColumnView& column) { return column.is_constant(); })) {
    for (size_t i = 0; i < list.size(); ++i) values[i] = DatumAt(list[i], 0);
    state.Build(call.argument_type(0), values);
    return InSet(call, arguments[0], state.set());
  }
  Truths truths(call);
  for (size_t row = 0; row < call.rows(); ++row) {
    for (size_t i = 0; i < list.size(); ++i) values[i] = DatumAt(list[i], row);
    truths.Set(row, IsAmong(DatumAt(arguments[0], row), values));
  }
  return truths.View();
}

ColumnView InArray(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& arrays = arguments[1];
  SetState& state = call.state<SetState>();
  const auto elements = [&](size_t row) {
    return arrays.IsThere(row) ? arrays.lists()[arrays.PlaceOf(row)].list() : absl::Span<const Datum>();
  };
  if (arrays.is_constant() && call.rows() > 0) {
    if (!call.is_fixed(1) || !state.is_built()) state.Build(call.argument_type(0), elements(0));
    return InSet(call, arguments[0], state.set());
  }
  Truths truths(call);
  for (size_t row = 0; row < call.rows(); ++row) {
    truths.Set(row, IsAmong(DatumAt(arguments[0], row), elements(row)));
  }
  return truths.View();
}

}  // namespace

std::vector<Function> MembershipOperators() {
  return {
      {.name = "$in",
       .overloads = {Scalar("(T1:COMPARABLE, T1, T1...) -> BOOL", InList)},
       .meaning =
           "Whether a value is equal to one of several others.  NULL if it is not, but one of them is NULL.",
       .examples = {"2 IN (1, 2, 3)", "4 IN (1, NULL)"}},
      {.name = "$in_array",
       .overloads = {Scalar("(T1:COMPARABLE, ARRAY<T1>) -> BOOL", InArray)},
       .meaning = "Whether a value is equal to an element of an array.  FALSE if the array is empty or NULL.",
       .examples = {"2 IN UNNEST([1, 2, 3])"}},
  };
}

}  // namespace sonde::sql
