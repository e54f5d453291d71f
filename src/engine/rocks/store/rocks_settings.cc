#include "engine/rocks/store/rocks_settings.h"

#include <algorithm>

#include "engine/rocks/files/open_files.h"
#include "engine/rocks/store/head_buffer.h"
#include "engine/rocks/store/key.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/write_buffer_manager.h"

namespace sonde {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr double kBloomBitsPerKey = 10;

// Series whose places a head's buffer remembers take a sixteenth of it at most.
constexpr uint64_t kHeadBufferBytesPerSeries = 4 * 1024;

// A head comes to rest before it has as many tables, unless settling is behind: what compactions merge of it
// leaves it soon after.
constexpr int kHeadTablesToCompact = 8;

// One is filled, one is flushed, and one is left until writes stop: with two there is no time to tell anybody
// (pressure_gauge.h).
constexpr int kFewBuffers = 3;

// Bloom filters answer for whole rows.
class RowPrefixTransform final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "sonde.row_prefix.1"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), RowPrefixBytes({key.data(), key.size()})};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return RowPrefixBytes({key.data(), key.size()}) < key.size();
  }
};

class FragmentFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit FragmentFilterFactory(IsDropped is_dropped) : is_dropped_(std::move(is_dropped)) {}
  const char* Name() const override { return "sonde.fragment.filter.1"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return MakeFragmentFilter(is_dropped_);
  }

 private:
  const IsDropped is_dropped_;
};

// Drops the logs of dropped tables.
class LogFilter final : public rocksdb::CompactionFilter {
 public:
  explicit LogFilter(const IsDroppedTable& is_dropped) : is_dropped_(is_dropped) {}
  const char* Name() const override { return "sonde.log.filter.1"; }
  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice&, std::string*,
                    std::string*) const override {
    return is_dropped_(TableOfKey({key.data(), key.size()})) ? Decision::kRemove : Decision::kKeep;
  }

 private:
  const IsDroppedTable& is_dropped_;
};

class LogFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit LogFilterFactory(IsDroppedTable is_dropped) : is_dropped_(std::move(is_dropped)) {}
  const char* Name() const override { return "sonde.log.filter.1"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<LogFilter>(is_dropped_);
  }

 private:
  const IsDroppedTable is_dropped_;
};

rocksdb::Options Basics(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  options.create_if_missing = true;
  // Traces of a crash at the end of a log are cut off before (open_check.h).
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.memtable_protection_bytes_per_key = kProtectionBytes;
  options.block_protection_bytes_per_key = kProtectionBytes;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  options.paranoid_checks = true;
  // Blocks of files that are gone leave the cache; else it fills with them, up to its limit, as heads come
  // and go.  Looked for as long as one in twenty of a file's is expected to be there.
  options.uncache_aggressiveness = 300;
  options.recycle_log_file_num = 0;  // stale records could be taken for new ones
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 5;
  options.max_log_file_size = 4 * kMiB;
  options.max_open_files = OpenTablesMax();
  return options;
}

}  // namespace

rocksdb::Options RecordsSettings(rocksdb::Env* env) {
  rocksdb::Options options = Basics(env);
  options.write_buffer_size = 4 * kMiB;
  options.max_write_buffer_number = 2;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(4 * kMiB);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::Options CellsSettings(rocksdb::Env* env, uint64_t memory_bytes,
                               std::shared_ptr<rocksdb::MergeOperator> merge, IsDropped is_dropped) {
  rocksdb::Options options = Basics(env);
  options.create_missing_column_families = true;
  options.merge_operator = std::move(merge);
  options.compaction_filter_factory = std::make_shared<FragmentFilterFactory>(std::move(is_dropped));
  options.prefix_extractor = std::make_shared<RowPrefixTransform>();

  options.write_buffer_size = std::clamp(memory_bytes / 64, 4 * kMiB, 16 * kMiB);
  options.max_write_buffer_number = 4;
  // The memory of write buffers is taken from the cache.
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(memory_bytes / 2);
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(memory_bytes / 8, cache);
  options.max_background_jobs = 2;
  // Writers that wait for others' commits sleep: a server whose processors are busy has no time to look on.
  options.enable_write_thread_adaptive_yield = false;
  // Counts; no clock is read for it.
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = 64 * kMiB;
  options.max_bytes_for_level_base = 256 * kMiB;
  options.bytes_per_sync = kMiB;
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kZSTD;

  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 * 1024;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::ColumnFamilyOptions HeadSettings(const rocksdb::Options& cells) {
  rocksdb::ColumnFamilyOptions options(cells);
  options.level0_file_num_compaction_trigger = kHeadTablesToCompact;
  options.memtable_factory = MakeHeadBufferFactory(options.write_buffer_size / kHeadBufferBytesPerSeries);
  return options;
}

rocksdb::ColumnFamilyOptions LogSettings(const rocksdb::Options& cells, IsDroppedTable is_dropped) {
  rocksdb::ColumnFamilyOptions options(cells);
  options.merge_operator = nullptr;
  options.compaction_filter_factory = std::make_shared<LogFilterFactory>(std::move(is_dropped));
  options.prefix_extractor = nullptr;
  options.max_write_buffer_number = kFewBuffers;
  return options;
}

rocksdb::ColumnFamilyOptions PagesSettings(const rocksdb::Options& cells) {
  rocksdb::ColumnFamilyOptions options = DirectorySettings(cells);
  options.compression = rocksdb::kNoCompression;  // they are
  options.bottommost_compression = rocksdb::kNoCompression;
  return options;
}

rocksdb::ColumnFamilyOptions DirectorySettings(const rocksdb::Options& cells) {
  rocksdb::ColumnFamilyOptions options(cells);
  options.merge_operator = nullptr;
  options.compaction_filter_factory = nullptr;
  options.prefix_extractor = nullptr;
  options.max_write_buffer_number = kFewBuffers;
  return options;
}

rocksdb::WriteOptions SyncedWrite() {
  rocksdb::WriteOptions write;
  write.sync = true;
  return write;
}

}  // namespace sonde
