// The fingerprint of bytes that FARM_FINGERPRINT gives.
//
// Source: Fingerprint64 of FarmHash, whose numbers never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::sql {

uint64_t FarmFingerprint(std::string_view bytes);

}  // namespace sonde::sql
