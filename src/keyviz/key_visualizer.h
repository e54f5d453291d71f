// The key visualizer: what is read and written where and when, from the first request on.
//
// It sees accesses as an observer of Tables, counts them (table_collector.h), keeps them on disk for two
// weeks (history.h), draws them (heat_map.h) and says what it sees (findings.h).
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/steady_cond_var.h"
#include "keyviz/findings.h"
#include "keyviz/heat_map.h"
#include "keyviz/history.h"
#include "keyviz/table_collector.h"
#include "table/access_observer.h"

namespace sonde {

// A part of a table that takes much of the processor: google.bigtable.admin.v2.HotTablet.
struct HotTablet {
  int64_t start_seconds = 0;  // of the time in which it was measured
  int64_t end_seconds = 0;
  std::string start_key;  // [start, end), end empty: to the end of the table
  std::string end_key;
  double cpu_percent = 0;  // of one processor, 0 to 100
};

class KeyVisualizer final : public AccessObserver {
 public:
  struct Options {
    std::filesystem::path directory;
    // Tables that are watched at a time; accesses to others are not counted until one falls silent.
    size_t tables_max = 256;
    // The bytes of a row, as far as `bytes_max`: called now and then for a row into which much was written.
    std::function<absl::StatusOr<uint64_t>(TableId table, const std::string& row_key, uint64_t bytes_max)>
        measure_row;
    // The processor time of this process so far, in microseconds; unset: the machine's answer.
    std::function<int64_t()> cpu_micros;
    uint64_t seed = 1;
  };

  // `clock` must outlive it.  Errors: AccessHistory::Open.  It takes up what an earlier run has left; files
  // of it that cannot be read are ignored.
  static absl::StatusOr<std::unique_ptr<KeyVisualizer>> Open(Options options, const Clock* clock);
  // Keeps what it has.
  ~KeyVisualizer() override;

  // Begins to tick by itself, once a second.
  void Start();
  // Takes over what was counted since the last call: once a second.
  void Tick();

  void OnAccess(TableId table, const AccessPart& part) override;
  void OnFullScan(TableId table, const FullScan& scan) override;
  std::vector<std::string> TabletStarts(TableId table) override;

  absl::StatusOr<HeatMap> Map(const HeatMapRequest& request);
  // Findings about [start, end), which may be in an earlier run's time.  A large row has the size of its last
  // measurement, and is told of times that end after it was found.  `table_id` appears in the texts.
  absl::StatusOr<std::vector<Finding>> Findings(TableId table, const std::string& table_id,
                                                int64_t start_seconds, int64_t end_seconds,
                                                std::optional<DeclaredSeries> declared);
  // Those with accesses in [start, end).
  absl::StatusOr<std::set<TableId>> ListTables(int64_t start_seconds, int64_t end_seconds) const;
  // For each of the table's tablets (`starts`, ascending, the first ""), the hottest minute of each quarter
  // of an hour in [start, end) in which it took at least `cpu_percent_min`.  For times more than a day ago,
  // the quarter counts as a whole.  The hottest come first.
  absl::StatusOr<std::vector<HotTablet>> HotTablets(TableId table, const std::vector<std::string>& starts,
                                                    int64_t start_seconds, int64_t end_seconds,
                                                    double cpu_percent_min);
  // Rows of at least kLargeRowBytes, as they were last measured.
  std::vector<LargeRow> LargeRows(TableId table);
  // Distinct keys in use, about.
  double KeyCount(TableId table);

  // The counts of one second, over all tables; for the last kTotalsSeconds, the oldest first, without quiet
  // seconds.
  static constexpr int64_t kTotalsSeconds = 900;
  struct SecondOfAll {
    int64_t second = 0;
    AccessCounts counts;
  };
  std::vector<SecondOfAll> RecentTotals() const;

  // Since this process began, up to the last tick.
  struct TableSums {
    TableId table = 0;
    AccessCounts counts;
    uint64_t cells_read = 0;
    uint64_t cells_written = 0;  // mutations
  };
  std::vector<TableSums> Sums() const;

  uint64_t bytes_on_disk() const { return history_->bytes_on_disk(); }
  // Accesses that were not counted because too many tables are in use.
  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Watched;
  KeyVisualizer(Options options, const Clock* clock, std::unique_ptr<AccessHistory> history);

  int64_t NowSeconds() const { return clock_->NowMicros() / 1'000'000; }
  std::shared_ptr<Watched> Find(TableId table) const;
  std::shared_ptr<Watched> FindOrAdd(TableId table);
  void MeasureRows(TableId table, Watched* watched, int64_t now_seconds);
  void RecordCpu(int64_t now_seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(tick_mutex_);
  void Save() ABSL_EXCLUSIVE_LOCKS_REQUIRED(tick_mutex_);
  void Load();

  const Options options_;
  const Clock* const clock_;
  const std::unique_ptr<AccessHistory> history_;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<TableId, std::shared_ptr<Watched>> tables_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> dropped_ = 0;
  mutable absl::Mutex totals_mutex_;
  std::deque<SecondOfAll> totals_ ABSL_GUARDED_BY(totals_mutex_);
  absl::Mutex map_mutex_;  // one map at a time: each may need some 64 MB
  absl::Mutex tick_mutex_;
  int64_t cpu_before_ ABSL_GUARDED_BY(tick_mutex_) = -1;
  int64_t last_second_ ABSL_GUARDED_BY(tick_mutex_) = 0;
  int64_t last_save_ ABSL_GUARDED_BY(tick_mutex_) = 0;

  absl::Mutex ending_mutex_;
  SteadyCondVar ending_changed_;
  bool ending_ ABSL_GUARDED_BY(ending_mutex_) = false;
  std::thread ticker_;
};

}  // namespace sonde
