#include "sql/function/equality.h"

#include <cstddef>

namespace sonde::sql {
namespace {

Truth OfBool(bool is_equal) { return is_equal ? Truth::kTrue : Truth::kFalse; }

}  // namespace

Truth AreEqual(const Datum& a, const Datum& b) {
  if (!a.is_there || !b.is_there) return Truth::kUnknown;
  switch (a.kind) {
    case Datum::Kind::kInt:
      return OfBool(a.integer == b.integer);
    case Datum::Kind::kDouble:
      return OfBool(a.number == b.number);
    case Datum::Kind::kBytes:
      return OfBool(a.bytes() == b.bytes());
    case Datum::Kind::kList:
      break;
  }
  if (a.size != b.size) return Truth::kFalse;
  Truth all = Truth::kTrue;
  for (size_t i = 0; i < a.size; ++i) {
    const Truth one = AreEqual(a.items[i], b.items[i]);
    if (one == Truth::kFalse) return one;
    if (one == Truth::kUnknown) all = one;
  }
  return all;
}

}  // namespace sonde::sql
