// Writes ReadRowsResponse messages, cell by cell, straight into their bytes, as this loop limits a scan's
// speed.  Tests read the messages back with protocol buffers.  Source: the comments of
// ReadRowsResponse.CellChunk.
//
// A chunk names its row key only if it is the first of its row, and its family and qualifier only if they
// differ from those of the row's chunk before.  A long value is split over chunks.  A message ends where a
// row ends (docs/decisions/0003), as official clients accept less than the API allows.  So a long row makes a
// long message.  It lies in blocks, so that it takes little more memory than its size, and is never copied.
//
// Not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

class ChunkWriter {
 public:
  // A message is sent once it has this many bytes and its last row is whole.  So a stalled reader holds
  // mostly one message.
  static constexpr size_t kMessageBytes = 24 * 1024;
  // No chunk carries more bytes of a value.  Tests may ask for smaller pieces.
  static constexpr size_t kPieceBytesMax = 1024 * 1024;
  // The size of a message's blocks.  A block of a single chunk may be larger.
  static constexpr size_t kBlockBytes = 1024 * 1024;
  // A chunk's bytes beside its value, its qualifier, its label and its family's name.
  static constexpr size_t kChunkBytesMax = 40;

  explicit ChunkWriter(size_t piece_bytes_max = kPieceBytesMax) : piece_bytes_max_(piece_bytes_max) {}

  // A row is: StartRow, WriteCell for each of its cells (at least one), EndRow, which commits the row.
  // DropRow in place of EndRow takes the whole row back.
  void StartRow(std::string_view row_key);
  void WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                 std::string_view label, std::string_view value);
  void EndRow();
  void DropRow();

  // Bytes of the message so far.
  size_t bytes() const { return full_bytes_ + block_.size(); }
  bool IsFull() const { return bytes() >= kMessageBytes; }
  bool IsEmpty() const { return bytes() == 0; }
  // Returns the message so far, in its pieces, and begins a new one.  Not to be called within a row.
  std::vector<std::string> Take();

 private:
  void WriteChunk(std::string_view piece, int64_t value_size);
  // Begins another block unless this one has room for `bytes`.
  void MakeRoom(size_t bytes);

  const size_t piece_bytes_max_;
  std::vector<std::string> full_;  // blocks before block_
  size_t full_bytes_ = 0;
  std::string block_;
  size_t row_blocks_ = 0, row_begin_ = 0;     // the row begins at row_begin_ of block row_blocks_
  size_t chunk_begin_ = 0, chunk_bytes_ = 0;  // the last chunk: where its size (a varint) is, and that size
  std::string chunk_;                         // the bytes of the next chunk before its value
  std::string row_key_;
  bool row_key_due_ = false;
  bool column_due_ = false;  // the row did not name family_ and qualifier_ yet
  std::string family_;
  std::string qualifier_;
};

}  // namespace sonde
