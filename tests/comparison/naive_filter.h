// What a RowFilter does, written from the comments of google/bigtable/v2/data.proto: on the messages
// themselves, a list in and a list out, nothing shared with src/filter.
//
// Two choices where the comments leave one (compiled_filter.h makes them): of cells with equal column and
// timestamp, those that left through a sink come first, then those of an interleave's filters in their order.
#pragma once

#include <google/bigtable/v2/data.pb.h>

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sonde {

struct NaiveCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
  std::string label;

  bool operator==(const NaiveCell&) const = default;
};
// Family and qualifier ascending, timestamp descending.
using NaiveRow = std::vector<NaiveCell>;

// The code that a request with this filter is refused with, or OK.
absl::StatusCode CheckNaively(const google::bigtable::v2::RowFilter& filter,
                              const std::set<std::string>& families);

// The output for a row.  The filter must have passed the check.
NaiveRow FilterNaively(const google::bigtable::v2::RowFilter& filter, const std::string& row_key,
                       const NaiveRow& row);

}  // namespace sonde
