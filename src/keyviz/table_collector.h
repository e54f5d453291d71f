// Counts what happens in one table, by bucket, as requests go by; and once a second hands over what it has
// counted, learns where keys and load are, and divides the table anew where that has changed.
//
// Threads: Record and RecordScan by any number of threads at once, each of which names a shard; threads of
// one shard wait for each other, so name them by thread.  All else by one thread at a time.
// Cost: some 60 ns a row.
// Memory: bounded, some 2 MB with long keys, and as much for each shard in a second that saw so many.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "keyviz/access_counts.h"
#include "keyviz/column_facts.h"
#include "keyviz/key_sample.h"
#include "keyviz/partition.h"
#include "table/access_observer.h"

namespace sonde {

// A row into which, or out of which, many bytes went.
struct HeavyRow {
  std::string row_key;
  uint64_t bytes_written = 0;   // about, by all writes so far; what was overwritten counts again
  uint64_t bytes_read_max = 0;  // by one read
};

class TableCollector {
 public:
  static constexpr size_t kShards = 4;
  // Buckets that follow the keys, and all of them with those that follow the load.
  static constexpr size_t kKeyBucketsMax = 768;
  static constexpr size_t kBucketsMax = 1000;
  // A scan that looks at fewer rows is none to speak of.
  static constexpr int64_t kFullScanRowsMin = 1'000;

  explicit TableCollector(uint64_t seed);

  void Record(size_t shard, const AccessPart& part);
  void RecordScan(const FullScan& scan);

  // The counts since the last call, in the buckets of `partition`; `counts` is empty if nothing was counted.
  struct Counted {
    PartitionRef partition;
    std::vector<AccessCounts> counts;
    ColumnFacts facts;
  };
  Counted Drain(int64_t now_seconds);

  const PartitionRef& partition() const { return partition_; }
  const KeySample& keys() const { return keys_; }
  // With at least this share of the recent load (of the last minute or two, older accesses count less).
  std::vector<HotRow> HotRows(double share_min) const;
  // That load.
  double recent_ops() const { return recent_ops_; }
  // The heaviest first.
  std::vector<HeavyRow> HeavyRows() const;
  // Keys that divide the recent load into so many about equal parts, or fewer.
  std::vector<std::string> DivideLoad(size_t parts) const;
  // Forgets what was written to a row that is no longer large.
  void ForgetHeavyRow(const std::string& row_key) { heavy_.erase(row_key); }

  // The first and the last key that were written; empty: none is known.
  const std::string& known_low() const { return known_low_; }
  const std::string& known_high() const { return known_high_; }

  // Takes up what an earlier run had learned.
  void Restore(PartitionRef partition, KeySample keys, std::string known_low, std::string known_high);

 private:
  struct LoadSample {
    std::string row_key;
    AccessKind kind = AccessKind::kRead;
  };
  struct alignas(64) Shard {
    absl::Mutex mutex;
    PartitionRef partition ABSL_GUARDED_BY(mutex);
    std::vector<AccessCounts> counts ABSL_GUARDED_BY(mutex);  // empty: nothing happened
    uint64_t hash_max ABSL_GUARDED_BY(mutex) = UINT64_MAX;
    KeySample keys ABSL_GUARDED_BY(mutex);
    // Each row of the second is in it with the same chance.
    std::vector<LoadSample> load ABSL_GUARDED_BY(mutex);
    uint64_t load_rows ABSL_GUARDED_BY(mutex) = 0;  // from which `load` was drawn
    SeededRandom random ABSL_GUARDED_BY(mutex){0};
    // The first and the last key of the writes of this second; empty: there was none.
    std::string key_low ABSL_GUARDED_BY(mutex);
    std::string key_high ABSL_GUARDED_BY(mutex);
    // The same of all writes before.
    std::string known_low ABSL_GUARDED_BY(mutex);
    std::string known_high ABSL_GUARDED_BY(mutex);
    uint64_t writes ABSL_GUARDED_BY(mutex) = 0;
    uint64_t above_all ABSL_GUARDED_BY(mutex) = 0;
    uint64_t below_all ABSL_GUARDED_BY(mutex) = 0;
    int64_t bytes_until_heavy ABSL_GUARDED_BY(mutex) = 0;
    std::vector<HeavyRow> heavy ABSL_GUARDED_BY(mutex);
  };
  void RecordRow(Shard* shard, size_t bucket, AccessKind kind, const AccessedRow& row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mutex);
  void RecordKey(Shard* shard, AccessKind kind, const AccessedRow& row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mutex);
  void RecordWriteOrder(Shard* shard, const AccessedRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mutex);
  void RecordHeavy(Shard* shard, AccessKind kind, const AccessedRow& row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard->mutex);
  void LearnLoad(const Shard& shard, ColumnFacts* facts) ABSL_SHARED_LOCKS_REQUIRED(shard.mutex);
  void LearnHeavy(const Shard& shard) ABSL_SHARED_LOCKS_REQUIRED(shard.mutex);
  bool PartitionFits(const std::vector<std::string>& sorted_keys,
                     const std::vector<std::string>& wanted) const;
  std::vector<std::string> StartsByLoad(const std::vector<std::string>& sorted_keys) const;
  void Divide(bool young);
  // About how many of the keys in use each bucket has.
  std::vector<uint64_t> CountKeys(const Partition& partition) const;

  std::array<Shard, kShards> shards_;
  int64_t ticks_ = 0;
  PartitionRef partition_;
  KeySample keys_;
  absl::flat_hash_map<std::string, HotRow> hot_;
  double recent_ops_ = 0;
  std::deque<std::string> recent_keys_;  // of samples of the load, the oldest first
  std::string known_low_, known_high_;
  absl::flat_hash_map<std::string, HeavyRow> heavy_;

  mutable absl::Mutex scanners_mutex_;
  ColumnFacts scans_ ABSL_GUARDED_BY(scanners_mutex_);  // since the last Drain
};

}  // namespace sonde
