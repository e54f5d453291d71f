// A query as people and programs write it: texts by name, on the command line and in HTTP requests alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "series/query/query_words.h"

namespace sonde::series {

struct QueryRequest {
  // TAG=VALUE, TAG=PREFIX*, TAG=~REGEX, TAG!=VALUE, TAG!~REGEX; of points one by one also FIELD>NUMBER,
  // FIELD>=NUMBER, FIELD<NUMBER, FIELD<=NUMBER.  Several `=` of one tag: any of them; all else must hold, too.
  std::vector<std::string> where;
  std::vector<std::string> fields;
  std::string from;    // RFC 3339, or a date; UTC where it names no zone
  std::string to;      // the time behind the last
  std::string last;    // a duration up to now; not together with `from`
  std::string latest;  // a number from 1
  std::string every;   // TimeBuckets::Parse
  std::string zone;
  std::vector<std::string> aggregates;  // with `every` or `group_by` and without these: avg
  std::vector<std::string> group_by;    // tags; "-" alone: no tag, everything is one group
  std::string change;                   // delta, increase, rate
  std::vector<std::string> windows;     // numbers of buckets
  std::string fill;                     // none, null, previous, linear
  std::string top;                      // a number; -N for the lowest
  std::string by;                       // a column
  int64_t limit = 0;                    // 0: none
};

// INVALID_ARGUMENT, naming the part by its flag.
absl::StatusOr<Query> ParseQuery(const SeriesSchema& schema, const QueryRequest& request, int64_t now_micros);

}  // namespace sonde::series
