// How RocksDB is set up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/rocks/store/fragment_merge.h"
#include "rocksdb/options.h"

namespace sonde {

// Of each entry in batches, write buffers and cached blocks, so that memory that fails is noticed.
constexpr uint8_t kProtectionBytes = 8;

// For the small database of records: little memory.
rocksdb::Options RecordsSettings(rocksdb::Env* env);

// For the cells' database; all memory comes from one budget.
rocksdb::Options CellsSettings(rocksdb::Env* env, uint64_t memory_bytes,
                               std::shared_ptr<rocksdb::MergeOperator> merge, IsDropped is_dropped);

// For the two heads in it.
rocksdb::ColumnFamilyOptions HeadSettings(const rocksdb::Options& cells);

// For the change logs, beside the cells in their database.
using IsDroppedTable = std::function<bool(TableId table)>;
rocksdb::ColumnFamilyOptions LogSettings(const rocksdb::Options& cells, IsDroppedTable is_dropped);

// For pages, which are large and packed already, and for their directory.
rocksdb::ColumnFamilyOptions PagesSettings(const rocksdb::Options& cells);
rocksdb::ColumnFamilyOptions DirectorySettings(const rocksdb::Options& cells);

// For whatever is seldom written.  Nothing is written without a sync where the rest is synced, though losing
// it might not matter: as the last of its log a crash could tear it while writes of the next log are there,
// which is how damage looks.
rocksdb::WriteOptions SyncedWrite();

}  // namespace sonde
