// What a range of rows comes to, so that a table and its copy can be compared: how many rows and cells, and a hash over all of them.
//
// Garbage collection may forget cells at one place before the other, or only hide them there.  So a sum has only the cells that the
// rules of the table keep at a moment that both places are still to reach.
//
// Pure.  Not for several threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gc/gc_rule_evaluator.h"
#include "model/table_access.h"
#include "model/table_schema.h"

namespace sonde {

struct RangeSum {
  int64_t rows = 0;  // with such a cell
  int64_t cells = 0;
  uint64_t hash =
      0;  // of keys, columns, times and values, in their order; another build may have another one

  bool operator==(const RangeSum&) const = default;
};

class RangeSummer {
 public:
  // `moment_micros`: when the rules are looked at.
  RangeSummer(const TableSchema& schema, int64_t moment_micros);

  // Rows come in ascending order.
  void Add(const ReadRow& row);
  const RangeSum& sum() const { return sum_; }

 private:
  std::map<std::string, GcRuleEvaluator, std::less<>> rules_;  // by family
  RangeSum sum_;
};

}  // namespace sonde
