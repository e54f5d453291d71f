#include "sql/function/families.h"

namespace sonde::sql {

absl::Span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      AggregateFunctions,
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
  };
  return kFamilies;
}

}  // namespace sonde::sql
