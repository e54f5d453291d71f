#include "engine/rocks/large_compactions.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// A block that was read, an operand of it, and the block that is made of that: twice as long when its end is
// appended, and compressed.
constexpr int64_t kCopies = 5;

}  // namespace

void LargeCompactions::OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) {
  const LongRows* const long_rows = long_rows_;
  if (long_rows == nullptr || static_cast<int64_t>(long_rows->longest()) < kLargeBytes) return;
  uint64_t input_bytes = 0;
  for (const auto& [_, properties] : job.table_properties) input_bytes += properties->data_size;
  const uint64_t longest = std::min(long_rows->longest(), std::max<uint64_t>(input_bytes, 1));
  if (static_cast<int64_t>(longest) < kLargeBytes) return;
  absl::StatusOr<LargeRoom::Place> place =
      room_->Take("A compaction", std::min(kCopies * static_cast<int64_t>(longest), room_->bytes_max()));
  if (!place.ok()) return;
  const absl::MutexLock lock(&mutex_);
  places_[job.job_id] = *std::move(place);
}

void LargeCompactions::OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) {
  LargeRoom::Place place;
  const absl::MutexLock lock(&mutex_);
  if (const auto at = places_.find(job.job_id); at != places_.end()) {
    place = std::move(at->second);
    places_.erase(at);
  }
}

}  // namespace sonde
