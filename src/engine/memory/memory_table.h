// One table in memory: ordered maps of cells, and the effect of deltas on them.  It is written to be read:
// the other engines are compared with it.
//
// Owns its bytes.  Not for several threads: MemoryEngine locks around it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/row_log.h"
#include "engine/row_store.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

using MemoryColumn = std::map<int64_t, std::string, std::greater<>>;    // newest first
using MemoryFamily = std::map<std::string, MemoryColumn, std::less<>>;  // no column is empty
using MemoryRow = std::map<FamilyId, MemoryFamily>;                     // no family is empty

// The change log of a table.
class MemoryLog {
 public:
  using Pieces = std::map<std::pair<int64_t, uint32_t>, std::string>;  // by position, index

  void Append(const LogRecord& record);
  // As RowLog::FindEnd.
  RowLog::End FindEnd(int64_t frontier_min) {
    frontier_ = std::max(frontier_, frontier_min);
    return {frontier_, last_record_};
  }
  void Trim(int64_t position) { pieces_.erase(pieces_.begin(), pieces_.lower_bound({position, 0})); }
  const Pieces& pieces() const { return pieces_; }

 private:
  int64_t frontier_ = 0;
  int64_t last_record_ = 0;
  Pieces pieces_;
};

class MemoryTable {
 public:
  // Applies row' = (row \ deletes) with puts over it, then adds.  The change's record joins the log.  A row
  // without cells is gone.
  //
  // An add is folded into the state of the existing cell (model/aggregate.h), or becomes a new cell's state.
  // kNone overwrites.
  void Apply(std::string_view row_key, const RowDelta& delta);
  void DropFamily(FamilyId family);
  void DropRange(const RowRange& range);
  // Adds the cells of another table.
  void CopyRows(const MemoryTable& other) { rows_.insert(other.rows_.begin(), other.rows_.end()); }

  // Whether the row has a cell that `guard` forbids.
  bool Has(std::string_view row_key, const RowGuard& guard) const;
  // Returns null if the row has no cells.
  const MemoryRow* Find(std::string_view row_key) const;

  // Returns the first row (`reverse`: the last) of `range`; null if it has none.  The entry belongs to the
  // table.
  using Rows = std::map<std::string, MemoryRow, std::less<>>;
  const Rows::value_type* Edge(const RowRange& range, bool reverse) const;

  // The bytes of the keys, qualifiers, timestamps and values of a range.  Looks at every cell.
  uint64_t CountBytes(const RowRange& range = RowRange::All()) const;
  size_t CountRows() const { return rows_.size(); }

  MemoryLog& log() { return log_; }
  const MemoryLog& log() const { return log_; }

 private:
  Rows rows_;
  MemoryLog log_;
};

// Returns exactly the cells of a row that `hints` ask for.  rows_max is ignored; keys_only leaves values
// empty.  Families come by id, none without cells.  The views point into `row`.
std::vector<RowFamily> SelectCells(const MemoryRow& row, const ReadHints& hints);

}  // namespace sonde
