// Points that come too late for roll-ups, to be told to whoever sent them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "series/schema/schema.h"

namespace sonde::series {

// Values that are older than max_age when they come are in no roll-up (point_writer.h).  Where a point at
// `oldest_micros` that is written now may have such values: a text for each family that they may be of.
std::vector<std::string> TooLateForRollups(const SeriesSchema& schema, int64_t oldest_micros,
                                           int64_t now_micros);

}  // namespace sonde::series
