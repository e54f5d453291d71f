// VIEW_PARAMETERS: texts that come with the execution of a query, and not with its text.
#include <optional>
#include <string_view>
#include <vector>

#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/row_kernel.h"
#include "sql/text/string_families.h"

namespace sonde::sql {
namespace {

std::optional<std::string_view> ViewParameter(Call& call, std::string_view name) {
  const ViewParameters* const parameters = call.facts().view_parameters;
  if (parameters == nullptr) return std::nullopt;
  const auto found = parameters->find(name);
  if (found == parameters->end()) return std::nullopt;
  return std::string_view(found->second);
}

}  // namespace

std::vector<Function> ViewParameterFunctions() {
  return {{.name = "VIEW_PARAMETERS",
           .overloads = {{Signature::Parse("(STRING) -> STRING"), RowKernel<ViewParameter>}},
           .meaning = "The view parameter of this name, which comes with the execution of the query "
                      "(ExecuteQueryRequest.view_parameters).  NULL if it does not come.",
           .examples = {"VIEW_PARAMETERS('user_id')"}}};
}

}  // namespace sonde::sql
