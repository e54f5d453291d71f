#include "sql/function/datum_equality.h"

#include <cstddef>

namespace sonde::sql {

std::optional<bool> Equals(const Datum& a, const Datum& b) {
  if (!a.is_there || !b.is_there) return std::nullopt;
  switch (a.kind) {
    case Datum::Kind::kInt:
      return a.integer == b.integer;
    case Datum::Kind::kDouble:
      return a.number == b.number;
    case Datum::Kind::kBytes:
      return a.bytes() == b.bytes();
    case Datum::Kind::kList:
      break;
  }
  if (a.size != b.size) return false;
  bool is_known = true;
  for (size_t i = 0; i < a.size; ++i) {
    const std::optional<bool> is_equal = Equals(a.items[i], b.items[i]);
    if (is_equal.has_value() && !*is_equal) return false;
    is_known = is_known && is_equal.has_value();
  }
  if (!is_known) return std::nullopt;
  return true;
}

}  // namespace sonde::sql
