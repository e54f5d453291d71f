#include "engine/rocks/engine_figures.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rocksdb/statistics.h"
#include "rocksdb/write_buffer_manager.h"

namespace sonde {
namespace {

using Properties = rocksdb::DB::Properties;

// The column families' names in labels, in their order.
constexpr std::array<const char*, CellStore::kColumnFamilies> kKinds = {"first_head", "second_head", "pages",
                                                                        "directory", "log"};

// A property of each column family, by the name of what it keeps.
Figure ByKind(const CellStore& store, const std::string& property, Figure figure) {
  for (size_t i = 0; i < CellStore::kColumnFamilies; ++i) {
    uint64_t value = 0;
    rocksdb::ColumnFamilyHandle* const handle = store.column_family(static_cast<CellStore::ColumnFamily>(i));
    if (!store.db()->GetIntProperty(handle, property, &value)) continue;
    figure.Add(static_cast<double>(value), {{"kind", kKinds[i]}});
  }
  return figure;
}

// Likewise one that is a text: the number of files on level 0.
Figure FilesOnLevel0(const CellStore& store) {
  Figure figure = Figure::Gauge("sonde_rocksdb_level0_files",
                                "Files that were flushed and wait to be compacted; many hold writes up.");
  for (size_t i = 0; i < CellStore::kColumnFamilies; ++i) {
    rocksdb::ColumnFamilyHandle* const handle = store.column_family(static_cast<CellStore::ColumnFamily>(i));
    std::string text;
    if (!store.db()->GetProperty(handle, Properties::kNumFilesAtLevelPrefix + "0", &text)) continue;
    figure.Add(std::stod(text), {{"kind", kKinds[i]}});
  }
  return figure;
}

Figure LiveFiles(const CellStore& store) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db()->GetLiveFilesMetaData(&files);
  Figure figure = Figure::Gauge("sonde_rocksdb_files", "Files that hold data.");
  for (size_t i = 0; i < CellStore::kColumnFamilies; ++i) {
    const auto count = std::count_if(files.begin(), files.end(), [&](const rocksdb::LiveFileMetaData& file) {
      return file.column_family_name == CellStore::ColumnFamilyNames()[i];
    });
    figure.Add(static_cast<double>(count), {{"kind", kKinds[i]}});
  }
  return figure;
}

std::optional<uint64_t> OfDatabase(const CellStore& store, const std::string& property) {
  uint64_t value = 0;
  if (!store.db()->GetIntProperty(property, &value)) return std::nullopt;
  return value;
}

// The write buffers' part of the block cache is counted as theirs.
void AddMemory(const CellStore& store, std::vector<Figure>* figures) {
  Figure used = Figure::Gauge("sonde_memory_used_bytes", "Memory that each user of the budget takes.");
  Figure limit = Figure::Gauge("sonde_memory_limit_bytes",
                               "Memory that each user of the budget may take; blocks and write buffers "
                               "share what blocks may take.");
  const rocksdb::DBOptions options = store.db()->GetDBOptions();
  const uint64_t buffers =
      options.write_buffer_manager == nullptr ? 0 : options.write_buffer_manager->memory_usage();
  const auto cached = OfDatabase(store, Properties::kBlockCacheUsage);
  const auto capacity = OfDatabase(store, Properties::kBlockCacheCapacity);
  if (cached.has_value() && capacity.has_value()) {
    used.Add(static_cast<double>(*cached - std::min(*cached, buffers)), {{"user", "blocks"}});
    limit.Add(static_cast<double>(*capacity), {{"user", "blocks"}});
  }
  if (options.write_buffer_manager != nullptr) {
    used.Add(static_cast<double>(buffers), {{"user", "write_buffers"}});
    limit.Add(static_cast<double>(options.write_buffer_manager->buffer_size()), {{"user", "write_buffers"}});
  }
  used.Add(static_cast<double>(store.page_cache()->Bytes()), {{"user", "opened_pages"}});
  limit.Add(static_cast<double>(store.page_cache()->bytes_max()), {{"user", "opened_pages"}});
  figures->push_back(std::move(used));
  figures->push_back(std::move(limit));
}

void AddGauges(const CellStore& store, std::vector<Figure>* figures) {
  figures->push_back(ByKind(store, Properties::kSizeAllMemTables,
                            Figure::Gauge("sonde_rocksdb_write_buffer_bytes",
                                          "Write buffers, with those that a reader still holds.")));
  figures->push_back(ByKind(store, Properties::kLiveSstFilesSize,
                            Figure::Gauge("sonde_rocksdb_file_bytes", "Bytes of files that hold data.")));
  figures->push_back(LiveFiles(store));
  figures->push_back(FilesOnLevel0(store));
  figures->push_back(
      ByKind(store, Properties::kEstimatePendingCompactionBytes,
             Figure::Gauge("sonde_rocksdb_pending_compaction_bytes",
                           "Bytes that compactions have yet to rewrite; many hold writes up.")));
  struct Gauge {
    const char* name;
    const char* help;
    const std::string* property;
  };
  const std::array<Gauge, 6> gauges = {{
      {"sonde_rocksdb_block_cache_pinned_bytes", "Blocks that readers hold just now.",
       &Properties::kBlockCachePinnedUsage},
      {"sonde_rocksdb_flushes_running", "Flushes under way.", &Properties::kNumRunningFlushes},
      {"sonde_rocksdb_compactions_running", "Compactions under way.", &Properties::kNumRunningCompactions},
      {"sonde_rocksdb_write_stopped",
       "Whether writes wait until flushes or compactions have caught up: 0, 1.",
       &Properties::kIsWriteStopped},
      {"sonde_rocksdb_delayed_write_bytes_per_second",
       "Bytes a second to which writes are slowed down; 0: they are not.",
       &Properties::kActualDelayedWriteRate},
      {"sonde_rocksdb_snapshots", "Snapshots that readers hold: what they see is not compacted away.",
       &Properties::kNumSnapshots},
  }};
  for (const Gauge& gauge : gauges) {
    const std::optional<uint64_t> value = OfDatabase(store, *gauge.property);
    if (value.has_value()) {
      figures->push_back(Figure::Gauge(gauge.name, gauge.help).Add(static_cast<double>(*value)));
    }
  }
}

void AddCounters(const CellStore& store, std::vector<Figure>* figures) {
  const std::shared_ptr<rocksdb::Statistics> statistics = store.db()->GetDBOptions().statistics;
  if (statistics == nullptr) return;
  struct Counter {
    const char* name;
    const char* help;
    rocksdb::Tickers ticker;
    double scale = 1;
  };
  constexpr std::array<Counter, 11> counters = {{
      {"sonde_rocksdb_stall_seconds_total", "Time for which writes were held up.", rocksdb::STALL_MICROS,
       1e-6},
      {"sonde_rocksdb_log_bytes_total", "Bytes written to the log.", rocksdb::WAL_FILE_BYTES},
      {"sonde_rocksdb_log_syncs_total", "How often the log was synced.", rocksdb::WAL_FILE_SYNCED},
      {"sonde_rocksdb_flush_written_bytes_total", "Bytes that flushes wrote.", rocksdb::FLUSH_WRITE_BYTES},
      {"sonde_rocksdb_compaction_read_bytes_total", "Bytes that compactions read.",
       rocksdb::COMPACT_READ_BYTES},
      {"sonde_rocksdb_compaction_written_bytes_total", "Bytes that compactions wrote.",
       rocksdb::COMPACT_WRITE_BYTES},
      {"sonde_rocksdb_block_cache_hits_total", "Blocks that were found in the cache.",
       rocksdb::BLOCK_CACHE_HIT},
      {"sonde_rocksdb_block_cache_misses_total", "Blocks that were not found in the cache.",
       rocksdb::BLOCK_CACHE_MISS},
      {"sonde_rocksdb_block_cache_read_bytes_total", "Bytes of blocks that were found.",
       rocksdb::BLOCK_CACHE_BYTES_READ},
      {"sonde_rocksdb_block_cache_added_bytes_total", "Bytes of blocks that were put into it.",
       rocksdb::BLOCK_CACHE_BYTES_WRITE},
      {"sonde_rocksdb_written_bytes_total", "Bytes of keys and values that were committed.",
       rocksdb::BYTES_WRITTEN},
  }};
  for (const Counter& counter : counters) {
    const auto count = static_cast<double>(statistics->getTickerCount(counter.ticker));
    figures->push_back(Figure::Counter(counter.name, counter.help).Add(count * counter.scale));
  }
}

}  // namespace

std::vector<Figure> FiguresOfDatabase(const CellStore& store) {
  std::vector<Figure> figures;
  AddMemory(store, &figures);
  AddGauges(store, &figures);
  AddCounters(store, &figures);
  return figures;
}

std::vector<Figure> FiguresOfSettling(const CellStore& store, const Settling& settling,
                                      const SettlingSchedule& schedule) {
  const SettlingCounts counts = settling.counts();
  const PageTotals totals = settling.page_totals();
  const HeadLoad open = store.OpenHeadLoad();
  const SpaceCounts space = schedule.space_counts();
  const uint64_t visited = schedule.visited_pages();
  // Until a visit has ended, their number is RocksDB's estimate.
  uint64_t pages = static_cast<uint64_t>(std::max<int64_t>(totals.pages, 0));
  if (schedule.last_visit_seconds() == 0) {
    store.db()->GetIntProperty(store.column_family(CellStore::kDirectory), Properties::kEstimateNumKeys,
                               &pages);
  }
  const auto number = [](auto value) { return static_cast<double>(value); };
  uint64_t resting_bytes = 0;
  {
    rocksdb::ColumnFamilyHandle* const resting = store.resting_head();
    for (const std::string& property : {Properties::kLiveSstFilesSize, Properties::kSizeAllMemTables}) {
      uint64_t bytes = 0;
      if (store.db()->GetIntProperty(resting, property, &bytes)) resting_bytes += bytes;
    }
  }
  return {
      Figure::Counter("sonde_settling_steps_total", "Steps of settling that were committed.")
          .Add(number(counts.steps)),
      Figure::Counter("sonde_settling_cells_total",
                      "Cells that went into pages: that were written since, or of pages made again.")
          .Add(number(counts.cells_in), {{"from", "head"}})
          .Add(number(counts.cells_old), {{"from", "pages"}}),
      Figure::Counter("sonde_settling_pages_total", "Pages that were made.").Add(number(counts.pages)),
      Figure::Counter("sonde_settling_page_bytes_total", "Bytes of pages that settling made.")
          .Add(number(counts.page_bytes)),
      Figure::Gauge(
          "sonde_settling_waiting_bytes",
          "Bytes that have not settled: edits in the open head, files and write buffers of the resting one.")
          .Add(number(open.bytes), {{"head", "open"}})
          .Add(number(resting_bytes), {{"head", "resting"}}),
      Figure::Gauge("sonde_settling_waiting_cells", "Cells in the open head.").Add(number(open.cells)),
      Figure::Gauge("sonde_pages", "Pages, about.").Add(number(totals.pages)),
      Figure::Gauge("sonde_page_cells", "Cells in pages, about.").Add(number(totals.cells)),
      Figure::Gauge("sonde_page_bytes", "Bytes of pages, about.").Add(number(totals.bytes)),
      Figure::Counter("sonde_gc_cells_dropped_total",
                      "Cells that garbage collection dropped: left out of a page that was made again, or "
                      "gone with a page that nobody had to read.")
          .Add(number(counts.cells_forgotten), {{"how", "rewritten"}})
          .Add(number(counts.cells_expired), {{"how", "unread"}}),
      Figure::Counter("sonde_gc_bytes_dropped_total",
                      "Bytes that garbage collection dropped: qualifiers and values, or whole pages as they "
                      "were stored. Their space on the disk is given back later "
                      "(sonde_space_freed_bytes_total).")
          .Add(number(counts.bytes_forgotten), {{"how", "rewritten"}})
          .Add(number(counts.bytes_expired), {{"how", "unread"}}),
      Figure::Counter("sonde_gc_pages_dropped_total", "Pages that were deleted unread.")
          .Add(number(counts.pages_expired)),
      Figure::Gauge(
          "sonde_gc_last_visit_seconds",
          "When all pages had last been looked over for what may be dropped, since 1970; 0: not yet.")
          .Add(number(schedule.last_visit_seconds())),
      Figure::Gauge("sonde_gc_visit_pages",
                    "Pages of the visit that is under way, or was last; those that wait, about.")
          .Add(number(visited), {{"state", "done"}})
          .Add(number(pages - std::min(pages, visited)), {{"state", "waiting"}}),
      Figure::Counter("sonde_space_freed_bytes_total",
                      "Disk space of deleted pages that was given back: with files that held nothing else, "
                      "or by compacting.")
          .Add(number(space.bytes_of_tables), {{"how", "files"}})
          .Add(number(space.bytes_compacted), {{"how", "compacted"}}),
      Figure::Gauge("sonde_space_dead_bytes",
                    "Disk space of deleted pages when it was last looked for, about.")
          .Add(number(space.bytes_dead)),
      Figure::Counter("sonde_space_passes_total", "How often all pages were looked over for that.")
          .Add(number(space.passes)),
  };
}

std::vector<Figure> FiguresOfScrubbing(const ScrubProgress& progress) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  return {
      Figure::Counter("sonde_scrub_passes_total", "Passes over all files that ended.")
          .Add(number(progress.passes_count)),
      Figure::Gauge("sonde_scrub_files", "Files of the pass that is under way, or was last.")
          .Add(number(progress.tables_done), {{"state", "done"}})
          .Add(number(progress.tables_count - std::min(progress.tables_count, progress.tables_done)),
               {{"state", "waiting"}}),
      Figure::Gauge("sonde_scrub_bytes", "Bytes that the pass has read.").Add(number(progress.bytes_done)),
      Figure::Gauge("sonde_scrub_damaged_files", "Files that were found damaged since the start.")
          .Add(number(progress.damaged_files.size())),
  };
}

}  // namespace sonde
