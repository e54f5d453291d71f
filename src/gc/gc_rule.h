// Which garbage-collection rules are accepted.
//
// Errors: INVALID_ARGUMENT, naming the place in the rule ("rule.union[1]"), the limit and the value.
// Source: google.bigtable.admin.v2.GcRule (table.proto).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "model/gc_rule.h"

namespace sonde {

// A rule may be enclosed by so many unions and intersections.  (The API bounds only a rule's serialized size,
// kGcRuleBytesMax; this bounds the recursion of everything that walks a rule.)
constexpr int kGcRuleDepthMax = 32;

constexpr int64_t kGcMaxAgeMicrosMin = 1'000;

// OK, or INVALID_ARGUMENT: a version count below 1, an age below kGcMaxAgeMicrosMin, nested deeper than
// kGcRuleDepthMax.  Unions and intersections may be empty: they forget nothing.
absl::Status CheckGcRule(const GcRule& rule);

}  // namespace sonde
