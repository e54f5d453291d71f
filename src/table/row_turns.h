// The server's time for changes that ask for it, in the order of each row's changes: whoever takes it for a
// row has the row's turn until its change is committed.  So of two changes the later one never carries the
// older time, and is not hidden behind the other, wholly or in part.  For a row it does not go back while the
// process lives, whatever somebody does to the machine's clock.
//
// Changes whose cells bring their own timestamps need no turn.  Changes of different rows do not wait for
// each other: those of several requests become durable together.
//
// Threads: turns may be taken at once; one waits for those of its rows.  Nobody may take a second one while
// having one.
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

  // Of a row that somebody has, or waits for.
  struct Turn {
    absl::Mutex mutex;
    int64_t last_micros = 0;  // guarded by mutex, as Take and GiveBack see to: what the last turn was given
    size_t takers = 0;        // guarded by the shard's mutex: who have it or wait for it
  };
  // Rows are known by a hash of 64 bits: two with the same take turns with each other.
  struct Shard {
    absl::Mutex mutex;
    int64_t last_micros ABSL_GUARDED_BY(mutex) = 0;  // of all turns that are over
    absl::flat_hash_map<uint64_t, std::unique_ptr<Turn>> turns ABSL_GUARDED_BY(mutex);  // that are not
  };
  static constexpr size_t kShards = 1'024;  // so many that threads seldom meet at one

  Shard& ShardOf(uint64_t row_hash) { return shards_[row_hash % kShards]; }
  // A turn is a mutex that is locked by one function and given back by another, which the analysis of locks cannot
  // follow.  Take waits for it.
  Turn* Take(uint64_t row_hash) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Null: somebody has the turn, or waits for it, or had it at a later time than `now_micros`.
  Turn* TryTake(uint64_t row_hash, int64_t now_micros) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void GiveBack(uint64_t row_hash, Turn* turn, int64_t now_micros) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  const Clock* const clock_;
  std::array<Shard, kShards> shards_;
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
  struct Row {
    uint64_t hash;
    RowTurns::Turn* turn;
  };
  RowTurns* const turns_;
  std::vector<Row> rows_;  // by hash, the order in which all take them
  int64_t now_micros_;
};

// Turns of rows that are taken one after the other, if nobody has them, at one time.  So their taker waits for
// nobody, and may take as many as come.
class RowTurnsNow {
 public:
  RowTurnsNow(RowTurns* turns, TableId table)
      : turns_(turns), table_(table), now_micros_(turns->clock_->NowMicros()) {}
  ~RowTurnsNow();
  RowTurnsNow(const RowTurnsNow&) = delete;
  RowTurnsNow& operator=(const RowTurnsNow&) = delete;

  int64_t now_micros() const { return now_micros_; }
  // False: the row's turn cannot be had now.  True for a row that has it here already.
  bool Take(std::string_view row_key);

 private:
  RowTurns* const turns_;
  const TableId table_;
  const int64_t now_micros_;
  absl::flat_hash_map<uint64_t, RowTurns::Turn*> rows_;  // by hash
};

}  // namespace sonde
