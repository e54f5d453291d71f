// What the data directory must hold, written down beside the databases: the live files of each with sizes and
// checksums, and up to which sequence number its writes are synced.  RocksDB opens without a word when its
// log is gone or its MANIFEST ends early, and deletes the files that it then knows nothing of; so this is
// compared first (open_check.h).
//
// A text file (docs/formats/data-directory.md), replaced as a whole: the one before is kept and used when the
// newest is damaged.  All that it says stays true while the databases move on: files that it names may only
// go when a later MANIFEST says so, logs when their writes are in tables, and sequence numbers never go back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rocksdb {
class Env;
struct FileStorageInfo;
}  // namespace rocksdb

namespace sonde {

constexpr char kInventoryFile[] = "INVENTORY";
constexpr char kInventoryBeforeFile[] = "INVENTORY.before";
constexpr char kInventoryNewFile[] = "INVENTORY.new";

struct TableFile {
  uint64_t bytes = 0;
  std::optional<uint32_t> crc32c;  // of the whole file, where RocksDB has it

  bool operator==(const TableFile&) const = default;
};

// Of a live table, as RocksDB knows it.
TableFile TableFileOf(const rocksdb::FileStorageInfo& file);

struct DatabaseInventory {
  uint64_t manifest_number = 0;
  uint64_t manifest_bytes = 0;
  uint64_t sequence = 0;                 // writes up to here are on the disk
  std::map<uint64_t, TableFile> tables;  // by file number
  // By file number, their bytes at that moment.  Only logs in which a write up to `sequence` is known to be.
  std::map<uint64_t, uint64_t> logs;

  bool operator==(const DatabaseInventory&) const = default;
};

struct Inventory {
  // Whether every write is synced before it is acknowledged: if not, a log may have holes after the loss of
  // power, behind `sequence`.
  bool synced = true;
  std::map<std::string, DatabaseInventory> databases;  // by directory name

  bool operator==(const Inventory&) const = default;
};

std::string EncodeInventory(const Inventory& inventory);
// DATA_LOSS: damaged.  FAILED_PRECONDITION: of a newer version.
absl::StatusOr<Inventory> DecodeInventory(std::string_view text);

// The newest that is not damaged; nothing if there is none at all.  DATA_LOSS when there is one, but none
// that can be read.  `note` then tells of a damaged one that was passed over; else it is left alone.
absl::StatusOr<std::optional<Inventory>> ReadInventory(rocksdb::Env* env, const std::string& data_dir,
                                                       std::string* note);

// On the disk when this returns.  Never leaves the directory without one.
absl::Status WriteInventory(rocksdb::Env* env, const std::string& data_dir, const Inventory& inventory);

}  // namespace sonde
