#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      OperatorFunctions, ConversionFunctions, MathFunctions,      StringFunctions,    RegexpFunctions,
      FormatFunctions,   JsonFunctions,       DateFunctions,      TimestampFunctions, ArrayFunctions,
      MapFunctions,      VectorFunctions,     AggregateFunctions, NotBuiltFunctions,
  };
  return kFamilies;
}

}  // namespace sonde::sql
