#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"

namespace sonde::sql {
namespace {

absl::StatusOr<std::string_view> ConcatBytes(Call& call, std::string_view a, std::string_view b) {
  const size_t size = a.size() + b.size();
  if (absl::Status status = AskForRoom(call, size); !status.ok()) return status;
  if (b.empty()) return a;
  if (a.empty()) return b;
  char* const result = call.arena()->New<char>(size);
  std::memcpy(result, a.data(), a.size());
  std::memcpy(result + a.size(), b.data(), b.size());
  return std::string_view(result, size);
}

absl::StatusOr<absl::Span<const Datum>> ConcatArrays(Call& call, absl::Span<const Datum> a,
                                                     absl::Span<const Datum> b) {
  const size_t size = a.size() + b.size();
  if (absl::Status status = AskForRoom(call, size * sizeof(Datum)); !status.ok()) return status;
  Datum* const result = call.arena()->New<Datum>(size);
  std::copy(a.begin(), a.end(), result);
  std::copy(b.begin(), b.end(), result + a.size());
  return absl::Span<const Datum>(result, size);
}

}  // namespace

std::vector<Function> ConcatOperators() {
  return {
      {.name = "$concat",
       .overloads = {Scalar("(STRING, STRING) -> STRING", RowKernel<ConcatBytes>),
                     Scalar("(BYTES, BYTES) -> BYTES", RowKernel<ConcatBytes>),
                     Scalar("(ARRAY<T1>, ARRAY<T1>) -> ARRAY<T1>", RowKernel<ConcatArrays>)},
       .meaning = "Two texts, byte strings or arrays, one behind the other.",
       .examples = {"'ab' || 'c'", "[1, 2] || [3]"}},
  };
}

}  // namespace sonde::sql
