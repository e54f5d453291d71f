// What rows of a source give to rows of a view.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::sql {

// A group: a row of the view at one time.  Views without a column `_timestamp` have groups of time 0 only.
struct GroupId {
  std::string row_key;  // of the view
  int64_t micros = 0;   // of its cells

  auto operator<=>(const GroupId&) const = default;
};

// What one row of the source gives to one group.
struct Contribution {
  GroupId group;
  std::string state;  // group_state.h
};

struct SourceRow {
  std::string key;
  std::vector<Contribution> contributions;  // by group, each once
};

// A cell that a group has in the view.
struct ViewCell {
  size_t column = 0;  // of ViewDefinition::columns, a value
  std::string value;
  std::string qualifier;  // of a column that is a family
};

}  // namespace sonde::sql
