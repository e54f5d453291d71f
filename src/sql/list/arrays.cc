#include <iterator>
#include <utility>
#include <vector>

#include "sql/function/function.h"
#include "sql/list/array_families.h"
#include "sql/list/functions.h"
#include "sql/time/generate_array.h"

namespace sonde::sql {

std::vector<Function> ArrayFunctions() {
  std::vector<Function> functions;
  for (const auto family :
       {ArrayPieceFunctions, ArraySearchFunctions, ArrayNumberFunctions, ArrayLambdaFunctions}) {
    std::vector<Function> part = family();
    std::move(part.begin(), part.end(), std::back_inserter(functions));
  }
  functions.push_back(GenerateArrayFunction());
  return functions;
}

}  // namespace sonde::sql
