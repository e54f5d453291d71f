#include "sql/function/value_set.h"

#include <cmath>
#include <cstddef>

#include "sql/value/value.h"

namespace sonde::sql {

ValueSet::ValueSet(const Type& type, absl::Span<const Datum> values) {
  Datum* const copies = arena_.New<Datum>(values.size());
  for (size_t i = 0; i < values.size(); ++i) copies[i] = CopyTo(&arena_, values[i]);
  values_ = {copies, values.size()};
  for (const Datum& value : values_) {
    if (!value.is_there) {
      has_null_ = true;
      continue;
    }
    switch (ColumnTypeOf(type)) {
      case ColumnType::kDouble:
        if (!std::isnan(value.number)) doubles_.insert(value.number);
        break;
      case ColumnType::kBytes:
        bytes_.insert(value.bytes());
        break;
      case ColumnType::kList:
        break;
      default:
        ints_.insert(value.integer);
    }
  }
}

bool ValueSet::IsOf(absl::Span<const Datum> values) const {
  if (values.size() != values_.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (Compare(values[i], values_[i]) != 0) return false;
  }
  return true;
}

Truth ValueSet::ContainsStruct(const Datum& value) const {
  Truth found = Truth::kFalse;
  for (const Datum& one : values_) {
    const Truth equal = AreEqual(value, one);
    if (equal == Truth::kTrue) return equal;
    if (equal == Truth::kUnknown) found = equal;
  }
  return found;
}

Truth ValueSet::Contains(const Datum& value) const {
  if (empty()) return Truth::kFalse;
  if (!value.is_there) return Truth::kUnknown;
  switch (value.kind) {
    case Datum::Kind::kInt:
      return Contains(value.integer);
    case Datum::Kind::kDouble:
      return Contains(value.number);
    case Datum::Kind::kBytes:
      return Contains(value.bytes());
    case Datum::Kind::kList:
      break;
  }
  return ContainsStruct(value);
}

}  // namespace sonde::sql
