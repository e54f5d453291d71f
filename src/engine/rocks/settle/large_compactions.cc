#include "engine/rocks/settle/large_compactions.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// An operand, the block that is made of it, twice as long when its end is appended, and compressed.
constexpr int64_t kCopies = 4;

}  // namespace

void LargeCompactions::OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) {
  const LongRows* const long_rows = long_rows_;
  if (long_rows == nullptr) return;
  const auto longest = static_cast<int64_t>(long_rows->longest());
  if (longest < kLargeBytes) return;
  // A block of each input is in memory.
  int64_t bytes = 0, longest_input = 0;
  for (const auto& [_, properties] : job.table_properties) {
    const auto input = static_cast<int64_t>(properties->raw_key_size + properties->raw_value_size);
    longest_input = std::max(longest_input, std::min(input, longest));
    bytes += std::min(input, longest);
  }
  if (longest_input < kLargeBytes) return;
  LargeRoom::Place place = room_->TakeSurely(bytes + kCopies * longest_input, LargeRoom::Turn::kBeforeAll);
  const absl::MutexLock lock(&mutex_);
  places_[job.job_id] = std::move(place);
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
