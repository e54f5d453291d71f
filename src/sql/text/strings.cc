#include <iterator>
#include <utility>
#include <vector>

#include "sql/function/function.h"
#include "sql/text/functions.h"
#include "sql/text/string_families.h"

namespace sonde::sql {

std::vector<Function> StringFunctions() {
  std::vector<Function> functions;
  for (const auto part : {StringSizeFunctions, StringPieceFunctions, StringAssemblyFunctions,
                          StringSearchFunctions, StringCaseFunctions, ViewParameterFunctions}) {
    std::vector<Function> some = part();
    functions.insert(functions.end(), std::make_move_iterator(some.begin()),
                     std::make_move_iterator(some.end()));
  }
  return functions;
}

}  // namespace sonde::sql
