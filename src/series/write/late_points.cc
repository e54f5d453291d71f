#include "series/write/late_points.h"

#include <fmt/format.h>

namespace sonde::series {

std::vector<std::string> TooLateForRollups(const SeriesSchema& schema, int64_t oldest_micros,
                                           int64_t now_micros) {
  std::vector<std::string> texts;
  const std::optional<int64_t> max_age_micros = schema.retention.max_age_micros;
  if (!max_age_micros) return texts;
  const int64_t kept_from_micros = now_micros - *max_age_micros;
  for (const RollupTable& rollup : schema.rollups) {
    if (rollup.every.Start(oldest_micros) >= kept_from_micros) continue;
    // The first whole piece that is kept.
    const int64_t first_micros = rollup.every.Start(kept_from_micros) == kept_from_micros
                                     ? kept_from_micros
                                     : rollup.every.End(kept_from_micros);
    texts.push_back(fmt::format(
        "points before {} are not in roll-up '{}': of their pieces of one {}, some points are "
        "forgotten already (max_age {})",
        TimeText(first_micros), rollup.table, rollup.every.Name(), DurationText(*max_age_micros)));
  }
  return texts;
}

}  // namespace sonde::series
