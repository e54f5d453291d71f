#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      OperatorFunctions,
      StringFunctions,
      RegexpFunctions,
      FormatFunctions,
      JsonFunctions,
      DateFunctions,
      TimestampFunctions,
      ArrayFunctions,
      MapFunctions,
      VectorFunctions,
      AggregateFunctions,
  };
  return kFamilies;
}

}  // namespace sonde::sql
