// Writes ReadRowsResponse messages, cell by cell, straight into their bytes: a scan's speed is this loop's.
// Tests read them back with protocol buffers.  Source: the comments of ReadRowsResponse.CellChunk.
//
// A chunk names its row key only when it is the first of its row, its family and qualifier only when they
// differ from those of the chunk before in the same row.  A value is split where a message would pass its
// size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

class ChunkWriter {
 public:
  // A message is closed once it has so many bytes; a piece of a value adds no more than as much again.
  static constexpr size_t kMessageBytes = 64 * 1024;

  // A row: StartRow, then WriteCell until it is true, for each cell.  A row has at least one cell.
  void StartRow(std::string_view row_key);

  // Writes the cell, or as much of its value as fits the message.  False: the message is full; take it and
  // call again with the same arguments, and so on until it is true.  `last`: the row's last cell; commits it.
  bool WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                 std::string_view label, std::string_view value, bool last);

  bool IsFull() const { return message_.size() >= kMessageBytes; }
  bool IsEmpty() const { return message_.empty(); }
  // The message so far; a new one is begun.
  std::string Take();

 private:
  void WriteChunk(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                  std::string_view label, std::string_view piece, int64_t value_size, bool commit);

  std::string message_;
  std::string chunk_;
  std::string row_key_;
  bool row_key_due_ = false;
  bool column_due_ = false;  // family and qualifier were not named in this row yet
  std::string family_;
  std::string qualifier_;
  size_t value_written_ = 0;  // of the cell that is being split
};

}  // namespace sonde
