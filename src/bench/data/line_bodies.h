// Bodies of InfluxDB line protocol, of the benchmarks' data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/readings.h"

namespace sonde::bench {

// Those of one client, which writes the entities [entity_begin, entity_end).  A reading is a line: the
// group's name is the measurement (of a model without groups, the kind of data), `hostname` and TSBS's nine
// other tags are the entity's; whole numbers are integers, times are nanoseconds.  Not for several threads.
class LineBodies {
 public:
  LineBodies(const DataShape& shape, int entity_begin, int entity_end, int64_t steps, int lines_per_body);

  // The next body, of so many lines at least, in a buffer that holds until the next call; empty when `steps`
  // are done.
  std::string_view Next();

  uint64_t lines() const { return lines_; }
  uint64_t points() const { return points_; }  // values of fields
  uint64_t bytes() const { return bytes_; }

 private:
  const DataModel model_;
  const int64_t steps_;
  const int lines_per_body_;
  const int entity_begin_;
  Readings readings_;
  std::vector<std::string> starts_;  // measurement and tags, of each entity and group
  std::string buffer_;
  uint64_t lines_ = 0;
  uint64_t points_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace sonde::bench
