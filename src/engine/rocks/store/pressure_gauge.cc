#include "engine/rocks/store/pressure_gauge.h"

#include <algorithm>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sonde {
namespace {

constexpr absl::Duration kPressureLook = absl::Milliseconds(100);
// With more write buffers than this RocksDB slows down when one is left, else it stops when none is.
constexpr int kBuffersThatSlow = 3;

// 0 up to `calm`, 1 from `slow` on.
double Share(double value, double calm, double slow) {
  return std::clamp((value - calm) / std::max(slow - calm, 1.0), 0.0, 1.0);
}

}  // namespace

PressureGauge::PressureGauge(rocksdb::DB* db,
                             const std::vector<rocksdb::ColumnFamilyHandle*>& column_families)
    : db_(db) {
  for (rocksdb::ColumnFamilyHandle* const column_family : column_families) {
    const rocksdb::Options options = db->GetOptions(column_family);
    const int buffers = options.max_write_buffer_number;
    triggers_.push_back({
        .column_family = column_family,
        .buffers_calm = 1,  // one is flushed while the next is filled
        .buffers_slow = static_cast<double>(buffers > kBuffersThatSlow ? buffers - 1 : buffers),
        .top_tables_calm = static_cast<double>(options.level0_file_num_compaction_trigger),
        .top_tables_slow = static_cast<double>(options.level0_slowdown_writes_trigger),
        .compaction_bytes_slow = static_cast<double>(options.soft_pending_compaction_bytes_limit),
    });
  }
}

double PressureGauge::Get() const {
  const int64_t now_nanos = absl::GetCurrentTimeNanos();
  int64_t looked_nanos = looked_nanos_.load(std::memory_order_relaxed);
  // Whoever sets the time looks.
  if (now_nanos - looked_nanos >= absl::ToInt64Nanoseconds(kPressureLook) &&
      looked_nanos_.compare_exchange_strong(looked_nanos, now_nanos, std::memory_order_relaxed)) {
    last_.store(Measure(), std::memory_order_relaxed);
  }
  return last_.load(std::memory_order_relaxed);
}

double PressureGauge::Measure() const {
  double pressure = 0;
  for (const Triggers& triggers : triggers_) {
    uint64_t buffers = 0, compaction_bytes = 0;
    std::string top_tables;
    db_->GetIntProperty(triggers.column_family, rocksdb::DB::Properties::kNumImmutableMemTable, &buffers);
    db_->GetIntProperty(triggers.column_family, rocksdb::DB::Properties::kEstimatePendingCompactionBytes,
                        &compaction_bytes);
    db_->GetProperty(triggers.column_family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0",
                     &top_tables);
    const auto top = static_cast<double>(std::strtoull(top_tables.c_str(), nullptr, 10));
    pressure =
        std::max({pressure, Share(static_cast<double>(buffers), triggers.buffers_calm, triggers.buffers_slow),
                  Share(top, triggers.top_tables_calm, triggers.top_tables_slow),
                  Share(static_cast<double>(compaction_bytes), 0, triggers.compaction_bytes_slow)});
  }
  return pressure;
}

bool PressureGauge::IsStopped() const {
  uint64_t stopped = 0;
  return db_->GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &stopped) && stopped != 0;
}

}  // namespace sonde
