#include "bench/inside/measured_store.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/rocks/rocks_engine.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"

namespace sonde::bench {
namespace {

constexpr TableId kTable = 1;

class SondeStore final : public StoreUnderTest {
 public:
  explicit SondeStore(std::unique_ptr<RocksEngine> engine) : engine_(std::move(engine)) {}

  absl::Status Write(absl::Span<const RowChange> rows) override { return engine_->Apply(kTable, rows); }

  absl::Status Settle() override {
    if (absl::Status status = engine_->SettleAll(); !status.ok()) return status;
    return engine_->CompactAll();
  }

  absl::StatusOr<CellSum> Scan() override { return ScanCells(engine_.get(), kTable); }
  absl::StatusOr<int64_t> ReadRow(std::string_view row_key) override {
    return CountCells(engine_.get(), kTable, row_key);
  }

 private:
  std::unique_ptr<RocksEngine> engine_;
};

// A zero ends a string; one within it is followed by 0xFF.
void PutString(std::string_view bytes, std::string* key) {
  for (const char byte : bytes) {
    key->push_back(byte);
    if (byte == '\0') key->push_back('\xFF');
  }
  key->append(1, '\0').append(1, '\1');
}

std::string_view TakeString(std::string_view* key, std::string* scratch) {
  scratch->clear();
  size_t i = 0;
  for (; (*key)[i] != '\0' || (*key)[i + 1] == '\xFF'; ++i) {
    scratch->push_back((*key)[i]);
    if ((*key)[i] == '\0') ++i;
  }
  key->remove_prefix(i + 2);
  return *scratch;
}

void PutTime(int64_t micros, std::string* key) {
  const uint64_t bits = ~static_cast<uint64_t>(micros);
  for (int shift = 56; shift >= 0; shift -= 8) key->push_back(static_cast<char>(bits >> shift));
}

int64_t TakeTime(std::string_view key) {
  uint64_t bits = 0;
  for (const char byte : key) bits = bits << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(~bits);
}

absl::Status ToStatus(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError("RocksDB: " + status.ToString());
}

class EntryStore final : public StoreUnderTest {
 public:
  EntryStore(std::unique_ptr<rocksdb::DB> db, bool sync) : db_(std::move(db)) { write_options_.sync = sync; }

  absl::Status Write(absl::Span<const RowChange> rows) override {
    rocksdb::WriteBatch batch;
    std::string key;
    for (const RowChange& row : rows) {
      key.clear();
      PutString(row.row_key, &key);
      const size_t row_bytes = key.size();
      for (const CellView& cell : row.delta.families.front().puts) {
        key.resize(row_bytes);
        PutString(cell.qualifier, &key);
        PutTime(cell.timestamp_micros, &key);
        if (absl::Status status =
                ToStatus(batch.Put(key, rocksdb::Slice(cell.value.data(), cell.value.size())));
            !status.ok()) {
          return status;
        }
      }
    }
    return ToStatus(db_->Write(write_options_, &batch));
  }

  absl::Status Settle() override {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return ToStatus(db_->CompactRange(options, nullptr, nullptr));
  }

  absl::StatusOr<CellSum> Scan() override {
    rocksdb::ReadOptions options;
    options.readahead_size = 1 << 20;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options));
    CellSum sum;
    std::string row;
    std::string qualifier;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      std::string_view key(iterator->key().data(), iterator->key().size());
      const uint64_t row_hash = CellSum::Hash(TakeString(&key, &row));
      const uint64_t qualifier_hash = CellSum::Hash(TakeString(&key, &qualifier));
      sum.Add(row_hash, qualifier_hash, TakeTime(key),
              CellSum::Hash({iterator->value().data(), iterator->value().size()}));
    }
    if (absl::Status status = ToStatus(iterator->status()); !status.ok()) return status;
    return sum;
  }

  absl::StatusOr<int64_t> ReadRow(std::string_view row_key) override {
    std::string prefix;
    PutString(row_key, &prefix);
    const rocksdb::Slice start(prefix);
    int64_t cells = 0;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
    for (iterator->Seek(start); iterator->Valid() && iterator->key().starts_with(start); iterator->Next())
      ++cells;
    if (absl::Status status = ToStatus(iterator->status()); !status.ok()) return status;
    return cells;
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_options_;
};

}  // namespace

absl::StatusOr<CellSum> ScanCells(Engine* engine, TableId table) {
  auto stream = engine->Scan(table, {RowRange()}, {});
  if (!stream.ok()) return stream.status();
  CellSum sum;
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) return sum;
    const uint64_t row = CellSum::Hash(piece.row_key);
    std::string_view qualifier;
    uint64_t qualifier_hash = CellSum::Hash(qualifier);
    for (const CellView& cell : piece.cells) {
      if (cell.qualifier != qualifier) qualifier_hash = CellSum::Hash(qualifier = cell.qualifier);
      sum.Add(row, qualifier_hash, cell.timestamp_micros, CellSum::Hash(cell.value));
    }
  }
}

absl::StatusOr<int64_t> CountCells(Engine* engine, TableId table, std::string_view row_key) {
  auto stream = engine->Scan(table, {RowRange::Single(row_key)}, {});
  if (!stream.ok()) return stream.status();
  int64_t cells = 0;
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) return cells;
    cells += static_cast<int64_t>(piece.cells.size());
  }
}

absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenSondeStore(const StoreOptions& options) {
  auto engine = RocksEngine::Open(
      {.data_dir = options.directory, .memory_bytes = options.memory_bytes, .sync = options.sync});
  if (!engine.ok()) return engine.status();
  if (absl::Status status = (*engine)->CreateTable({.id = kTable}); !status.ok()) return status;
  return std::make_unique<SondeStore>(*std::move(engine));
}

absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenEntryStore(const StoreOptions& options) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  rocksdb::Options settings;
  settings.create_if_missing = true;
  settings.write_buffer_size = 64 * kMiB;
  settings.max_write_buffer_number = 4;
  settings.min_write_buffer_number_to_merge = 1;
  settings.max_background_jobs = 2;
  settings.level_compaction_dynamic_level_bytes = true;
  settings.target_file_size_base = 64 * kMiB;
  settings.max_bytes_for_level_base = 256 * kMiB;
  settings.bytes_per_sync = kMiB;
  settings.compression = rocksdb::kLZ4Compression;
  settings.bottommost_compression = rocksdb::kZSTD;
  settings.bottommost_compression_opts.enabled = true;
  settings.bottommost_compression_opts.max_dict_bytes = 16 * 1024;
  settings.bottommost_compression_opts.zstd_max_train_bytes = 1600 * 1024;
  settings.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 16 * 1024;
  table.block_cache = rocksdb::NewLRUCache(options.memory_bytes / 2);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  std::unique_ptr<rocksdb::DB> db;
  if (absl::Status status = ToStatus(rocksdb::DB::Open(settings, options.directory, &db)); !status.ok())
    return status;
  return std::make_unique<EntryStore>(std::move(db), options.sync);
}

}  // namespace sonde::bench
