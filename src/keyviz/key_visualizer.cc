#include "keyviz/key_visualizer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/format.h"
#include "base/varint.h"

namespace sonde {
namespace {

// Processor time is kept as a table with one bucket, under an id that no table has.
constexpr TableId kCpuTable = 0;
constexpr int64_t kQuarterSeconds = kTiers[2].seconds;
// Less than this of a minute says little of it.
constexpr int64_t kMeasuredSecondsMin = 10;
constexpr int64_t kSaveEverySeconds = 60;
constexpr int64_t kExpireEverySeconds = 60;
// A row into which so much was written is measured: again while it grows by a quarter, and once more when a
// growth of a hundredth has come to rest.
constexpr uint64_t kMeasureFromBytes = 64'000'000;
constexpr uint64_t kGrowthPartMin = 4;
constexpr uint64_t kRestedGrowthPartMin = 100;
constexpr size_t kMeasuredPerTickMax = 1;
constexpr size_t kLargeRowsMax = 64;
constexpr size_t kFindingRows = 400;
constexpr size_t kFindingColumns = 120;
// The length of a window's end in which patterns that have just begun are looked for.
constexpr int64_t kRecentSeconds = 120;
// Tablets by load: when about so many rows were asked for in the last minute, and in each of so many minutes,
// this one with it.  A load that comes for some seconds, even over the end of a minute, divides nothing.
constexpr double kOpsPerTablet = 50'000;
constexpr int kBusyMinutesMin = 3;
constexpr size_t kTabletsMax = 16;
constexpr std::string_view kLearnedFile = "learned";
constexpr std::string_view kLearnedMagic = "sonde-keyviz-learned-1\n";
constexpr uint64_t kLearnedTable = 1;

int64_t ProcessCpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

size_t ShardOfThisThread() {
  static std::atomic<size_t> next = 0;
  thread_local const size_t shard = next.fetch_add(1, std::memory_order_relaxed);
  return shard;
}

// A row's bytes as they were known when it was measured, and a tick ago.
struct MeasuredRow {
  uint64_t bytes_then = 0;
  uint64_t bytes_before = 0;

  bool IsDue(uint64_t bytes) {
    const bool rests = bytes <= bytes_before;
    bytes_before = bytes;
    if (bytes <= bytes_then) return false;
    const uint64_t growth = bytes - bytes_then;
    return growth >= bytes_then / (rests ? kRestedGrowthPartMin : kGrowthPartMin);
  }
};

// How long a table has been busy.
class BusyMinutes {
 public:
  // Rows that were read and written in `second`; seconds ascend.
  void Add(int64_t second, uint64_t ops) {
    constexpr int64_t kSecondsPerMinute = 60;
    const int64_t minute = second / kSecondsPerMinute;
    if (minute != minute_) {
      count_before_ = minute == minute_ + 1 ? count() : 0;
      minute_ = minute;
      ops_ = 0;
    }
    ops_ += static_cast<double>(ops);
  }
  // Minutes in a row, this one with them.
  int count() const { return IsBusy() ? count_before_ + 1 : 0; }

 private:
  bool IsBusy() const { return ops_ >= kOpsPerTablet; }

  int64_t minute_ = 0;
  double ops_ = 0;  // in minute_
  int count_before_ = 0;
};

}  // namespace

struct KeyVisualizer::Watched {
  explicit Watched(uint64_t seed) : collector(seed) {}

  TableCollector collector;
  std::atomic<int64_t> last_access_seconds = 0;
  std::atomic<uint64_t> cells_read = 0, cells_written = 0;

  // Held by whoever looks at what the collector has learned, and while it learns.
  absl::Mutex mutex;
  AccessCounts sums ABSL_GUARDED_BY(mutex);
  BusyMinutes busy ABSL_GUARDED_BY(mutex);
  std::vector<std::string> tablet_starts ABSL_GUARDED_BY(mutex);
  std::map<std::string, MeasuredRow> measured ABSL_GUARDED_BY(mutex);
  std::map<std::string, LargeRow> large_rows ABSL_GUARDED_BY(mutex);  // by key
};

absl::StatusOr<std::unique_ptr<KeyVisualizer>> KeyVisualizer::Open(Options options, const Clock* clock) {
  absl::StatusOr<std::unique_ptr<AccessHistory>> history = AccessHistory::Open(options.directory);
  if (!history.ok()) return history.status();
  std::unique_ptr<KeyVisualizer> visualizer(
      new KeyVisualizer(std::move(options), clock, *std::move(history)));
  visualizer->Load();
  return visualizer;
}

KeyVisualizer::KeyVisualizer(Options options, const Clock* clock, std::unique_ptr<AccessHistory> history)
    : options_(std::move(options)), clock_(clock), history_(std::move(history)) {}

KeyVisualizer::~KeyVisualizer() {
  {
    const absl::MutexLock lock(&ending_mutex_);
    ending_ = true;
  }
  ending_changed_.SignalAll();
  if (ticker_.joinable()) ticker_.join();
  Tick();
  const absl::MutexLock lock(&tick_mutex_);
  Save();
}

void KeyVisualizer::Start() {
  ticker_ = std::thread([this] {
    const auto ends = [this] {
      const absl::MutexLock lock(&ending_mutex_);
      return ending_changed_.WaitFor(&ending_mutex_, absl::Seconds(1), absl::Condition(&ending_));
    };
    while (!ends()) Tick();
  });
}

std::shared_ptr<KeyVisualizer::Watched> KeyVisualizer::Find(TableId table) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto found = tables_.find(table);
  return found == tables_.end() ? nullptr : found->second;
}

std::shared_ptr<KeyVisualizer::Watched> KeyVisualizer::FindOrAdd(TableId table) {
  if (std::shared_ptr<Watched> found = Find(table); found != nullptr) return found;
  const absl::WriterMutexLock lock(&mutex_);
  if (tables_.size() >= options_.tables_max && !tables_.contains(table)) {
    const auto still = std::min_element(tables_.begin(), tables_.end(), [](const auto& a, const auto& b) {
      return a.second->last_access_seconds < b.second->last_access_seconds;
    });
    constexpr int64_t kStillSeconds = 600;
    if (still->second->last_access_seconds > NowSeconds() - kStillSeconds) return nullptr;
    tables_.erase(still);
  }
  std::shared_ptr<Watched>& watched = tables_[table];
  if (watched == nullptr) watched = std::make_shared<Watched>(options_.seed + table);
  return watched;
}

void KeyVisualizer::OnAccess(TableId table, const AccessPart& part) {
  const std::shared_ptr<Watched> watched = FindOrAdd(table);
  if (watched == nullptr) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  (part.kind == AccessKind::kRead ? watched->cells_read : watched->cells_written)
      .fetch_add(part.cells, std::memory_order_relaxed);
  watched->collector.Record(ShardOfThisThread(), part);
}

void KeyVisualizer::OnFullScan(TableId table, const FullScan& scan) {
  const std::shared_ptr<Watched> watched = FindOrAdd(table);
  if (watched != nullptr) watched->collector.RecordScan(scan);
}

std::vector<std::string> KeyVisualizer::TabletStarts(TableId table) {
  const std::shared_ptr<Watched> watched = Find(table);
  if (watched == nullptr) return {};
  const absl::MutexLock lock(&watched->mutex);
  return watched->tablet_starts;
}

void KeyVisualizer::Tick() {
  const absl::MutexLock tick_lock(&tick_mutex_);
  // The counts that are drained now are of the second before.  A clock that stands still or goes back must
  // not undo the order.
  const int64_t second = std::max(NowSeconds() - 1, last_second_);
  last_second_ = second;
  std::vector<std::pair<TableId, std::shared_ptr<Watched>>> tables;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    tables.assign(tables_.begin(), tables_.end());
  }
  AccessCounts all;
  for (const auto& [table, watched] : tables) {
    {
      const absl::MutexLock lock(&watched->mutex);
      TableCollector::Counted counted = watched->collector.Drain(second);
      watched->busy.Add(second, counted.facts.ops);
      // A scan may end in a second in which nothing else happens.
      if (counted.counts.empty() && !counted.facts.IsEmpty())
        counted.counts.resize(counted.partition->size());
      if (!counted.counts.empty()) {
        watched->last_access_seconds = second;
        AccessCounts sum;
        for (const AccessCounts& bucket : counted.counts) sum.Add(bucket);
        watched->sums.Add(sum);
        all.Add(sum);
        history_->Append(
            {table, second, counted.partition, std::move(counted.counts), std::move(counted.facts)});
      }
      const auto parts = static_cast<size_t>(watched->collector.recent_ops() / kOpsPerTablet) + 1;
      // Tablets that would move each second would be of no use to anybody.
      if (parts < 2) {
        watched->tablet_starts.clear();
      } else if (watched->tablet_starts.empty() ? watched->busy.count() >= kBusyMinutesMin
                                                : second % kSaveEverySeconds == 0) {
        watched->tablet_starts = watched->collector.DivideLoad(std::min(parts, kTabletsMax));
      }
    }
    MeasureRows(table, watched.get(), second);
  }
  if (!all.IsZero()) {
    const absl::MutexLock lock(&totals_mutex_);
    totals_.push_back({second, all});
    while (totals_.front().second <= second - kTotalsSeconds) totals_.pop_front();
  }
  RecordCpu(second);
  if (second % kExpireEverySeconds == 0) history_->Expire(second);
  if (second - last_save_ >= kSaveEverySeconds) {
    if (last_save_ != 0) Save();
    last_save_ = second;
  }
}

void KeyVisualizer::RecordCpu(int64_t now_seconds) {
  const int64_t cpu = options_.cpu_micros ? options_.cpu_micros() : ProcessCpuMicros();
  if (cpu_before_ >= 0 && cpu > cpu_before_) {
    static const auto one = std::make_shared<const Partition>(std::vector<std::string>{""});
    AccessCounts counts;
    counts.requests = 1;
    counts.latency_micros = static_cast<uint64_t>(cpu - cpu_before_);
    history_->Append({kCpuTable, now_seconds, one, {counts}, {}});
  }
  cpu_before_ = cpu;
}

void KeyVisualizer::MeasureRows(TableId table, Watched* watched, int64_t now_seconds) {
  if (!options_.measure_row) return;
  std::vector<HeavyRow> rows;
  {
    const absl::MutexLock lock(&watched->mutex);
    for (HeavyRow& row : watched->collector.HeavyRows()) {
      const uint64_t bytes = std::max(row.bytes_written, row.bytes_read_max);
      if (bytes < kMeasureFromBytes || rows.size() >= kMeasuredPerTickMax) break;
      MeasuredRow& measured = watched->measured[row.row_key];
      if (!measured.IsDue(bytes)) continue;
      measured.bytes_then = bytes;
      rows.push_back(std::move(row));
    }
    if (watched->measured.size() > 4 * kLargeRowsMax) watched->measured.clear();
  }
  for (const HeavyRow& row : rows) {
    const absl::StatusOr<uint64_t> bytes = options_.measure_row(table, row.row_key, kUnreadableRowBytes + 1);
    const absl::MutexLock lock(&watched->mutex);
    if (!bytes.ok()) {
      if (absl::IsUnavailable(bytes.status())) watched->measured.erase(row.row_key);  // again next time
    } else if (*bytes < kLargeRowBytes) {
      watched->large_rows.erase(row.row_key);
    } else if (watched->large_rows.size() < kLargeRowsMax || watched->large_rows.contains(row.row_key)) {
      const auto [large, is_new] = watched->large_rows.try_emplace(row.row_key);
      large->second.row_key = row.row_key;
      large->second.bytes = *bytes;
      if (is_new) large->second.since_seconds = now_seconds;
    }
  }
}

absl::StatusOr<HeatMap> KeyVisualizer::Map(const HeatMapRequest& request) {
  PartitionRef axis = std::make_shared<Partition>(std::vector<std::string>{""});
  KeySample keys;
  if (const std::shared_ptr<Watched> watched = Find(request.table); watched != nullptr) {
    const absl::MutexLock lock(&watched->mutex);
    axis = watched->collector.partition();
    keys = watched->collector.keys();
  }
  const absl::MutexLock one_at_a_time(&map_mutex_);
  return BuildHeatMap(*history_, request, NowSeconds(), *axis, keys);
}

absl::StatusOr<std::vector<Finding>> KeyVisualizer::Findings(TableId table, const std::string& table_id,
                                                             int64_t start_seconds, int64_t end_seconds,
                                                             std::optional<DeclaredSeries> declared) {
  absl::StatusOr<HeatMap> map = Map({.table = table,
                                     .start_seconds = start_seconds,
                                     .end_seconds = end_seconds,
                                     .columns_max = kFindingColumns,
                                     .rows_max = kFindingRows});
  if (!map.ok()) return map.status();
  TableFacts facts{.table = table_id, .declared = std::move(declared)};
  const size_t tier = TierFrom(start_seconds, NowSeconds());
  const int64_t step = kTiers[tier].seconds;
  const int64_t recent_seconds = std::max(kRecentSeconds, step);
  const bool has_recent = end_seconds - start_seconds > recent_seconds;
  {
    const absl::MutexLock one_at_a_time(&map_mutex_);
    const absl::Status status =
        history_->ReadFacts(tier, table, start_seconds - start_seconds % step, end_seconds,
                            [&](int64_t at_seconds, const ColumnFacts& column) {
                              facts.window.Add(column);
                              if (has_recent && at_seconds >= end_seconds - recent_seconds)
                                facts.recent.Add(column);
                            });
    if (!status.ok()) return status;
  }
  facts.recent_seconds = recent_seconds;
  facts.window.Trim();
  facts.recent.Trim();
  for (LargeRow& row : LargeRows(table)) {
    if (row.since_seconds < end_seconds) facts.large_rows.push_back(std::move(row));
  }
  return FindPatterns(*map, facts);
}

absl::StatusOr<std::set<TableId>> KeyVisualizer::ListTables(int64_t start_seconds,
                                                            int64_t end_seconds) const {
  const size_t tier = TierFrom(start_seconds, NowSeconds());
  absl::StatusOr<std::set<TableId>> tables =
      history_->ListTables(tier, start_seconds - start_seconds % kTiers[tier].seconds, end_seconds);
  if (tables.ok()) tables->erase(kCpuTable);
  return tables;
}

std::vector<LargeRow> KeyVisualizer::LargeRows(TableId table) {
  std::vector<LargeRow> rows;
  const std::shared_ptr<Watched> watched = Find(table);
  if (watched == nullptr) return rows;
  const absl::MutexLock lock(&watched->mutex);
  for (const auto& [key, row] : watched->large_rows) rows.push_back(row);
  return rows;
}

double KeyVisualizer::KeyCount(TableId table) {
  const std::shared_ptr<Watched> watched = Find(table);
  if (watched == nullptr) return 0;
  const absl::MutexLock lock(&watched->mutex);
  return watched->collector.keys().KeyCount();
}

absl::StatusOr<std::vector<HotTablet>> KeyVisualizer::HotTablets(TableId table,
                                                                 const std::vector<std::string>& starts,
                                                                 int64_t start_seconds, int64_t end_seconds,
                                                                 double cpu_percent_min) {
  // By the minute where that is kept, else by the quarter of an hour.  A column that begins before counts for
  // all that is in it.
  const size_t tier = start_seconds >= NowSeconds() - kTiers[1].kept_seconds ? 1 : 2;
  const int64_t step = kTiers[tier].seconds;
  const int64_t from_seconds = start_seconds - start_seconds % step;
  std::map<int64_t, double> cpu_micros, ops_of_all;  // by the start of the column
  absl::Status status = history_->Read(tier, kCpuTable, from_seconds, end_seconds, [&](const Column& column) {
    cpu_micros[column.start_seconds] += static_cast<double>(column.counts[0].latency_micros);
  });
  if (!status.ok()) return status;
  std::vector<TableId> tables;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    for (const auto& [id, watched] : tables_) tables.push_back(id);
  }
  const Partition tablets(starts);
  std::map<int64_t, std::vector<AccessCounts>> counts;
  for (const TableId one : tables) {
    status = history_->Read(tier, one, from_seconds, end_seconds, [&](const Column& column) {
      for (const AccessCounts& bucket : column.counts) {
        ops_of_all[column.start_seconds] += static_cast<double>(bucket.ops());
      }
      if (one != table) return;
      std::vector<AccessCounts>& sums = counts[column.start_seconds];
      sums.resize(tablets.size());
      Project(*column.partition, column.counts, tablets, &sums);
    });
    if (!status.ok()) return status;
  }
  // By tablet and quarter: the hottest column.
  std::map<std::pair<int64_t, size_t>, HotTablet> hottest;
  for (const auto& [start, sums] : counts) {
    const int64_t end = std::min({start + step, end_seconds, NowSeconds()});
    if (end - start < kMeasuredSecondsMin || ops_of_all[start] == 0) continue;
    for (size_t i = 0; i < sums.size(); ++i) {
      const double share = static_cast<double>(sums[i].ops()) / ops_of_all[start];
      const double percent = 100 * share * cpu_micros[start] / (1e6 * static_cast<double>(end - start));
      HotTablet& best = hottest[{start - start % kQuarterSeconds, i}];
      if (percent < cpu_percent_min || percent <= best.cpu_percent) continue;
      best = {start, end, tablets.start(i), tablets.end(i), std::min(percent, 100.0)};
    }
  }
  std::vector<HotTablet> hot;
  for (auto& [where, tablet] : hottest) {
    if (tablet.cpu_percent > 0) hot.push_back(std::move(tablet));
  }
  std::stable_sort(hot.begin(), hot.end(),
                   [](const HotTablet& a, const HotTablet& b) { return a.cpu_percent > b.cpu_percent; });
  return hot;
}

std::vector<KeyVisualizer::SecondOfAll> KeyVisualizer::RecentTotals() const {
  const absl::MutexLock lock(&totals_mutex_);
  return {totals_.begin(), totals_.end()};
}

std::vector<KeyVisualizer::TableSums> KeyVisualizer::Sums() const {
  std::vector<TableSums> all;
  const absl::ReaderMutexLock lock(&mutex_);
  for (const auto& [table, watched] : tables_) {
    const absl::MutexLock watched_lock(&watched->mutex);
    all.push_back({table, watched->sums, watched->cells_read, watched->cells_written});
  }
  return all;
}

void KeyVisualizer::Save() {
  std::string out(kLearnedMagic);
  std::vector<std::pair<TableId, std::shared_ptr<Watched>>> tables;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    tables.assign(tables_.begin(), tables_.end());
  }
  for (const auto& [table, watched] : tables) {
    const absl::MutexLock lock(&watched->mutex);
    std::string payload;
    PutVarint(&payload, kLearnedTable);
    PutVarint(&payload, table);
    PutPartition(&payload, *watched->collector.partition());
    PutVarint(&payload, watched->collector.keys().size());
    for (const auto& [hash, entry] : watched->collector.keys().entries()) {
      PutFixed64(&payload, hash);
      PutVarint(&payload, static_cast<uint64_t>(entry.seen_seconds));
      PutBytes(&payload, entry.key);
    }
    PutVarint(&payload, watched->large_rows.size());
    for (const auto& [key, row] : watched->large_rows) {
      PutBytes(&payload, key);
      PutVarint(&payload, row.bytes);
    }
    PutBytes(&payload, watched->collector.known_low());
    PutBytes(&payload, watched->collector.known_high());
    for (const auto& [key, row] : watched->large_rows)
      PutVarint(&payload, static_cast<uint64_t>(row.since_seconds));
    PutRecord(&out, payload);
  }
  const std::filesystem::path path = options_.directory / kLearnedFile;
  const std::filesystem::path next = path.string() + ".new";
  const int file = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool written = file >= 0 && write(file, out.data(), out.size()) == static_cast<ssize_t>(out.size());
  if (file >= 0) close(file);
  if (!written || std::rename(next.c_str(), path.c_str()) != 0)
    spdlog::warn("keyviz: {} cannot be written", path.string());
}

void KeyVisualizer::Load() {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(options_.directory / kLearnedFile);
  if (!bytes.ok() || !bytes->starts_with(kLearnedMagic)) return;
  std::string_view rest = std::string_view(*bytes).substr(kLearnedMagic.size());
  std::string_view record;
  while (GetRecord(&rest, &record)) {
    uint64_t kind = 0, table = 0, count = 0;
    if (!GetVarint(&record, &kind) || kind != kLearnedTable || !GetVarint(&record, &table)) continue;
    PartitionRef partition = GetPartition(&record);
    if (partition == nullptr || !GetVarint(&record, &count)) continue;
    KeySample keys;
    bool whole = true;
    for (uint64_t i = 0; i < count && whole; ++i) {
      uint64_t hash = 0, seen = 0;
      std::string_view key;
      whole = GetFixed64(&record, &hash) && GetVarint(&record, &seen) && GetBytes(&record, &key);
      if (whole) keys.Add(hash, key, static_cast<int64_t>(seen));
    }
    if (!whole || !GetVarint(&record, &count)) continue;
    const std::shared_ptr<Watched> watched = FindOrAdd(static_cast<TableId>(table));
    if (watched == nullptr) break;
    std::vector<LargeRow> large_rows;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view key;
      uint64_t size = 0;
      if (!GetBytes(&record, &key) || !GetVarint(&record, &size)) break;
      large_rows.push_back({std::string(key), size, 0});
    }
    // An earlier version ends here.
    std::string_view known_low, known_high;
    if (!GetBytes(&record, &known_low) || !GetBytes(&record, &known_high)) known_low = known_high = {};
    const absl::MutexLock lock(&watched->mutex);
    for (LargeRow& row : large_rows) {
      uint64_t since = 0;
      if (GetVarint(&record, &since)) row.since_seconds = static_cast<int64_t>(since);
      watched->large_rows.emplace(row.row_key, row);
    }
    watched->collector.Restore(std::move(partition), std::move(keys), std::string(known_low),
                               std::string(known_high));
  }
}

}  // namespace sonde
