// The shape of a filter: the kinds of its parts, without their texts and numbers.
#pragma once

#include <string>

namespace google::bigtable::v2 {
class RowFilter;
}  // namespace google::bigtable::v2

namespace sonde {

// The shape ends with "..." where it would be longer.
constexpr size_t kFilterShapeBytesMax = 200;

// "chain(family_name_regex_filter,interleave(sink,block_all_filter))".  Empty: the filter has no kind.
std::string FilterShape(const google::bigtable::v2::RowFilter& filter);

}  // namespace sonde
