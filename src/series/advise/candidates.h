// Which layouts and key orders are worth a measure for a declared series.
#pragma once

#include <string>
#include <vector>

#include "series/schema/schema.h"

namespace sonde::series {

struct Candidate {
  std::string name;  // such as "cells by day, [host, bucket]"
  std::string yaml;  // its keys of the declaration
  SeriesSchema schema;
  bool is_declared = false;
  std::string hot_key;  // why CheckSchema warns that writes go to few places; empty: it does not
};

// The declaration itself, first; then the same with an index, if queries name tags that do not lead its key; then, where the tags alone
// leave the key hot, salts of the time; then the
// layouts with buckets that fit, and the key orders that the ranked queries ask for.  Those that CheckSchema
// refuses are left out, but the declaration.  At most candidates_max.  `oldest_micros`: of the points that
// they are to take; before 1970, all but the declaration count from an origin.
std::vector<Candidate> MakeCandidates(const SeriesSchema& schema, size_t candidates_max,
                                      int64_t oldest_micros = 0);

}  // namespace sonde::series
