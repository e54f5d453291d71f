// The settings of RocksDB.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/rocks/store/fragment_merge.h"
#include "rocksdb/options.h"

namespace sonde {

// Check bytes of each entry in batches, write buffers and cached blocks, so that failing memory is noticed.
constexpr uint8_t kProtectionBytes = 8;

// Settings of the small database of records: little memory.
rocksdb::Options RecordsSettings(rocksdb::Env* env);

// Settings of the cells' database.  All memory comes from one budget.
rocksdb::Options CellsSettings(rocksdb::Env* env, uint64_t memory_bytes,
                               std::shared_ptr<rocksdb::MergeOperator> merge, IsDropped is_dropped);

// Settings of the two heads in the cells' database.
rocksdb::ColumnFamilyOptions HeadSettings(const rocksdb::Options& cells);

// Settings of the change logs, which lie in the cells' database.
using IsDroppedTable = std::function<bool(TableId table)>;
rocksdb::ColumnFamilyOptions LogSettings(const rocksdb::Options& cells, IsDroppedTable is_dropped);

// Settings of pages, which are large and packed already, and of their directory.
rocksdb::ColumnFamilyOptions PagesSettings(const rocksdb::Options& cells);
rocksdb::ColumnFamilyOptions DirectorySettings(const rocksdb::Options& cells);

// Options of a write that is seldom made.  It is synced wherever other writes are, even if its loss would not
// matter: as the last write of its log, a crash could tear it while writes of the next log are kept, and that
// looks like damage.
rocksdb::WriteOptions SyncedWrite();

}  // namespace sonde
