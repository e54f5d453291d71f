// Shorthands of the lists of functions.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "absl/types/span.h"
#include "base/check.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/signature.h"

namespace sonde::sql {

inline Overload Scalar(std::string_view signature, Kernel kernel) {
  return Overload{.signature = Signature::Parse(signature), .kernel = kernel};
}

// The kernel of a function whose last arguments may be left out: the first of kKernels carries out calls of kLeast arguments,
// the next calls of one more.
template <size_t kLeast, Kernel... kKernels>
ColumnView KernelByCount(Call& call, absl::Span<const ColumnView> arguments) {
  static constexpr std::array kAll = {kKernels...};
  DCHECK(arguments.size() >= kLeast && arguments.size() - kLeast < kAll.size());
  return kAll[arguments.size() - kLeast](call, arguments);
}

}  // namespace sonde::sql
