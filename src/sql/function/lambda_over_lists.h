// Evaluates a lambda for all elements of the arrays, or all entries of the maps, of a batch of rows.
//
// Rows go to the lambda together, so that its body is evaluated for many elements at once.  Where it fails, rows are
// evaluated one by one, so that only those that fail are NULL in a safe call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/function/call.h"

namespace sonde::sql {

// What the parameters of the lambda are.
enum class LambdaShape : uint8_t { kElement, kElementAndOffset, kKeyAndValue };

// The results of the lambda for one row.
struct LambdaResults {
  size_t row = 0;
  absl::Span<const Datum> items;  // of the row's list; a map's entries are two items each
  const ColumnView* results = nullptr;
  size_t first = 0;  // the place of the first result

  // Of an element or entry.
  size_t PlaceOf(size_t element) const { return first + element; }
  // Of a lambda that gives a BOOL.
  bool IsTrue(size_t element) const {
    const size_t place = PlaceOf(element);
    return results->IsThere(place) && results->ints()[results->PlaceOf(place)] != 0;
  }
};

// Calls `take` for each row whose list is there, in order, unless the lambda fails for the row: Call::Fail tells that.
// `argument`: that of the lambda.  The lists are argument 0.
void ForEachList(Call& call, const ColumnView& lists, size_t argument, LambdaShape shape,
                 absl::FunctionRef<void(const LambdaResults&)> take);

}  // namespace sonde::sql
