// Returns early from a function whose steps may fail.
//
// The binder is a recursion in which every step may fail; written out, the checks are half of its lines and hide
// the other half.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SONDE_TRY_JOIN_2(a, b) a##b
#define SONDE_TRY_JOIN(a, b) SONDE_TRY_JOIN_2(a, b)

// Returns the status of `expression` unless it is OK.
#define SONDE_TRY(expression) \
  if (::absl::Status tried_status = (expression); !tried_status.ok()) return tried_status

// Assigns the value of `expression`, a StatusOr, to `target`; or returns its status.
#define SONDE_TRY_SET(target, expression)                                                       \
  auto SONDE_TRY_JOIN(tried_, __LINE__) = (expression);                                         \
  if (!SONDE_TRY_JOIN(tried_, __LINE__).ok()) return SONDE_TRY_JOIN(tried_, __LINE__).status(); \
  target = *std::move(SONDE_TRY_JOIN(tried_, __LINE__))
