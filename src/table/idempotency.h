// Writes that are applied once, however often they are sent: google.bigtable.v2.Idempotency.
//
// The token is a cell of the row that the write changes, in an expiring family (model/expiring_family.h), and
// becomes durable with it: either both are there or neither.  A repetition finds it and changes nothing.  Who
// writes with a token has the row's turn from before it looks for the token until the commit: so of two that
// come at once, the second one finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "model/expiring_family.h"
#include "model/mutation.h"

namespace sonde {

struct Idempotency {
  std::string_view token;
  std::optional<int64_t> start_micros;  // when the first attempt was sent, says the client
};

// How long a token protects, from when its write was applied.
constexpr int64_t kIdempotencyMicros = kExpiryPeriodMicros;

// FAILED_PRECONDITION: the first attempt was sent so long ago that its token may be forgotten.
absl::Status CheckStartTime(const Idempotency& idempotency, int64_t now_micros);

// The families where a token may be that was written within kIdempotencyMicros.
std::vector<FamilyId> TokenFamilies(std::string_view token, int64_t now_micros);

// Whether a row has it.  It stays so while the caller has the row's turn (table/row_turns.h).
absl::StatusOr<bool> HasToken(Engine* engine, TableId table, std::string_view row_key, std::string_view token,
                              int64_t now_micros);

// Adds the token to a row's delta.  A view of it stays there.
void AddToken(std::string_view token, int64_t now_micros, RowDelta* delta);

}  // namespace sonde
