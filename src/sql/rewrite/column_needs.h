// The columns that an operator needs of its input, and whether a scan can answer an access to one of them.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sql/plan/access.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// A column of an operator's input, or an access to a column that is a family.
struct Need {
  size_t column = 0;
  std::optional<Access> access;
};

class Needs {
 public:
  // The number of the need; each is there once.
  size_t Add(size_t column, const std::optional<Access>& access);
  // The number of the need; the size of the list: it is not there.
  size_t Find(size_t column, const std::optional<Access>& access) const;
  const std::vector<Need>& list() const { return list_; }

 private:
  std::vector<Need> list_;
};

// Where the needs are among the columns of the input, once it is narrow: one a need.
using Places = std::vector<size_t>;

// Whether a column of a plan is a family of a scan, so that the scan can answer an access.
bool IsFamily(const Plan& plan, size_t column);
// Whether a column of an input of kUnpack is the history of a cell, so that the scan can give it as numbers.
bool IsCellHistory(const Plan& plan, size_t column);
// Whether a column of a plan is a cell's value that UNPACK makes of such a history.
bool IsUnpackedCell(const Plan& plan, size_t column);
// Whether `is(plan, column)` of the rows that expressions of `plan` read.
bool IsOfInput(const Plan& plan, size_t column, bool (*is)(const Plan& plan, size_t column));

}  // namespace sonde::sql
