// Writes ReadRowsResponse messages, cell by cell, straight into their bytes: a scan's speed is this loop's.
// Tests read them back with protocol buffers.  Source: the comments of ReadRowsResponse.CellChunk.
//
// A chunk names its row key only when it is the first of its row, its family and qualifier only when they
// differ from those of the chunk before in the same row.  A long value is split over chunks.  A message ends
// where a row ends (docs/decisions/0003): official clients take less than the API allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

class ChunkWriter {
 public:
  // A message is sent once it has so many bytes and its last row is whole.  What a reader that takes nothing
  // holds is for the most part one message.
  static constexpr size_t kMessageBytes = 24 * 1024;
  // No chunk carries more of a value, unless a test asks for smaller pieces.
  static constexpr size_t kPieceBytesMax = 1024 * 1024;
  // What a chunk has beside its value, its qualifier, label and family's name.
  static constexpr size_t kChunkBytesMax = 40;

  explicit ChunkWriter(size_t piece_bytes_max = kPieceBytesMax) : piece_bytes_max_(piece_bytes_max) {}

  // Room for a row of so many bytes, chunks and all.
  void Reserve(size_t row_bytes) { message_.reserve(message_.size() + row_bytes); }
  // A row: StartRow, then WriteCell for each cell, of which there is at least one.
  void StartRow(std::string_view row_key);
  // `last`: the row's last cell; commits it.
  void WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                 std::string_view label, std::string_view value, bool last);

  bool IsFull() const { return message_.size() >= kMessageBytes; }
  bool IsEmpty() const { return message_.empty(); }
  // The message so far; a new one is begun.
  std::string Take();

 private:
  void WriteChunk(std::string_view piece, int64_t value_size, bool commit);

  const size_t piece_bytes_max_;
  std::string message_;
  std::string chunk_;  // what the next chunk says before its value
  std::string row_key_;
  bool row_key_due_ = false;
  bool column_due_ = false;  // family and qualifier were not named in this row yet
  std::string family_;
  std::string qualifier_;
};

}  // namespace sonde
