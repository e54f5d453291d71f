// The server's time of a change, as its row allows it: for servers that share tables, whose clocks differ.
//
// A change that asks for the server's time must not be hidden behind one that was applied earlier.  Within a
// process its clock and the turns of rows (row_turns.h) see to that.  A server whose clock is behind that of
// another one takes the time of the other's newest cell in the columns that it changes,
// if that lies no further in the future than clocks may differ.  So a cell that a client has dated far into
// the future moves no time.  A change may wait long for its row, while its store is away, and others come first: what counts is
// the clock when it reads its row, and not when it came.
//
// Belongs to one thread; const functions may be called by several.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/clock.h"
#include "engine/row_store.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/table_schema.h"

namespace sonde {

// The clocks of two servers may differ by this much.
constexpr int64_t kClocksDifferMicros = 10'000'000;

bool AsksForServerTime(const Mutation& mutation);

class RowTime {
 public:
  // One of `branches` is applied.  The bytes that they view, and `clock`, must outlive this.
  RowTime(const TableSchema& schema, const Clock* clock, int64_t now_micros,
          std::initializer_list<absl::Span<const Mutation>> branches);

  // Makes hints ask also for the cells that Of has to see.  The hints' families must be set.
  void AddTo(ReadHints* hints) const;
  // Returns the time.  `row` must have at least the cells that the hints ask for, and have been read just now.
  int64_t Of(const std::vector<RowFamily>& row) const;

 private:
  using Column = std::pair<FamilyId, std::string_view>;

  const Clock* const clock_;
  const int64_t now_micros_;     // when the change came
  std::vector<Column> columns_;  // the columns that get the server's time; ascending, each once
};

}  // namespace sonde
