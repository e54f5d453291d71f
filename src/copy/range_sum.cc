#include "copy/range_sum.h"

#include "base/hash.h"

namespace sonde {

RangeSummer::RangeSummer(const TableSchema& schema, int64_t moment_micros) {
  for (const FamilySchema& family : schema.families)
    rules_.emplace(family.name, GcRuleEvaluator(family.gc_rule, moment_micros));
}

void RangeSummer::Add(const ReadRow& row) {
  bool has_cell = false;
  int64_t rank = 0;
  const ReadCell* before = nullptr;
  for (const ReadCell& cell : row.cells) {
    const bool is_same_column =
        before != nullptr && before->qualifier == cell.qualifier && before->family == cell.family;
    rank = is_same_column ? rank + 1 : 0;
    before = &cell;
    const auto rule = rules_.find(cell.family);
    if (rule != rules_.end() && !rule->second.Keeps(rank, cell.timestamp_micros)) continue;
    // Each part is hashed by itself, so that no byte of one may be taken for another's.
    if (!has_cell) sum_.hash = HashBytes(row.row_key, sum_.hash);
    has_cell = true;
    sum_.hash = HashBytes(cell.family, sum_.hash);
    sum_.hash = HashBytes(cell.qualifier, sum_.hash);
    sum_.hash = HashBytes(cell.value, sum_.hash ^ static_cast<uint64_t>(cell.timestamp_micros));
    ++sum_.cells;
  }
  if (has_cell) ++sum_.rows;
}

}  // namespace sonde
