// Writes ReadRowsResponse messages, cell by cell, straight into their bytes: a scan's speed is this loop's.
// Tests read them back with protocol buffers.  Source: the comments of ReadRowsResponse.CellChunk.
//
// A chunk names its row key only when it is the first of its row, its family and qualifier only when they
// differ from those of the chunk before in the same row.  A long value is split over chunks.  A message ends
// where a row ends (docs/decisions/0003): official clients take less than the API allows.  So a long row
// makes a long message; it lies in blocks, so that it takes its size and little more, and is never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

class ChunkWriter {
 public:
  // A message is sent once it has so many bytes and its last row is whole.  What a reader that takes nothing
  // holds is for the most part one message.
  static constexpr size_t kMessageBytes = 24 * 1024;
  // No chunk carries more of a value, unless a test asks for smaller pieces.
  static constexpr size_t kPieceBytesMax = 1024 * 1024;
  // Of a message, but for a block with one chunk.
  static constexpr size_t kBlockBytes = 1024 * 1024;
  // What a chunk has beside its value, its qualifier, label and family's name.
  static constexpr size_t kChunkBytesMax = 40;

  explicit ChunkWriter(size_t piece_bytes_max = kPieceBytesMax) : piece_bytes_max_(piece_bytes_max) {}

  // A row: StartRow, then WriteCell for each cell, of which there is at least one, then EndRow, which commits
  // it; or DropRow, and it was never there.
  void StartRow(std::string_view row_key);
  void WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                 std::string_view label, std::string_view value);
  void EndRow();
  void DropRow();

  // Of the message so far.
  size_t bytes() const { return full_bytes_ + block_.size(); }
  bool IsFull() const { return bytes() >= kMessageBytes; }
  bool IsEmpty() const { return bytes() == 0; }
  // The message so far, in pieces of which it is put together; a new one is begun.  Not within a row.
  std::vector<std::string> Take();

 private:
  void WriteChunk(std::string_view piece, int64_t value_size);
  // Begins another block, unless this one has room.
  void MakeRoom(size_t bytes);

  const size_t piece_bytes_max_;
  std::vector<std::string> full_;  // blocks before this one
  size_t full_bytes_ = 0;
  std::string block_;
  size_t row_blocks_ = 0, row_begin_ = 0;  // where the row begins: so many full blocks before it, and there
  size_t chunk_begin_ = 0, chunk_bytes_ = 0;  // the last chunk: its size, as a varint, and then so many bytes
  std::string chunk_;                         // what the next chunk says before its value
  std::string row_key_;
  bool row_key_due_ = false;
  bool column_due_ = false;  // family and qualifier were not named in this row yet
  std::string family_;
  std::string qualifier_;
};

}  // namespace sonde
