// Shorthands of the lists of functions.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/signature.h"

namespace sonde::sql {

inline Overload Scalar(std::string_view signature, Kernel kernel) {
  return Overload{.signature = Signature::Parse(signature), .kernel = kernel};
}

// The same, but it is none of production's.
inline Overload Extension(Overload overload) {
  overload.is_extension = true;
  return overload;
}

// The function under another name.
inline Function AliasOf(const Function& function, std::string name) {
  Function alias = function;
  alias.alias_of = function.name;
  alias.name = std::move(name);
  return alias;
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
