#include "keyviz/access_counts.h"

namespace sonde {

AccessCounts AccessCounts::Part(uint64_t index, uint64_t count) const {
  // Parts differ by one at most, and nothing is lost.
  const auto part = [&](uint64_t whole) { return whole / count + (index < whole % count ? 1 : 0); };
  return {part(reads),    part(writes),         part(read_bytes),   part(write_bytes),
          part(requests), part(latency_micros), latency_micros_max, part(errors)};
}

}  // namespace sonde
