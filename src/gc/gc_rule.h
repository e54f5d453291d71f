// The check of which garbage-collection rules are accepted.
//
// Errors: INVALID_ARGUMENT, naming the place in the rule ("rule.union[1]"), the limit and the value.
// Source: google.bigtable.admin.v2.GcRule (table.proto).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "model/gc_rule.h"

namespace sonde {

// At most this many unions and intersections may enclose a rule.  The API bounds only a rule's serialized
// size (kGcRuleBytesMax).  This limit bounds the recursion of all code that walks a rule.
constexpr int kGcRuleDepthMax = 32;

constexpr int64_t kGcMaxAgeMicrosMin = 1'000;

// INVALID_ARGUMENT: a version count is below 1; an age is below kGcMaxAgeMicrosMin; the rule nests deeper
// than kGcRuleDepthMax.  Unions and intersections may be empty: they forget nothing.
absl::Status CheckGcRule(const GcRule& rule);

}  // namespace sonde
