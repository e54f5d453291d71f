// Reads a log of RocksDB (a write-ahead log or a MANIFEST: the same framing) without RocksDB, to tell a tail
// that was torn by a crash from damage.
//
// RocksDB stops at the first bad place and, depending on its mode, takes what follows for torn.  But a crash
// tears only what was written last: where a whole record begins behind the bad place, acknowledged records
// lie between.  So this looks there, too.  What cannot be told apart: damage to the very last record, and a
// torn write of it (the inventory knows up to where the log was synced, inventory.h).
//
// The framing (RocksDB's db/log_format.h): blocks of 32 KiB; in them frames of a masked CRC-32C (4 bytes),
// length (2), type (1) and payload; integers little-endian; the last few bytes of a block may be filled with
// zeros; a record is one frame, or a first, middles and a last.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace sonde {

struct LogScan {
  uint64_t file_bytes = 0;
  // Up to here whole records follow each other; equal to file_bytes if nothing is wrong.
  uint64_t sound_bytes = 0;
  uint64_t records_count = 0;  // in the sound part
  // A record begins behind the bad place.  Bad and this: damage.  Bad and not this: possibly a torn tail.
  bool record_behind = false;

  bool IsSound() const { return sound_bytes == file_bytes; }
};

// So many bytes of a record are kept for the visitor: the header of a write batch.
constexpr size_t kLogRecordStartBytes = 12;

// Calls `visit` with the first kLogRecordStartBytes (or fewer) of each record of the sound part and the
// offset where it begins.  `plausible`, given the start of a record behind the bad place, says whether it can
// be one: bytes in a value may look like a frame.  Both may be null.  Reads the file once, in blocks. Errors:
// those of reading (FromRocks).
using VisitLogRecord = std::function<void(std::string_view start, uint64_t offset)>;
using IsPlausibleRecord = std::function<bool(std::string_view start)>;
absl::StatusOr<LogScan> ScanLog(rocksdb::Env* env, const std::string& path, const VisitLogRecord& visit,
                                const IsPlausibleRecord& plausible);

// How a record of a write-ahead log begins: a write batch's header.
struct LogRecordHeader {
  uint64_t first_sequence = 0;  // of its first write
  uint64_t count = 0;           // of its writes, with numbers one after the other

  uint64_t LastSequence() const { return first_sequence + count - 1; }
};
// `start`: as VisitLogRecord gets it; what is missing of it counts as zeros.
LogRecordHeader ParseLogRecordHeader(std::string_view start);

// The sequence number with which a write-ahead log begins; nothing if there is no such file, or no whole
// first frame in it yet; 0 if its first block is damaged.  Reads at most one block.  Errors: those of reading
// (FromRocks).
absl::StatusOr<std::optional<uint64_t>> FirstSequenceOfLog(rocksdb::Env* env, const std::string& path);

}  // namespace sonde
