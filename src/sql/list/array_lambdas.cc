// ARRAY_FILTER and ARRAY_TRANSFORM.
#include <vector>

#include "absl/status/statusor.h"
#include "model/column.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/function/lambda_over_lists.h"
#include "sql/list/array_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

struct Lists {
  explicit Lists(Call& call)
      : lists(call.arena()->New<Datum>(call.rows())), there(call.arena()->New<uint8_t>(call.rows())) {
    for (size_t row = 0; row < call.rows(); ++row) {
      lists[row] = Datum::Missing();
      there[row] = 0;
    }
  }
  void Set(size_t row, List list) {
    lists[row] = Datum::List(list);
    there[row] = 1;
  }
  ColumnView View(const Call& call) const { return ColumnView::OfLists({lists, call.rows()}, there); }

  Datum* lists;
  uint8_t* there;
};

template <LambdaShape kShape>
ColumnView Filter(Call& call, absl::Span<const ColumnView> arguments) {
  Lists arrays(call);
  ForEachList(call, arguments[0], 1, kShape, [&](const LambdaResults& of) {
    size_t count = 0;
    for (size_t i = 0; i < of.items.size(); ++i) count += of.IsTrue(i) ? 1 : 0;
    const absl::StatusOr<Datum*> items = NewItems(call, count);
    if (!items.ok()) return call.Fail(of.row, items.status());
    Datum* end = *items;
    for (size_t i = 0; i < of.items.size(); ++i) {
      if (of.IsTrue(i)) *end++ = of.items[i];
    }
    arrays.Set(of.row, {*items, count});
  });
  return arrays.View(call);
}

template <LambdaShape kShape>
ColumnView Transform(Call& call, absl::Span<const ColumnView> arguments) {
  Lists arrays(call);
  ForEachList(call, arguments[0], 1, kShape, [&](const LambdaResults& of) {
    const absl::StatusOr<Datum*> items = NewItems(call, of.items.size());
    if (!items.ok()) return call.Fail(of.row, items.status());
    for (size_t i = 0; i < of.items.size(); ++i) (*items)[i] = DatumAt(*of.results, of.PlaceOf(i));
    arrays.Set(of.row, {*items, of.items.size()});
  });
  return arrays.View(call);
}

}  // namespace

std::vector<Function> ArrayLambdaFunctions() {
  std::vector<Function> functions;
  functions.push_back(
      {.name = "ARRAY_FILTER",
       .overloads = {Scalar("(ARRAY<T1>, T1 -> BOOL) -> ARRAY<T1>", Filter<LambdaShape::kElement>),
                     Scalar("(ARRAY<T1>, (T1, INT64) -> BOOL) -> ARRAY<T1>",
                            Filter<LambdaShape::kElementAndOffset>)},
       .meaning =
           "The elements for which a lambda is TRUE.  Its second parameter, if it has one, is the element's "
           "offset.",
       .examples = {"ARRAY_FILTER([1, 2, 3], e -> e > 1)", "ARRAY_FILTER(['a', 'b'], (e, i) -> i > 0)"}});
  functions.push_back(
      {.name = "ARRAY_TRANSFORM",
       .overloads = {Scalar("(ARRAY<T1>, T1 -> T2) -> ARRAY<T2>", Transform<LambdaShape::kElement>),
                     Scalar("(ARRAY<T1>, (T1, INT64) -> T2) -> ARRAY<T2>",
                            Transform<LambdaShape::kElementAndOffset>)},
       .meaning = "What a lambda gives for each element.  Its second parameter, if it has one, is the "
                  "element's offset.",
       .examples = {"ARRAY_TRANSFORM([1, 2, 3], e -> e + 1)", "ARRAY_TRANSFORM([5, 6], (e, i) -> e * i)"}});
  return functions;
}

}  // namespace sonde::sql
