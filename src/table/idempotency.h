// Writes that are applied once, however often they are sent (source: google.bigtable.v2.Idempotency).
//
// The token is a cell of the row that the write changes, in an expiring family (model/expiring_family.h), and
// becomes durable with the change: either both are there or neither.  The engine looks for the token and
// writes the change as one step (RowGuard): of two writes with one token, also of two servers, the second
// finds the token of the first and changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/row_store.h"
#include "model/expiring_family.h"
#include "model/mutation.h"

namespace sonde {

struct Idempotency {
  std::string_view token;
  std::optional<int64_t> start_micros;  // when the first attempt was sent, as the client says
};

// How long a token protects, counted from the time when its write was applied.
constexpr int64_t kIdempotencyMicros = kExpiryPeriodMicros;

// FAILED_PRECONDITION: the first attempt was sent so long ago that its token may be forgotten.
absl::Status CheckStartTime(const Idempotency& idempotency, int64_t now_micros);

// Returns the families in which a token may be that was written within kIdempotencyMicros.
std::vector<FamilyId> TokenFamilies(std::string_view token, int64_t now_micros);

// Whether a row has the token now.
absl::StatusOr<bool> HasToken(RowStore* store, TableId table, std::string_view row_key,
                              std::string_view token, int64_t now_micros);

// AskForToken makes hints ask for the token.  HasToken then tells whether a row that was read by these hints
// has it.
void AskForToken(std::string_view token, int64_t now_micros, ReadHints* hints);
bool HasToken(const std::vector<RowFamily>& row, std::string_view token, int64_t now_micros);

// Adds the token to a row's delta.  Returns the guard that refuses the delta if the row has the token.  Both
// view the token.
RowGuard AddToken(std::string_view token, int64_t now_micros, RowDelta* delta);

}  // namespace sonde
