#include "keyviz/table_collector.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kLoadSamplesPerSecond = 64;  // a shard
constexpr size_t kRecentKeysMax = 4096;
constexpr double kHalfLifeSeconds = 60;
constexpr size_t kHotRowsKept = 256;
// A row with this share of the load gets a bucket of its own; a bucket with it is divided.
constexpr double kKeptRowShare = 0.02;
constexpr double kHotBucketShare = 0.01;
// The partition is looked at each second while the table is new here, then less often.
constexpr int64_t kYoungSeconds = 15;
constexpr int64_t kDivideEverySeconds = 5;
constexpr int64_t kForgetEverySeconds = 600;
// Each so many bytes that are written, the row in hand is noted.
constexpr int64_t kHeavyStepBytes = 256 << 10;
constexpr size_t kHeavyPerSecondMax = 256;
constexpr size_t kHeavyRowsKept = 256;
constexpr uint64_t kHeavyReadBytes = 16 << 20;

}  // namespace

TableCollector::TableCollector(uint64_t seed)
    : partition_(std::make_shared<Partition>(std::vector<std::string>{""})) {
  for (Shard& shard : shards_) {
    shard.partition = partition_;
    shard.random = SeededRandom(seed++);
    shard.bytes_until_heavy = static_cast<int64_t>(shard.random.Uniform(kHeavyStepBytes));
  }
}

void TableCollector::Restore(PartitionRef partition, KeySample keys, std::string known_low,
                             std::string known_high) {
  keys_ = std::move(keys);
  partition_ = std::make_shared<Partition>(partition->starts(), CountKeys(*partition));
  known_low_ = std::move(known_low);
  known_high_ = std::move(known_high);
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    shard.partition = partition_;
    shard.hash_max = keys_.hash_max();
    shard.known_low = known_low_;
    shard.known_high = known_high_;
  }
  ticks_ = kYoungSeconds;
}

void TableCollector::Record(size_t shard_index, const AccessPart& part) {
  Shard& shard = shards_[shard_index % kShards];
  const absl::MutexLock lock(&shard.mutex);
  if (shard.counts.empty()) shard.counts.resize(shard.partition->size());
  size_t first_bucket = 0;
  for (const AccessedRow& row : part.rows) {
    const size_t bucket = shard.partition->Find(row.row_key);
    if (&row == part.rows.data()) first_bucket = bucket;
    RecordRow(&shard, bucket, part.kind, row);
  }
  if (!part.latency_micros.has_value() && part.errors == 0) return;
  AccessCounts& first = shard.counts[first_bucket];
  first.errors += part.errors;
  if (!part.latency_micros.has_value()) return;
  const auto micros = static_cast<uint64_t>(std::max<int64_t>(*part.latency_micros, 0));
  ++first.requests;
  first.latency_micros += micros;
  first.latency_micros_max = std::max(first.latency_micros_max, micros);
}

void TableCollector::RecordRow(Shard* shard, size_t bucket, AccessKind kind, const AccessedRow& row) {
  if (row.rows == 0) return;
  AccessCounts& counts = shard->counts[bucket];
  if (kind == AccessKind::kRead) {
    counts.reads += row.rows;
    counts.read_bytes += row.bytes * row.rows;
  } else {
    counts.writes += row.rows;
    counts.write_bytes += row.bytes * row.rows;
    RecordWriteOrder(shard, row);
  }
  RecordKey(shard, kind, row);
  RecordHeavy(shard, kind, row);
}

void TableCollector::RecordKey(Shard* shard, AccessKind kind, const AccessedRow& row) {
  const uint64_t hash = KeySample::HashOf(row.row_key);
  if (hash <= shard->hash_max) shard->keys.Add(hash, row.row_key, 0);
  shard->load_rows += row.rows;
  if (shard->load.size() < kLoadSamplesPerSecond) {
    shard->load.push_back({std::string(row.row_key), kind});
    return;
  }
  const uint64_t place = shard->random.Uniform(shard->load_rows) / row.rows;
  if (place < kLoadSamplesPerSecond) {
    shard->load[place].row_key.assign(row.row_key);
    shard->load[place].kind = kind;
  }
}

void TableCollector::RecordWriteOrder(Shard* shard, const AccessedRow& row) {
  ++shard->writes;
  if (!shard->known_high.empty()) {
    if (row.row_key > shard->known_high) ++shard->above_all;
    if (row.row_key < shard->known_low) ++shard->below_all;
  }
  if (shard->key_high.empty() || row.row_key > shard->key_high) shard->key_high.assign(row.row_key);
  if (shard->key_low.empty() || row.row_key < shard->key_low) shard->key_low.assign(row.row_key);
}

void TableCollector::RecordHeavy(Shard* shard, AccessKind kind, const AccessedRow& row) {
  if (kind == AccessKind::kRead) {
    if (row.bytes >= kHeavyReadBytes && shard->heavy.size() < kHeavyPerSecondMax) {
      shard->heavy.push_back({std::string(row.row_key), 0, row.bytes});
    }
    return;
  }
  shard->bytes_until_heavy -= static_cast<int64_t>(row.bytes);
  if (shard->bytes_until_heavy > 0) return;
  const int64_t steps = 1 - shard->bytes_until_heavy / kHeavyStepBytes;
  shard->bytes_until_heavy += steps * kHeavyStepBytes;
  if (shard->heavy.size() < kHeavyPerSecondMax) {
    shard->heavy.push_back({std::string(row.row_key), static_cast<uint64_t>(steps * kHeavyStepBytes), 0});
  }
}

void TableCollector::RecordScan(const FullScan& scan) {
  if (scan.rows < kFullScanRowsMin) return;
  const auto rows = static_cast<uint64_t>(scan.rows);
  const absl::MutexLock lock(&scanners_mutex_);
  scans_.AddScan(scan.caller, 1, rows, rows);
}

TableCollector::Counted TableCollector::Drain(int64_t now_seconds) {
  const double decay = std::exp2(-1 / kHalfLifeSeconds);
  recent_ops_ *= decay;
  for (auto& [key, row] : hot_) {
    row.reads *= decay;
    row.writes *= decay;
  }
  Counted counted{partition_, {}, {}};
  {
    const absl::MutexLock lock(&scanners_mutex_);
    counted.facts = std::exchange(scans_, {});
  }
  WriteOrder order{.seconds = 1};
  std::string low = known_low_, high = known_high_;
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    if (shard.counts.empty()) continue;
    if (counted.counts.empty()) counted.counts.resize(partition_->size());
    for (size_t i = 0; i < shard.counts.size(); ++i) counted.counts[i].Add(shard.counts[i]);
    shard.counts.clear();
    for (const auto& [hash, entry] : shard.keys.entries()) keys_.Add(hash, entry.key, now_seconds);
    shard.keys = KeySample();
    LearnLoad(shard, &counted.facts);
    shard.load.clear();
    shard.load_rows = 0;
    LearnHeavy(shard);
    shard.heavy.clear();
    order.writes += std::exchange(shard.writes, 0);
    order.above_all += std::exchange(shard.above_all, 0);
    order.below_all += std::exchange(shard.below_all, 0);
    if (!shard.key_high.empty()) {
      high = std::max(high, shard.key_high);
      low = low.empty() ? shard.key_low : std::min(low, shard.key_low);
    }
    shard.key_low.clear();
    shard.key_high.clear();
  }
  // Knowledge of earlier keys counts only for seconds in which there were earlier keys.
  if (order.writes > 0 && !known_high_.empty()) counted.facts.order = order;
  if (!counted.facts.IsEmpty()) counted.facts.keys = static_cast<uint64_t>(keys_.KeyCount());
  counted.facts.Trim();
  known_low_ = std::move(low);
  known_high_ = std::move(high);
  if (!counted.counts.empty() || ticks_ == 0) {
    if (ticks_ < kYoungSeconds || ticks_ % kDivideEverySeconds == 0) Divide(ticks_ < kYoungSeconds);
    ++ticks_;
  }
  if (now_seconds % kForgetEverySeconds == 0) keys_.Forget(now_seconds - KeySample::kForgottenAfterSeconds);
  for (Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    if (shard.partition != partition_) {
      // Accesses that came in meanwhile were counted by the old partition.
      if (!shard.counts.empty()) {
        std::vector<AccessCounts> counts(partition_->size());
        Project(*shard.partition, shard.counts, *partition_, &counts);
        shard.counts = std::move(counts);
      }
      shard.partition = partition_;
    }
    shard.hash_max = keys_.hash_max();
    shard.known_low = known_low_;
    shard.known_high = known_high_;
  }
  return counted;
}

void TableCollector::LearnLoad(const Shard& shard, ColumnFacts* facts) {
  if (shard.load.empty()) return;
  const double weight = static_cast<double>(shard.load_rows) / static_cast<double>(shard.load.size());
  absl::flat_hash_map<std::string_view, HotRow> rows;
  for (const LoadSample& sample : shard.load) {
    HotRow& row = hot_[sample.row_key];
    row.row_key = sample.row_key;
    HotRow& of_second = rows[sample.row_key];
    for (HotRow* one : {&row, &of_second})
      (sample.kind == AccessKind::kRead ? one->reads : one->writes) += weight;
    recent_keys_.push_back(sample.row_key.substr(0, KeySample::kKeyBytesMax));
  }
  recent_ops_ += static_cast<double>(shard.load_rows);
  ColumnFacts second{.ops = shard.load_rows};
  for (auto& [key, row] : rows) {
    row.row_key = key;
    second.rows.push_back(std::move(row));
  }
  second.Trim();
  facts->Add(second);
  while (recent_keys_.size() > kRecentKeysMax) recent_keys_.pop_front();
  if (hot_.size() <= 2 * kHotRowsKept) return;
  std::vector<double> ops;
  for (const auto& [key, row] : hot_) ops.push_back(row.ops());
  std::nth_element(ops.begin(), ops.begin() + kHotRowsKept, ops.end(), std::greater<>());
  const double least = ops[kHotRowsKept];
  absl::erase_if(hot_, [&](const auto& item) { return item.second.ops() <= least; });
}

void TableCollector::LearnHeavy(const Shard& shard) {
  for (const HeavyRow& heavy : shard.heavy) {
    HeavyRow& row = heavy_[heavy.row_key];
    row.row_key = heavy.row_key;
    row.bytes_written += heavy.bytes_written;
    row.bytes_read_max = std::max(row.bytes_read_max, heavy.bytes_read_max);
  }
  if (heavy_.size() <= kHeavyRowsKept) return;
  // Misra and Gries ("Finding repeated elements", 1982): what is taken from all is never added to any, so no
  // row counts more than was written to it.
  while (heavy_.size() > kHeavyRowsKept) {
    uint64_t least = UINT64_MAX;
    for (const auto& [key, row] : heavy_) least = std::min(least, row.bytes_written);
    least = std::max<uint64_t>(least, 1);
    for (auto& [key, row] : heavy_) row.bytes_written -= std::min(row.bytes_written, least);
    absl::erase_if(heavy_, [](const auto& item) { return item.second.bytes_written == 0; });
  }
}

std::vector<HotRow> TableCollector::HotRows(double share_min) const {
  std::vector<HotRow> rows;
  for (const auto& [key, row] : hot_) {
    if (recent_ops_ > 0 && row.ops() >= share_min * recent_ops_) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const HotRow& a, const HotRow& b) { return a.ops() > b.ops(); });
  return rows;
}

std::vector<HeavyRow> TableCollector::HeavyRows() const {
  std::vector<HeavyRow> rows;
  for (const auto& [key, row] : heavy_) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const HeavyRow& a, const HeavyRow& b) {
    return std::max(a.bytes_written, a.bytes_read_max) > std::max(b.bytes_written, b.bytes_read_max);
  });
  return rows;
}

std::vector<std::string> TableCollector::DivideLoad(size_t parts) const {
  std::vector<std::string> keys(recent_keys_.begin(), recent_keys_.end());
  std::sort(keys.begin(), keys.end());
  std::vector<std::string> starts;
  for (size_t i = 1; i < parts; ++i) {
    const std::string& key = keys[i * keys.size() / parts];
    if (key != keys.front() && (starts.empty() || starts.back() < key)) starts.push_back(key);
  }
  return starts;
}

// Starts besides those that follow the keys: rows that are hot, and keys inside of buckets that are.
std::vector<std::string> TableCollector::StartsByLoad(const std::vector<std::string>& sorted_keys) const {
  std::vector<std::string> starts;
  for (const HotRow& row : HotRows(kKeptRowShare)) {
    starts.push_back(row.row_key);
    starts.push_back(Successor(row.row_key));
  }
  std::vector<std::string> load(recent_keys_.begin(), recent_keys_.end());
  std::sort(load.begin(), load.end());
  const size_t step = sorted_keys.size() / kKeyBucketsMax + 1;
  if (step < 2) return starts;  // each key has a bucket
  for (size_t i = 0; i < sorted_keys.size(); i += step) {
    const size_t next = std::min(i + step, sorted_keys.size());
    const auto from = std::lower_bound(load.begin(), load.end(), sorted_keys[i]);
    const auto to =
        next == sorted_keys.size() ? load.end() : std::lower_bound(from, load.end(), sorted_keys[next]);
    if (static_cast<double>(to - from) < kHotBucketShare * static_cast<double>(load.size())) continue;
    starts.insert(starts.end(), sorted_keys.begin() + i, sorted_keys.begin() + next);
  }
  return starts;
}

// Whether the partition of now may stay: its buckets hold about as many keys each, and hot places have their
// own.
bool TableCollector::PartitionFits(const std::vector<std::string>& sorted_keys,
                                   const std::vector<std::string>& wanted) const {
  for (const std::string& start : wanted) {
    const size_t at = partition_->FirstFrom(start);
    if (at == partition_->size() || partition_->start(at) != start) return false;
  }
  const size_t keys_max = 5 * (sorted_keys.size() / kKeyBucketsMax + 1) / 2;
  auto from = sorted_keys.begin();
  for (size_t i = 0; i < partition_->size(); ++i) {
    const auto to = i + 1 == partition_->size()
                        ? sorted_keys.end()
                        : std::lower_bound(from, sorted_keys.end(), partition_->start(i + 1));
    if (static_cast<size_t>(to - from) > keys_max) return false;
    from = to;
  }
  return true;
}

void TableCollector::Divide(bool young) {
  const std::vector<std::string> sorted_keys = keys_.SortedKeys();
  std::vector<std::string> by_load = StartsByLoad(sorted_keys);
  if (by_load.size() > kBucketsMax - kKeyBucketsMax) by_load.resize(kBucketsMax - kKeyBucketsMax);
  if (!young && PartitionFits(sorted_keys, by_load)) return;
  std::set<std::string> starts(by_load.begin(), by_load.end());
  const size_t step = sorted_keys.size() / kKeyBucketsMax + 1;
  for (size_t i = 0; i < sorted_keys.size() && starts.size() < kBucketsMax; i += step)
    starts.insert(sorted_keys[i]);
  starts.insert("");
  if (starts.size() == partition_->size() &&
      std::equal(starts.begin(), starts.end(), partition_->starts().begin())) {
    return;
  }
  Partition divided(std::vector<std::string>(starts.begin(), starts.end()));
  std::vector<uint64_t> keys = CountKeys(divided);
  partition_ = std::make_shared<Partition>(divided.starts(), std::move(keys));
}

std::vector<uint64_t> TableCollector::CountKeys(const Partition& partition) const {
  std::vector<uint64_t> counts(partition.size());
  if (keys_.size() == 0) return counts;
  for (const auto& [hash, entry] : keys_.entries()) ++counts[partition.Find(entry.key)];
  const double each = keys_.KeyCount() / static_cast<double>(keys_.size());
  for (uint64_t& count : counts)
    count = static_cast<uint64_t>(std::llround(static_cast<double>(count) * each));
  return counts;
}

}  // namespace sonde
