// The inventory of a data directory: the live files of each database with sizes and checksums, and the
// sequence number up to which writes are synced.  RocksDB opens without a word when its log is gone or its
// MANIFEST ends early, and then deletes the files that it knows nothing of.  So the directory is compared
// with its inventory first (open_check.h).
//
// The inventory is a text file (docs/formats/data-directory.md) and is replaced as a whole.  The version
// before is kept, and used if the newest is damaged.  All that an inventory says stays true while the
// databases move on: a file that it names goes only if a later MANIFEST says so, a log only if its writes are
// in tables, and sequence numbers never go back.
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
  std::optional<uint32_t> crc32c;  // CRC-32C of the whole file, if RocksDB has it

  bool operator==(const TableFile&) const = default;
};

// Describes a live table, as RocksDB knows it.
TableFile TableFileOf(const rocksdb::FileStorageInfo& file);

struct DatabaseInventory {
  uint64_t manifest_number = 0;
  uint64_t manifest_bytes = 0;
  uint64_t sequence = 0;                 // writes up to here are on the disk
  std::map<uint64_t, TableFile> tables;  // by file number
  // By file number: bytes at that moment.  Only logs that are known to have a write up to `sequence`.
  std::map<uint64_t, uint64_t> logs;

  bool operator==(const DatabaseInventory&) const = default;
};

struct Inventory {
  // Whether every write is synced before it is acknowledged.  If not, a log may have holes behind `sequence`
  // after the loss of power.
  bool synced = true;
  std::map<std::string, DatabaseInventory> databases;  // by directory name

  bool operator==(const Inventory&) const = default;
};

std::string EncodeInventory(const Inventory& inventory);
// DATA_LOSS: it is damaged.  FAILED_PRECONDITION: a newer version wrote it.
absl::StatusOr<Inventory> DecodeInventory(std::string_view text);

// Reads the newest inventory that is not damaged; nothing if there is none at all.  DATA_LOSS: all that exist
// are damaged.  *note tells of a damaged one that was passed over, and is not touched otherwise.
absl::StatusOr<std::optional<Inventory>> ReadInventory(rocksdb::Env* env, const std::string& data_dir,
                                                       std::string* note);

// The inventory is on the disk when this returns.  The directory is never without one.
absl::Status WriteInventory(rocksdb::Env* env, const std::string& data_dir, const Inventory& inventory);

}  // namespace sonde
