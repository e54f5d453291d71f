// Reads a log of RocksDB without RocksDB, to tell a tail that was torn by a crash from damage.  The log is a
// write-ahead log or a MANIFEST, which have the same framing.
//
// RocksDB stops at the first bad place and, depending on its mode, takes all that follows for torn.  But a
// crash tears only the last write: if a whole record begins behind the bad place, acknowledged records lie
// between.  So this looks behind the bad place, too.  It cannot tell damage to the very last record from a
// torn write of that record (but the inventory knows up to where the log was synced: inventory.h).
//
// The framing (source: RocksDB's db/log_format.h): a log is blocks of 32 KiB.  A block has frames of a masked
// CRC-32C (4 bytes), length (2), type (1) and payload; integers are little-endian.  The last few bytes of a
// block may be filled with zeros.  A record is one frame, or a first frame, middle frames and a last one.
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
  // Whole records follow each other up to here.  It is equal to file_bytes if nothing is wrong.
  uint64_t sound_bytes = 0;
  uint64_t records_count = 0;  // in the sound part
  // A record begins behind the bad place.  If so, the bad place is damage; if not, it may be a torn tail.
  bool record_behind = false;

  bool IsSound() const { return sound_bytes == file_bytes; }
};

// The bytes at a record's start that the visitor gets: the header of a write batch.
constexpr size_t kLogRecordStartBytes = 12;

// Calls `visit` for each record of the sound part, with its first kLogRecordStartBytes (or fewer) and its
// offset. Calls `plausible` with the start of a possible record behind the bad place, to ask whether it can
// be a record: bytes in a value may look like a frame.  Both may be null.  Reads the file once, in blocks.
// Errors: those of reading (FromRocks).
using VisitLogRecord = std::function<void(std::string_view start, uint64_t offset)>;
using IsPlausibleRecord = std::function<bool(std::string_view start)>;
absl::StatusOr<LogScan> ScanLog(rocksdb::Env* env, const std::string& path, const VisitLogRecord& visit,
                                const IsPlausibleRecord& plausible);

// The start of a record of a write-ahead log: a write batch's header.
struct LogRecordHeader {
  uint64_t first_sequence = 0;  // the number of the batch's first write
  uint64_t count = 0;           // the number of its writes, which are numbered one after the other

  uint64_t LastSequence() const { return first_sequence + count - 1; }
};
// `start` as VisitLogRecord gets it.  Missing bytes count as zeros.
LogRecordHeader ParseLogRecordHeader(std::string_view start);

// Returns the sequence number with which a write-ahead log begins.  Returns nothing if the file does not
// exist or has no whole first frame yet, and 0 if its first block is damaged.  Reads at most one block.
// Errors: those of reading (FromRocks).
absl::StatusOr<std::optional<uint64_t>> FirstSequenceOfLog(rocksdb::Env* env, const std::string& path);

}  // namespace sonde
