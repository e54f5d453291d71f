// What the change log keeps of a change of one row: its mutations, as they were asked for, in pieces that are
// one message of a change stream each.
//
// Resolved are: the server's time, times that are truncated, and DeleteFromRow, which becomes
// DeleteFromFamily of each family; a second one in the same change, of each that was changed since the first,
// so that a record has no more of them than the table has families and the change mutations.  Families are
// named, so a record outlives a change of the schema.  A value of SetCell that is longer than
// kChangePieceBytes is cut into chunks.
//
// Layout of a piece (docs/formats/change-record.md; numbers are varints, bytes come after their length):
//   format     1 byte, kChangeRecordFormat
//   flags      1 byte: 1 the record's first piece, 2 its last, 4 made by garbage collection
//   row key    in the first piece
//   mutations  to the end: 1 byte, which kind; then what it has
//
// Errors: a Decode of bytes that are no piece is DATA_LOSS.  Never crashes, for any bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/mutation.h"
#include "model/table_schema.h"

namespace sonde {

constexpr char kChangeRecordFormat = 1;
// A piece is ended once it has so many bytes, and a value that is longer is cut.  With a row key and a
// qualifier of the longest, no piece has more than twice as many.
constexpr size_t kChangePieceBytes = 64 * 1024;

enum class ChangeKind : uint8_t { kUser, kGarbageCollection };

// The record of a change that Normalize has accepted; `now_micros` as it got.
std::vector<std::string> EncodeChange(const TableSchema& schema, ChangeKind kind, std::string_view row_key,
                                      absl::Span<const Mutation> mutations, int64_t now_micros);

// Part of a value of SetCell.  Only the first chunk names the cell.
struct ValueChunk {
  uint64_t value_bytes = 0;  // of all chunks together
  uint64_t offset = 0;
  bool last = false;
};

struct LoggedMutation {
  Mutation mutation;                // never a DeleteFromRow
  std::optional<ValueChunk> chunk;  // of a SetCell
};

// Its views point into the piece's bytes.
struct ChangePiece {
  bool first = false;
  bool last = false;
  ChangeKind kind = ChangeKind::kUser;
  std::string_view row_key;  // in the first piece
  std::vector<LoggedMutation> mutations;
};

absl::Status DecodeChangePiece(std::string_view bytes, ChangePiece* piece);

// Only whether it is the last of its record, and the row key of a first one: what a reader needs who may skip
// it.
struct ChangePieceHead {
  bool first = false;
  bool last = false;
  std::string_view row_key;
};
absl::Status DecodeChangePieceHead(std::string_view bytes, ChangePieceHead* head);

}  // namespace sonde
