#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      OperatorFunctions,
      ConversionFunctions,
      MathFunctions,
      NotBuiltFunctions,
  };
  return kFamilies;
}

}  // namespace sonde::sql
