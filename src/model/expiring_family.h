// Families of cells that matter for a while only.  They are in no table's schema, and their ids say until
// when they matter.
//
//   id       kExpiringFamilies | period << 11 | shard
//   period   the quarter of an hour since the epoch in which the cells were written, modulo 2^20 (about 30
//            years)
//   shard    a number by which the writer spreads cells, so that none of a row's families grows long
//
// A cell's timestamp is the time of its writing.  Nobody deletes such cells.  From the period after the next
// on they have expired, and an engine may drop them whenever it likes.  An engine gives them only to readers
// that name their family in ReadHints.
#pragma once

#include <cstdint>

#include "model/cell.h"

namespace sonde {

// The first id of expiring families.  Ids of a schema's families are smaller.
constexpr FamilyId kExpiringFamilies = 0x8000'0000;
constexpr int64_t kExpiryPeriodMicros = int64_t{15} * 60 * 1'000'000;
constexpr uint32_t kExpiringShards = 1u << 11;
constexpr uint32_t kExpiryPeriods = 1u << 20;

constexpr bool IsExpiringFamily(FamilyId family) { return family >= kExpiringFamilies; }

// Returns the family of cells that are written at `now_micros`.
constexpr FamilyId ExpiringFamily(int64_t now_micros, uint32_t shard) {
  const auto period = static_cast<uint32_t>(now_micros / kExpiryPeriodMicros) % kExpiryPeriods;
  return kExpiringFamilies | period * kExpiringShards | shard % kExpiringShards;
}

// Families of the current period and of its two neighbours have not expired.  The later neighbour has not
// because a clock may have gone back.
constexpr bool IsExpired(FamilyId family, int64_t now_micros) {
  if (!IsExpiringFamily(family)) return false;
  const uint32_t now = ExpiringFamily(now_micros, 0) / kExpiringShards;
  const uint32_t periods_ago = (now - family / kExpiringShards) % kExpiryPeriods;
  return periods_ago >= 2 && periods_ago < kExpiryPeriods / 2;
}

}  // namespace sonde
