// Whole numbers of 128 bits: what sums and differences of int64s come to before anybody has to say them
// in 64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"

namespace sonde {

// Whether 64 bits hold it.
inline bool IsInt(absl::int128 number) { return number >= INT64_MIN && number <= INT64_MAX; }

// Its digits.
std::string IntText(absl::int128 number);

// OUT_OF_RANGE: `number` is not IsInt; the message names `what` it is.
absl::Status LeavesInt(absl::int128 number, std::string_view what);

}  // namespace sonde
