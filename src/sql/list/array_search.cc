// Functions that seek elements of arrays: those that equal a value, or for which a lambda is TRUE.
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "model/column.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/equality.h"
#include "sql/function/function_list.h"
#include "sql/function/lambda_over_lists.h"
#include "sql/function/row_kernel.h"
#include "sql/list/array_families.h"
#include "sql/value/value.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

bool IsEqual(const Datum& a, const Datum& b) { return AreEqual(a, b) == Truth::kTrue; }

bool Includes(Call&, List array, Datum target) {
  for (const Datum& item : array) {
    if (IsEqual(item, target)) return true;
  }
  return false;
}

struct Hash {
  size_t operator()(const Datum& datum) const { return HashOf(datum); }
};
struct EqualAsValues {
  bool operator()(const Datum& a, const Datum& b) const { return IsEqual(a, b); }
};
struct EqualInOrder {
  bool operator()(const Datum& a, const Datum& b) const { return Compare(a, b) == 0; }
};

// Tells which values are among the elements of an array.
class Elements {
 public:
  explicit Elements(List array) : array_(array) {}
  bool Has(Call& call, const Datum& target) {
    constexpr size_t kWorthASet = 16;
    if (array_.size() < kWorthASet) return Includes(call, array_, target);
    if (!is_built_) {
      is_built_ = true;
      for (const Datum& item : array_) {
        if (IsEqual(item, item)) set_.insert(item);  // what has NULL or NaN inside equals nothing
      }
    }
    return set_.count(target) > 0;
  }

 private:
  List array_;
  std::unordered_set<Datum, Hash, EqualAsValues> set_;
  bool is_built_ = false;
};

bool IncludesAny(Call& call, List array, List targets) {
  Elements elements(array);
  for (const Datum& target : targets) {
    if (elements.Has(call, target)) return true;
  }
  return false;
}
bool IncludesAll(Call& call, List array, List targets) {
  Elements elements(array);
  for (const Datum& target : targets) {
    if (!elements.Has(call, target)) return false;
  }
  return true;
}

bool IsDistinct(Call&, List array) {
  std::unordered_set<Datum, Hash, EqualInOrder> seen;
  for (const Datum& item : array) {
    if (!seen.insert(item).second) return false;
  }
  return true;
}

// What is made of the offsets that were found.
enum class Sought : uint8_t { kIncludes, kOffset, kOffsets, kFind, kFindAll };

bool HasMode(Sought sought) { return sought == Sought::kOffset || sought == Sought::kFind; }

absl::StatusOr<Datum> ResultOf(Call& call, Sought sought, List array, const std::vector<size_t>& offsets,
                               bool is_last) {
  const bool is_list = sought == Sought::kOffsets || sought == Sought::kFindAll;
  if (sought == Sought::kIncludes) return Datum::Int(offsets.empty() ? 0 : 1);
  if (!is_list) {
    if (offsets.empty()) return Datum::Missing();
    const size_t offset = is_last ? offsets.back() : offsets.front();
    return sought == Sought::kFind ? array[offset] : Datum::Int(static_cast<int64_t>(offset));
  }
  const absl::StatusOr<Datum*> items = NewItems(call, offsets.size());
  if (!items.ok()) return items.status();
  for (size_t i = 0; i < offsets.size(); ++i) {
    (*items)[i] =
        sought == Sought::kFindAll ? array[offsets[i]] : Datum::Int(static_cast<int64_t>(offsets[i]));
  }
  return Datum::List({*items, offsets.size()});
}

// The results of a call, row by row.
class SearchResults {
 public:
  SearchResults(Call& call, Sought sought, absl::Span<const ColumnView> arguments)
      : call_(call), sought_(sought), modes_(arguments.size() > 2 ? &arguments[2] : nullptr) {
    results_ = call.arena()->New<Datum>(call.rows());
    for (size_t row = 0; row < call.rows(); ++row) results_[row] = Datum::Missing();
  }

  void Set(size_t row, List array, const std::vector<size_t>& offsets) {
    bool is_last = false;
    if (modes_ != nullptr) {
      if (!modes_->IsThere(row)) return;
      const std::string_view mode = modes_->bytes()[modes_->PlaceOf(row)];
      is_last = mode == "LAST";
      if (!is_last && mode != "FIRST") {
        return call_.Fail(
            row, absl::InvalidArgumentError(
                     fmt::format("Could not cast literal {} to type ARRAY_FIND_MODE", StringLiteral(mode))));
      }
    }
    const absl::StatusOr<Datum> result = ResultOf(call_, sought_, array, offsets, is_last);
    if (!result.ok()) return call_.Fail(row, result.status());
    results_[row] = *result;
  }
  ColumnView View() const {
    return ColumnOfDatums(call_.result_type(), {results_, call_.rows()}, call_.arena());
  }

 private:
  Call& call_;
  const Sought sought_;
  const ColumnView* const modes_;
  Datum* results_;
};

template <Sought kSought>
ColumnView SeekValue(Call& call, absl::Span<const ColumnView> arguments) {
  SearchResults results(call, kSought, arguments);
  std::vector<size_t> offsets;
  for (size_t row = 0; row < call.rows(); ++row) {
    if (!arguments[0].IsThere(row) || !arguments[1].IsThere(row)) continue;
    const List array = arguments[0].lists()[arguments[0].PlaceOf(row)].list();
    const Datum target = DatumAt(arguments[1], row);
    offsets.clear();
    for (size_t i = 0; i < array.size(); ++i) {
      if (IsEqual(array[i], target)) offsets.push_back(i);
    }
    results.Set(row, array, offsets);
  }
  return results.View();
}

template <Sought kSought>
ColumnView SeekByLambda(Call& call, absl::Span<const ColumnView> arguments) {
  SearchResults results(call, kSought, arguments);
  std::vector<size_t> offsets;
  ForEachList(call, arguments[0], 1, LambdaShape::kElement, [&](const LambdaResults& of) {
    offsets.clear();
    for (size_t i = 0; i < of.items.size(); ++i) {
      if (of.IsTrue(i)) offsets.push_back(i);
    }
    results.Set(of.row, of.items, offsets);
  });
  return results.View();
}

// By value and by lambda; where one of several is chosen, with a mode, too.
template <Sought kSought>
std::vector<Overload> SearchOverloads(std::string_view result) {
  std::vector<Overload> overloads = {
      Scalar(fmt::format("(ARRAY<T1:COMPARABLE>, T1) -> {}", result), SeekValue<kSought>),
      Scalar(fmt::format("(ARRAY<T1>, T1 -> BOOL) -> {}", result), SeekByLambda<kSought>)};
  if (HasMode(kSought)) {
    overloads.push_back(
        Scalar(fmt::format("(ARRAY<T1:COMPARABLE>, T1, STRING) -> {}", result), SeekValue<kSought>));
    overloads.push_back(
        Scalar(fmt::format("(ARRAY<T1>, T1 -> BOOL, STRING) -> {}", result), SeekByLambda<kSought>));
  }
  return overloads;
}

void AppendIncludes(std::vector<Function>* functions) {
  functions->push_back(
      {.name = "ARRAY_INCLUDES",
       .overloads = {Scalar("(ARRAY<T1:COMPARABLE>, T1) -> BOOL", RowKernel<Includes>),
                     Scalar("(ARRAY<T1>, T1 -> BOOL) -> BOOL", SeekByLambda<Sought::kIncludes>)},
       .meaning = "Whether an element equals a value, or a lambda is TRUE for one.",
       .examples = {"ARRAY_INCLUDES([1, 2, 3], 2)", "ARRAY_INCLUDES([1, 2, 3], e -> e > 3)"}});
  functions->push_back(
      {.name = "ARRAY_INCLUDES_ALL",
       .overloads = {Scalar("(ARRAY<T1:COMPARABLE>, ARRAY<T1>) -> BOOL", RowKernel<IncludesAll>)},
       .meaning = "Whether all elements of the second array are among those of the first.",
       .examples = {"ARRAY_INCLUDES_ALL([1, 2, 3], [3, 1])"}});
  functions->push_back(
      {.name = "ARRAY_INCLUDES_ANY",
       .overloads = {Scalar("(ARRAY<T1:COMPARABLE>, ARRAY<T1>) -> BOOL", RowKernel<IncludesAny>)},
       .meaning = "Whether an element of the second array is among those of the first.",
       .examples = {"ARRAY_INCLUDES_ANY([1, 2, 3], [5, 3])"}});
  functions->push_back({.name = "ARRAY_IS_DISTINCT",
                        .overloads = {Scalar("(ARRAY<T1:GROUPABLE>) -> BOOL", RowKernel<IsDistinct>)},
                        .meaning = "Whether no two elements are the same; NULL is the same as NULL here.",
                        .examples = {"ARRAY_IS_DISTINCT([1, 2, 1])"}});
}

}  // namespace

std::vector<Function> ArraySearchFunctions() {
  std::vector<Function> functions;
  AppendIncludes(&functions);
  functions.push_back(
      {.name = "ARRAY_FIND",
       .overloads = SearchOverloads<Sought::kFind>("T1"),
       .meaning = "The first element, or with 'LAST' the last one, that equals a value, or for which a "
                  "lambda is TRUE; NULL if there is none.",
       .examples = {"ARRAY_FIND([4, 5, 6], e -> e > 4)", "ARRAY_FIND([4, 5, 6], e -> e > 4, 'LAST')"}});
  functions.push_back({.name = "ARRAY_FIND_ALL",
                       .overloads = SearchOverloads<Sought::kFindAll>("ARRAY<T1>"),
                       .meaning = "The elements that equal a value, or for which a lambda is TRUE.",
                       .examples = {"ARRAY_FIND_ALL([4, 5, 6], e -> e > 4)"}});
  functions.push_back(
      {.name = "ARRAY_OFFSET",
       .overloads = SearchOverloads<Sought::kOffset>("INT64"),
       .meaning = "The offset of the first element, or with 'LAST' of the last one, that equals a value, "
                  "or for which a lambda is TRUE; NULL if there is none.",
       .examples = {"ARRAY_OFFSET(['a', 'b'], 'b')", "ARRAY_OFFSET([4, 5, 4], 4, 'LAST')"}});
  functions.push_back(
      {.name = "ARRAY_OFFSETS",
       .overloads = SearchOverloads<Sought::kOffsets>("ARRAY<INT64>"),
       .meaning = "The offsets of the elements that equal a value, or for which a lambda is TRUE.",
       .examples = {"ARRAY_OFFSETS([4, 5, 4], 4)"}});
  return functions;
}

}  // namespace sonde::sql
