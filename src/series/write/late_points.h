// Points that come too late for roll-ups, to be told to whoever sent them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "series/schema/schema.h"

namespace sonde::series {

// A piece of a roll-up that began before what max_age keeps of the points is never computed anew
// (rollup_keeper.h), so that points of it are kept, and found by queries, but are not in the roll-up.  Where
// that is so of a point at `oldest_micros` that is written now: a text for each such roll-up.
std::vector<std::string> TooLateForRollups(const SeriesSchema& schema, int64_t oldest_micros,
                                           int64_t now_micros);

}  // namespace sonde::series
