// A set of values of one type, for IN.
//
// Ownership: a set owns its values.
// Threads: a set is immutable once built.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/datum.h"
#include "sql/function/equality.h"
#include "sql/value/type.h"

namespace sonde::sql {

class ValueSet {
 public:
  // Copies the values, in the order in which they come.
  ValueSet(const Type& type, absl::Span<const Datum> values);

  // Whether the set was built of these values.
  bool IsOf(absl::Span<const Datum> values) const;
  bool empty() const { return values_.empty(); }

  // value IN (the values).  Unknown: a NULL among the values, or in one of them, leaves it open.
  Truth Contains(const Datum& value) const;
  Truth Contains(int64_t value) const { return Hashed(ints_.contains(value)); }
  Truth Contains(double value) const { return Hashed(doubles_.contains(value)); }
  Truth Contains(std::string_view value) const { return Hashed(bytes_.contains(value)); }

 private:
  // Structs may hold NULL inside, and are compared one by one.
  Truth ContainsStruct(const Datum& value) const;
  Truth Hashed(bool is_found) const {
    if (is_found) return Truth::kTrue;
    return has_null_ ? Truth::kUnknown : Truth::kFalse;
  }

  Arena arena_;
  absl::Span<const Datum> values_;
  bool has_null_ = false;
  // Those of the type that the values have.
  absl::flat_hash_set<int64_t> ints_;
  absl::flat_hash_set<double> doubles_;  // without NaN, which is in no set
  absl::flat_hash_set<std::string_view> bytes_;
};

}  // namespace sonde::sql
