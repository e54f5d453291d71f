#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      AggregateFunctions,
      OperatorFunctions,
      SketchFunctions,
      StatisticalFunctions,
      WindowFunctions,
  };
  return kFamilies;
}

}  // namespace sonde::sql
