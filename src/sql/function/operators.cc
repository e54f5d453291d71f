#include <vector>

#include "sql/function/function.h"
#include "sql/function/row_kernel.h"

namespace sonde::sql {
namespace {

bool Not(Call&, bool value) { return !value; }

}  // namespace

std::vector<Function> OperatorFunctions() {
  return {
      {.name = "$not",
       .overloads = {{Signature::Parse("(BOOL) -> BOOL"), RowKernel<Not>}},
       .meaning = "Gives TRUE for FALSE, and FALSE for TRUE.",
       .examples = {"NOT TRUE"}},
  };
}

}  // namespace sonde::sql
