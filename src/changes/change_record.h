// The records of the change log.  A record has the mutations of a change of one row, as the client asked for
// them, in pieces; each piece is one message of a change stream.
//
// Some things are resolved.  The server's time and truncated times are written as they were applied.
// DeleteFromRow becomes DeleteFromFamily of each family.  A second DeleteFromRow of the same change becomes
// DeleteFromFamily of each family that was changed since the first, so that a record has no more of them than
// the table has families and the change has mutations.  Families are named, so a record outlives a change of
// the schema.  A value of SetCell that is longer than kChangePieceBytes is cut into chunks.
//
// Layout of a piece (docs/formats/change-record.md; numbers are varints, bytes come after their length):
//   format     1 byte, kChangeRecordFormat
//   flags      1 byte: 1 the record's first piece, 2 its last, 4 made by garbage collection
//   row key    in the first piece
//   mutations  to the end: 1 byte of kind, then the fields of that kind
//
// Errors: bytes that are no piece are DATA_LOSS.  No bytes crash a decoder. Threads: the functions are pure.
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
// A piece ends once it has this many bytes; a longer value is cut.  Even with the longest row key and
// qualifier, no piece has more than twice as many bytes.
constexpr size_t kChangePieceBytes = 64 * 1024;

enum class ChangeKind : uint8_t { kUser, kGarbageCollection };

// Makes the record of a change that Normalize has accepted.  `now_micros` must be the one that Normalize got.
std::vector<std::string> EncodeChange(const TableSchema& schema, ChangeKind kind, std::string_view row_key,
                                      absl::Span<const Mutation> mutations, int64_t now_micros);

// A part of a value of SetCell.  Only the first chunk names the cell.
struct ValueChunk {
  uint64_t value_bytes = 0;  // of all chunks together
  uint64_t offset = 0;
  bool last = false;
};

struct LoggedMutation {
  Mutation mutation;                // never a DeleteFromRow
  std::optional<ValueChunk> chunk;  // if the mutation is a part of a SetCell
};

// A decoded piece.  Its views point into the piece's bytes.
struct ChangePiece {
  bool first = false;
  bool last = false;
  ChangeKind kind = ChangeKind::kUser;
  std::string_view row_key;  // in the first piece
  std::vector<LoggedMutation> mutations;
};

absl::Status DecodeChangePiece(std::string_view bytes, ChangePiece* piece);

// The head of a piece: whether it is the first or the last of its record, and the row key of a first piece.
// A reader that may skip the piece needs no more.
struct ChangePieceHead {
  bool first = false;
  bool last = false;
  std::string_view row_key;
};
absl::Status DecodeChangePieceHead(std::string_view bytes, ChangePieceHead* head);

}  // namespace sonde
