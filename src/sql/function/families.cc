#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      OperatorFunctions,
      ConversionFunctions,
      MathFunctions,
      StringFunctions,
      RegexpFunctions,
      FormatFunctions,
      JsonFunctions,
      DateFunctions,
      TimestampFunctions,
      ArrayFunctions,
      MapFunctions,
      VectorFunctions,
      NotBuiltFunctions,
      SketchFunctions,
      StatisticalFunctions,
      WindowFunctions,
      AggregateFunctions,
  };
  return kFamilies;
}

}  // namespace sonde::sql
