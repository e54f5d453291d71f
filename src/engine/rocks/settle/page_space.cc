#include "engine/rocks/settle/page_space.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/directory.h"
#include "rocksdb/table_properties.h"

namespace sonde {
namespace {

// A range is compacted if at least one part in this many of its bytes in the tables is dead.
constexpr uint64_t kDeadShare = 4;
// Less is not worth a table.
constexpr uint64_t kDeadBytesMin = uint64_t{64} << 10;
constexpr uint64_t kRewrittenPerFreed = 8;
// Ranges side by side are compacted together up to this.
constexpr uint64_t kCompactedBytesMax = uint64_t{256} << 20;
// About how many bytes a table needs besides a page and twice its key (in the data and in the index).
constexpr uint64_t kBytesPerPage = 64;
constexpr uint64_t kDirectoryEntriesMin = 100;

// After the keys of all tables.
const std::string& AfterAll() {
  static const std::string* const key = new std::string(8, '\xff');
  return *key;
}

// The first one that ends at the key or later, of a level whose tables do not overlap.
std::vector<rocksdb::SstFileMetaData>::const_iterator EndingFrom(const rocksdb::LevelMetaData& level,
                                                                 const std::string& key) {
  return std::lower_bound(
      level.files.begin(), level.files.end(), key,
      [](const auto& table, const std::string& wanted) { return table.largestkey < wanted; });
}

bool Overlaps(const rocksdb::SstFileMetaData& table, const std::string& start, const std::string& end) {
  return table.largestkey >= start && table.smallestkey < end;
}

bool IsIn(const rocksdb::SstFileMetaData& table, const std::pair<std::string, std::string>& between) {
  return table.smallestkey >= between.first && table.largestkey < between.second;
}

}  // namespace

absl::StatusOr<PageSpace::Progress> PageSpace::Step(bool has_room) {
  absl::StatusOr<Progress> progress = StepOfPass(has_room);
  if (!progress.ok()) {
    under_way_ = false;
    found_.reset();
    ready_.reset();
  }
  return progress;
}

absl::StatusOr<PageSpace::Progress> PageSpace::StepOfPass(bool has_room) {
  if (ready_.has_value()) {
    if (store_->HasSnapshotBefore(ready_since_)) return Progress::kWaitsForReaders;
    const Range range = *std::exchange(ready_, std::nullopt);
    if (has_room && !canceled_) {
      if (absl::Status status = Compact(range); !status.ok()) return status;
    }
    return Progress::kMore;
  }
  if (!under_way_) Begin();
  if (!at_end_) {
    absl::StatusOr<Range> range = Measure();
    if (!range.ok()) return range.status();
    const bool is_dead = range->dead_bytes >= std::max(kDeadBytesMin, range->stored_bytes / kDeadShare);
    if (found_.has_value() && is_dead && found_->end == range->start &&
        found_->stored_bytes + range->stored_bytes <= kCompactedBytesMax) {
      found_->end = range->end;
      found_->stored_bytes += range->stored_bytes;
      found_->dead_bytes += range->dead_bytes;
      return Progress::kMore;
    }
    ready_ = std::move(found_);
    found_.reset();
    if (is_dead) found_ = *std::move(range);
  } else if (found_.has_value()) {
    ready_ = std::move(found_);
    found_.reset();
  } else {
    under_way_ = false;
    bytes_dead_ = dead_bytes_;
    ++passes_;
    if (absl::Status status = has_room ? CompactDirectory() : absl::OkStatus(); !status.ok()) return status;
    return Progress::kDone;
  }
  if (ready_.has_value()) ready_since_ = store_->db()->GetLatestSequenceNumber();
  return Progress::kMore;
}

void PageSpace::Begin() {
  under_way_ = true;
  at_end_ = false;
  store_->db()->GetColumnFamilyMetaData(store_->column_family(CellStore::kPages), &tables_);
  position_.clear();
  freed_.reset();
  directory_entries_ = dead_bytes_ = 0;
}

// Up to where a table of the deepest level ends: those do not overlap.
absl::StatusOr<PageSpace::Range> PageSpace::Measure() {
  Range range{.start = position_, .end = AfterAll()};
  const auto deepest = std::find_if(tables_.levels.rbegin(), tables_.levels.rend(), [](const auto& level) {
    return level.level > 0 && !level.files.empty();
  });
  if (deepest != tables_.levels.rend()) {
    const auto table = EndingFrom(*deepest, position_);
    if (table != deepest->files.end()) range.end = table->largestkey + '\0';
  }
  if (absl::Status status = FreeTables(range); !status.ok()) return status;
  absl::StatusOr<uint64_t> stored_bytes = StoredBytes(range.start, range.end);
  if (!stored_bytes.ok()) return stored_bytes.status();
  range.stored_bytes = *stored_bytes;

  uint64_t live_bytes = 0;
  DirectoryWalk walk(*store_, range.start);
  while (true) {
    absl::StatusOr<DirectoryEntryRef> entry = walk.Next();
    if (!entry.ok()) return entry.status();
    if (*entry == nullptr || (*entry)->key >= range.end) break;
    ++directory_entries_;
    live_bytes += (*entry)->header.page_bytes + 2 * (*entry)->key.size() + kBytesPerPage;
  }
  range.dead_bytes = range.stored_bytes - std::min(range.stored_bytes, live_bytes);
  dead_bytes_ += range.dead_bytes;
  position_ = range.end;
  at_end_ = position_ == AfterAll();
  return range;
}

// Those that end in the range.
absl::Status PageSpace::FreeTables(const Range& range) {
  for (const rocksdb::LevelMetaData& level : tables_.levels) {
    if (level.level == 0) continue;  // these overlap, and go with the next compaction
    for (auto table = EndingFrom(level, range.start);
         table != level.files.end() && table->largestkey < range.end; ++table) {
      if (freed_.has_value() && IsIn(*table, *freed_)) continue;
      auto result = settling_->FreeTables(table->smallestkey, table->largestkey);
      if (!result.ok()) return result.status();
      if (!result->has_value()) continue;
      freed_ = *std::move(result);
      for (const rocksdb::LevelMetaData& other_level : tables_.levels) {
        if (other_level.level == 0) continue;
        for (auto other = EndingFrom(other_level, freed_->first);
             other != other_level.files.end() && other->smallestkey < freed_->second; ++other) {
          if (IsIn(*other, *freed_)) bytes_of_tables_ += other->size;
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> PageSpace::StoredBytes(const std::string& start, const std::string& end) const {
  const rocksdb::Range keys(start, end);
  uint64_t bytes = 0;
  const rocksdb::Status status = store_->db()->GetApproximateSizes(
      rocksdb::SizeApproximationOptions(), store_->column_family(CellStore::kPages), &keys, 1, &bytes);
  if (!status.ok()) return FromRocks(status, "Measuring the tables of pages");
  return bytes;
}

// By a compaction of the range, which goes from level to level: what lies there of the range, and what that
// overlaps on the next one.
uint64_t PageSpace::RewrittenBytes(const Range& range) const {
  rocksdb::ColumnFamilyMetaData tables;
  store_->db()->GetColumnFamilyMetaData(store_->column_family(CellStore::kPages), &tables);
  uint64_t bytes = 0;
  std::string start, end;  // what goes down from the level above
  for (const rocksdb::LevelMetaData& level : tables.levels) {
    if (level.files.empty()) continue;
    std::string next_start, next_end;
    for (const rocksdb::SstFileMetaData& table : level.files) {
      if (!end.empty() && Overlaps(table, start, end)) bytes += table.size;
      if (!Overlaps(table, range.start, range.end)) continue;
      if (next_end.empty() || table.smallestkey < next_start) next_start = table.smallestkey;
      next_end = std::max(next_end, table.largestkey + '\0');
      if (level.level != tables.levels.back().level) bytes += table.size;
    }
    start = std::move(next_start);
    end = std::move(next_end);
  }
  return bytes;
}

bool PageSpace::IsWorthIt(const Range& range) const {
  return RewrittenBytes(range) / kRewrittenPerFreed <= range.dead_bytes;
}

absl::Status PageSpace::Compact(const Range& range) {
  if (!IsWorthIt(range)) return absl::OkStatus();
  // Deletes that are in memory yet; they may come with other pages, which make it more.
  rocksdb::ColumnFamilyHandle* const pages = store_->column_family(CellStore::kPages);
  rocksdb::Status status = store_->db()->Flush(rocksdb::FlushOptions(), pages);
  if (!status.ok()) return FromRocks(status, "Flushing deleted pages");
  if (!IsWorthIt(range)) return absl::OkStatus();
  rocksdb::CompactRangeOptions how;
  how.exclusive_manual_compaction = false;
  how.canceled = &canceled_;
  const rocksdb::Slice start(range.start), end(range.end);
  status = store_->db()->CompactRange(how, pages, &start, &end);
  // With the next pass, when the disk has room; or after the restart.
  if (status.IsCompactionTooLarge() || status.IsManualCompactionPaused()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Giving back the space of deleted pages");
  absl::StatusOr<uint64_t> after = StoredBytes(range.start, range.end);
  if (!after.ok()) return after.status();
  bytes_compacted_ += range.stored_bytes - std::min(range.stored_bytes, *after);
  return absl::OkStatus();
}

// Whole: it is some thousandths of the pages.
absl::Status PageSpace::CompactDirectory() {
  rocksdb::ColumnFamilyHandle* const directory = store_->column_family(CellStore::kDirectory);
  rocksdb::TablePropertiesCollection tables;
  rocksdb::Status status = store_->db()->GetPropertiesOfAllTables(directory, &tables);
  if (!status.ok()) return FromRocks(status, "Measuring the directory of pages");
  uint64_t entries = 0;
  for (const auto& [_, table] : tables) entries += table->num_entries;
  const uint64_t dead_entries = entries - std::min(entries, directory_entries_);
  if (canceled_ || dead_entries < std::max(directory_entries_, kDirectoryEntriesMin)) return absl::OkStatus();
  rocksdb::CompactRangeOptions how;
  how.exclusive_manual_compaction = false;
  how.canceled = &canceled_;
  status = store_->db()->CompactRange(how, directory, nullptr, nullptr);
  if (status.IsCompactionTooLarge() || status.IsManualCompactionPaused()) return absl::OkStatus();
  return FromRocks(status, "Giving back the space of directory entries");
}

SpaceCounts PageSpace::counts() const {
  return {.passes = passes_,
          .bytes_of_tables = bytes_of_tables_,
          .bytes_compacted = bytes_compacted_,
          .bytes_dead = bytes_dead_};
}

}  // namespace sonde
