// Gives the server's time to changes that ask for it, in the order of each row's changes.  A change that
// takes the time for a row has the row's turn until it is committed.  So of two changes the later one never
// carries the older time, and is not hidden behind the other, wholly or in part.  The time of a row does not
// go back while the process lives, whatever happens to the machine's clock.
//
// Changes whose cells bring their own timestamps need no turn.  Changes of different rows do not wait for
// each other, so those of several requests become durable together.
//
// Threads: turns may be taken by all threads at once.  A thread waits for the turns of its rows.  A thread
// that has a RowTurn must not take a second one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
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
  friend class RowTurnsNow;

  // The turn of a row that some changes have or wait for.
  struct Turn {
    absl::Mutex mutex;
    int64_t last_micros = 0;  // guarded by mutex, as Take and GiveBack see to: the time of the last turn
    size_t takers = 0;        // guarded by the shard's mutex: how many have it or wait for it
  };
  // Rows are known by a hash of 64 bits.  Rows with the same hash share their turns.
  struct Shard {
    absl::Mutex mutex;
    int64_t last_micros ABSL_GUARDED_BY(mutex) = 0;  // of all turns that are over
    // Turns that are not over.
    absl::flat_hash_map<uint64_t, std::unique_ptr<Turn>> turns ABSL_GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 1'024;  // so many that threads seldom meet at one

  Shard& ShardOf(uint64_t row_hash) { return shards_[row_hash % kShards]; }
  // One function locks a turn's mutex and another gives it back, which the analysis of locks cannot follow.
  // Take waits for the turn.
  Turn* Take(uint64_t row_hash) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Returns null if somebody has the turn, waits for it, or had it at a later time than `now_micros`.
  Turn* TryTake(uint64_t row_hash, int64_t now_micros) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void GiveBack(uint64_t row_hash, Turn* turn, int64_t now_micros) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  const Clock* const clock_;
  std::array<Shard, kShards> shards_;
};

// The turn of these rows, which may repeat.  Without rows it is the time alone.  Belongs to one thread.
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
  struct Row {
    uint64_t hash;
    RowTurns::Turn* turn;
  };
  RowTurns* const turns_;
  std::vector<Row> rows_;  // by hash, the order in which all threads take them
  int64_t now_micros_;
};

// Turns of rows that are taken one after the other, at one time, if nobody else has them.  So the taker waits
// for nobody, and may take any number.  Belongs to one thread.
class RowTurnsNow {
 public:
  RowTurnsNow(RowTurns* turns, TableId table)
      : turns_(turns), table_(table), now_micros_(turns->clock_->NowMicros()) {}
  ~RowTurnsNow();
  RowTurnsNow(const RowTurnsNow&) = delete;
  RowTurnsNow& operator=(const RowTurnsNow&) = delete;

  int64_t now_micros() const { return now_micros_; }
  // Returns false if the row's turn cannot be had now.  Returns true also if this has it already.
  bool Take(std::string_view row_key);

 private:
  RowTurns* const turns_;
  const TableId table_;
  const int64_t now_micros_;
  absl::flat_hash_map<uint64_t, RowTurns::Turn*> rows_;  // by hash
};

}  // namespace sonde
