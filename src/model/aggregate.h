// How the cells of aggregate families of integers combine.  (For sketches see hll/hll_sketch.h.)
#pragma once

#include <cstdint>
#include <string_view>

#include "base/varint.h"
#include "model/cell.h"

namespace sonde {

// Combines two states.  Sums wrap around.
constexpr int64_t FoldAggregate(AggregateKind kind, int64_t older, int64_t newer) {
  switch (kind) {
    case AggregateKind::kSum:
      return static_cast<int64_t>(static_cast<uint64_t>(older) + static_cast<uint64_t>(newer));
    case AggregateKind::kMin:
      return older < newer ? older : newer;
    case AggregateKind::kMax:
      return older > newer ? older : newer;
    case AggregateKind::kNone:
    case AggregateKind::kHllInt64:
    case AggregateKind::kHllBytes:
      break;
  }
  return newer;
}

// Decodes the value of an aggregate cell: 8 bytes, big-endian.  A value of another length counts as 0.
inline int64_t DecodeAggregateState(std::string_view state) {
  uint64_t value = 0;
  if (state.size() != sizeof(value) || !GetFixed64(&state, &value)) return 0;
  return static_cast<int64_t>(value);
}

}  // namespace sonde
