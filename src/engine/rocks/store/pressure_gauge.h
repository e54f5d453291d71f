// How close RocksDB is to slowing writes down.  RocksDB slows them by write buffers that wait for a flush,
// tables in the topmost level, and bytes that wait for a compaction.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rocksdb/db.h"

namespace sonde {

class PressureGauge {
 public:
  // Both must outlive this.
  PressureGauge(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& column_families);

  // The highest pressure of all column families and causes.  It is 1 where RocksDB begins to slow writes
  // down, and 0.5 half way from its ease to there.  It is not older than kPressureLook.
  double Get() const;

  // Whether RocksDB takes no write at all.  Costs the database's lock.
  bool IsStopped() const;

 private:
  struct Triggers {
    rocksdb::ColumnFamilyHandle* column_family;
    // Where each cause begins to count, and where it slows writes down.
    double buffers_calm, buffers_slow;
    double top_tables_calm, top_tables_slow;
    double compaction_bytes_slow;
  };

  double Measure() const;

  rocksdb::DB* const db_;
  std::vector<Triggers> triggers_;
  mutable std::atomic<int64_t> looked_nanos_ = 0;
  mutable std::atomic<double> last_ = 0;
};

}  // namespace sonde
