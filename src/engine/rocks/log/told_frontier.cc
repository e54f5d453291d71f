#include "engine/rocks/log/told_frontier.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/varint.h"
#include "engine/rocks/files/rocks_status.h"

namespace sonde {
namespace {

// A key as those of the log's records: of no table, at no position.
constexpr std::string_view kKey{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16};

// A step.  After a crash positions are ahead of the clock for as long, at most.
constexpr int64_t kAheadMicros = 1'000'000;

}  // namespace

ToldFrontier::~ToldFrontier() {
  const absl::MutexLock lock(&mutex_);
  const int64_t told = std::max(told_, before_);
  if (bound_ != told) Write(told);  // or the bound stays ahead
}

absl::Status ToldFrontier::Load() {
  std::string value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), column_family_, rocksdb::Slice(kKey), &value);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Reading how far frontiers of change logs were told");
  std::string_view in = value;
  uint64_t bound = 0;
  if (!GetFixed64(&in, &bound) || !in.empty() || bound > std::numeric_limits<int64_t>::max()) {
    return absl::DataLossError("The record of how far frontiers of change logs were told is damaged");
  }
  before_ = static_cast<int64_t>(bound);
  // Changes get positions above the bound: if the clock were behind, their commit times would lie ahead of the moment of their answers, and
  // a restore to that moment would lack them.
  absl::SleepFor(std::min(absl::FromUnixMicros(before_) - absl::Now(), absl::Microseconds(kAheadMicros)));
  const absl::MutexLock lock(&mutex_);
  bound_ = before_;
  return absl::OkStatus();
}

int64_t ToldFrontier::Allow(int64_t frontier) {
  const absl::MutexLock lock(&mutex_);
  if (frontier > bound_) {
    const int64_t bound =
        std::min(frontier, std::numeric_limits<int64_t>::max() - kAheadMicros) + kAheadMicros;
    if (Write(bound)) bound_ = bound;
  }
  told_ = std::max(told_, std::min(frontier, bound_));
  return std::min(frontier, bound_);
}

bool ToldFrontier::Write(int64_t bound) {
  std::string value;
  PutFixed64(&value, static_cast<uint64_t>(bound));
  rocksdb::WriteOptions write;
  write.sync = syncs_;
  return db_->Put(write, column_family_, rocksdb::Slice(kKey), value).ok();
}

}  // namespace sonde
