// The server's time for changes that ask for it, in the order of each row's changes: whoever takes it for a
// row has the row's turn until its change is committed.  So of two changes the later one never carries the
// older time, and is not hidden behind the other, wholly or in part.  For a row it does not go back while the
// process lives, whatever somebody does to the machine's clock.
//
// Changes whose cells bring their own timestamps need no turn.
//
// Threads: turns may be taken at once; one waits for those of its rows.  Striped: two rows may share a turn,
// so nobody may take a second one while having one.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/clock.h"
#include "model/cell.h"

namespace sonde {

class RowTurns {
 public:
  // `clock` must outlive this.
  explicit RowTurns(const Clock* clock) : clock_(clock) {}

 private:
  friend class RowTurn;

  struct Stripe {
    std::mutex mutex;
    int64_t last_micros = 0;  // guarded by mutex: what the last turn was given
  };
  // So many that two requests of a hundred rows each seldom share one.
  static constexpr size_t kStripes = 65'536;

  const Clock* const clock_;
  std::vector<Stripe> stripes_{kStripes};
};

// The turn of these rows, which may repeat; of none, it is the time alone.
class RowTurn {
 public:
  RowTurn(RowTurns* turns, TableId table, absl::Span<const std::string_view> row_keys);
  RowTurn(RowTurns* turns, TableId table, std::string_view row_key)
      : RowTurn(turns, table, absl::MakeConstSpan(&row_key, 1)) {}
  ~RowTurn();
  RowTurn(const RowTurn&) = delete;
  RowTurn& operator=(const RowTurn&) = delete;

  int64_t now_micros() const { return now_micros_; }

 private:
  std::vector<RowTurns::Stripe*> stripes_;  // by address, the order in which all take them
  int64_t now_micros_;
};

}  // namespace sonde
