// Packs the quiet rows of a store's tables, now and then: what they have as cells of HBase's becomes one value a family
// (engine/hbase/packed/packed_cells.h).  Each server of a store has a settler; leases keep them in different regions (settle_leases.h).
//
// A row is quiet when its newest cell is older than SettlerOptions::quiet.  It is read and written by one guarded commit, so that a
// settler loses against whoever changes the row meanwhile, and does nothing then.
//
// Threads: all functions may be called at once, but for SettleRange and RunRound, which belong to one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "engine/hbase/settle/region_compactor.h"
#include "engine/hbase/settle/settle_edit.h"
#include "engine/hbase/settle/settle_leases.h"
#include "engine/row_store.h"
#include "hbase/client.h"
#include "metrics/figure.h"
#include "model/row_range.h"
#include "upkeep/repeated_work.h"

namespace sonde {

struct SettlerOptions {
  absl::Duration quiet = absl::Minutes(5);
  absl::Duration pause = absl::Minutes(1);  // between two looks at a region
  size_t rows_max = 50'000;                 // that have cells by themselves and are looked at, of a round
  size_t cells_min = 8;                     // SettleRules
  CompactorOptions compactor = {};
};

class Settler {
 public:
  // `client` must outlive it.
  Settler(hbase::Client* client, std::string space, SettlerOptions options);
  // Waits for a round that is under way, which ends soon.
  ~Settler();

  // Begins with rounds, each SettlerOptions::pause after the one before.  At most once.
  void Start(std::function<void(const absl::Status& error)> tell_error);

  // Settles regions until the round's rows are used up, or nothing is left to do.  Then begins a compaction if one is due
  // (region_compactor.h).  Errors: those of the calls to HBase.
  absl::Status RunRound();

  // Settles rows of a range, at most `rows_max`.  Returns where to go on; empty: the range is done.  `go_on` is asked between rows; false
  // ends the work early.  Needs no lease.
  absl::StatusOr<std::string> SettleRange(const hbase::TableName& table, CellStorage storage,
                                          const RowRange& range, const SettleRules& rules, size_t rows_max,
                                          const std::function<absl::StatusOr<bool>()>& go_on,
                                          absl::Time deadline);

  std::vector<Figure> Figures() const;
  uint64_t cells_settled() const { return cells_settled_.load(std::memory_order_relaxed); }

 private:
  // Settles what the round's rows allow of a table.
  absl::Status SettleTable(TableId id, const hbase::TableName& table, CellStorage storage);
  absl::Status SettleRegion(TableId id, const hbase::Region& region, CellStorage storage);
  // Settles rows that have cells by themselves, several at once.
  absl::Status SettleRows(const hbase::TableName& table, CellStorage storage,
                          const std::vector<std::string>& row_keys, const SettleRules& rules,
                          absl::Time deadline);
  absl::Status SettleRow(const hbase::TableName& table, CellStorage storage, const std::string& row_key,
                         const SettleRules& rules, absl::Time deadline);
  SettleRules RulesNow() const;

  hbase::Client* const client_;
  const std::string space_;
  const SettlerOptions options_;
  SystemRandom random_;
  SettleLeases leases_;
  RegionCompactor compactor_;
  size_t rows_left_ = 0;  // of the round

  std::atomic<bool> is_ending_ = false;
  std::atomic<uint64_t> rows_settled_ = 0;
  std::atomic<uint64_t> cells_settled_ = 0;
  std::atomic<uint64_t> bytes_packed_ = 0;  // SettledBytes
  std::atomic<uint64_t> bytes_left_ = 0;
  std::atomic<uint64_t> compactions_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> errors_ = 0;
  std::atomic<uint64_t> regions_visited_ = 0;
  std::atomic<bool> was_cut_short_ = false;
  std::atomic<int64_t> last_round_micros_ = 0;
  std::unique_ptr<RepeatedWork> rounds_;  // last, as it uses the others
};

}  // namespace sonde
