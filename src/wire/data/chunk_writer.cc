#include "wire/data/chunk_writer.h"

#include <algorithm>
#include <utility>

#include "base/varint.h"

namespace sonde {
namespace {

// Tags: field number * 8 + wire type (0 varint, 2 length-delimited).
constexpr char kChunks = 1 * 8 + 2;
constexpr char kRowKey = 1 * 8 + 2;
constexpr char kFamilyName = 2 * 8 + 2;
constexpr char kQualifier = 3 * 8 + 2;
constexpr char kTimestampMicros = 4 * 8 + 0;
constexpr char kLabels = 5 * 8 + 2;
constexpr char kValue = 6 * 8 + 2;
constexpr char kValueSize = 7 * 8 + 0;
constexpr char kCommitRow = 9 * 8 + 0;
constexpr char kWrapped = 1 * 8 + 2;  // the field of google.protobuf.StringValue and BytesValue

// The field that ends a row, and what it may add to its chunk.
constexpr std::string_view kCommit{"\x48\x01", 2};
static_assert(kCommit[0] == kCommitRow);
constexpr size_t kCommitBytesMax = kCommit.size() + 1;

// A message of more will probably become a full one.
constexpr size_t kLongBytes = 4096;

void PutField(std::string* out, char tag, std::string_view bytes) {
  out->push_back(tag);
  PutBytes(out, bytes);
}

size_t VarintBytes(uint64_t value) {
  size_t count = 1;
  for (; value >= 0x80; value >>= 7) ++count;
  return count;
}

// A wrapper message; its presence counts, also when what it wraps is empty.
void PutWrapped(std::string* out, char tag, std::string_view bytes) {
  out->push_back(tag);
  if (bytes.empty()) {
    out->push_back(0);
    return;
  }
  PutVarint(out, 1 + VarintBytes(bytes.size()) + bytes.size());
  PutField(out, kWrapped, bytes);
}

}  // namespace

void ChunkWriter::StartRow(std::string_view row_key) {
  row_key_ = row_key;
  row_key_due_ = true;
  column_due_ = true;
  row_blocks_ = full_.size();
  row_begin_ = block_.size();
  // A message that waits for a slow reader must not hold twice its size, as one that grows by itself may.
  if (block_.size() >= kLongBytes && block_.capacity() < kMessageBytes) {
    block_.reserve(kMessageBytes + kMessageBytes / 8);
  }
}

void ChunkWriter::WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                            std::string_view label, std::string_view value) {
  if (row_key_due_) PutField(&chunk_, kRowKey, row_key_);
  row_key_due_ = false;
  const bool new_family = column_due_ || family != family_;
  if (new_family) {
    PutWrapped(&chunk_, kFamilyName, family);
    family_ = family;
  }
  if (new_family || qualifier != qualifier_) {
    PutWrapped(&chunk_, kQualifier, qualifier);
    qualifier_ = qualifier;
  }
  column_due_ = false;
  if (timestamp_micros != 0) {
    chunk_.push_back(kTimestampMicros);
    PutVarint(&chunk_, static_cast<uint64_t>(timestamp_micros));
  }
  if (!label.empty()) PutField(&chunk_, kLabels, label);
  const auto value_bytes = static_cast<int64_t>(value.size());
  while (value.size() > piece_bytes_max_) {
    WriteChunk(value.substr(0, piece_bytes_max_), value_bytes);
    value.remove_prefix(piece_bytes_max_);
  }
  WriteChunk(value, 0);
}

void ChunkWriter::WriteChunk(std::string_view piece, int64_t value_size) {
  const size_t piece_bytes = piece.empty() ? 0 : 1 + VarintBytes(piece.size()) + piece.size();
  const size_t size_bytes = value_size == 0 ? 0 : 1 + VarintBytes(static_cast<uint64_t>(value_size));
  chunk_bytes_ = chunk_.size() + piece_bytes + size_bytes;
  MakeRoom(1 + VarintBytes(chunk_bytes_) + chunk_bytes_ + kCommitBytesMax);
  block_.push_back(kChunks);
  chunk_begin_ = block_.size();
  PutVarint(&block_, chunk_bytes_);
  block_ += chunk_;
  chunk_.clear();
  if (!piece.empty()) PutField(&block_, kValue, piece);
  if (value_size == 0) return;
  block_.push_back(kValueSize);
  PutVarint(&block_, static_cast<uint64_t>(value_size));
}

void ChunkWriter::MakeRoom(size_t bytes) {
  const size_t wanted = block_.size() + bytes;
  if (wanted <= block_.capacity()) return;
  if (block_.empty() || wanted <= kBlockBytes) {
    if (2 * block_.capacity() <= kBlockBytes && wanted <= kBlockBytes) return;  // it grows by itself
    // Left to itself it would get twice its size.
    std::string block;
    block.reserve(std::max(wanted, kBlockBytes));
    block_ = std::move(block.append(block_));
    return;
  }
  full_bytes_ += block_.size();
  full_.push_back(std::move(block_));
  block_ = std::string();
  block_.reserve(std::max(kBlockBytes, bytes));
}

// The last chunk gets a field more, so that its size, in front of it, may take a byte more.
void ChunkWriter::EndRow() {
  std::string size;
  PutVarint(&size, chunk_bytes_ + kCommit.size());
  block_.replace(chunk_begin_, VarintBytes(chunk_bytes_), size);
  block_ += kCommit;
}

void ChunkWriter::DropRow() {
  if (full_.size() > row_blocks_) {
    block_ = std::move(full_[row_blocks_]);
    full_.resize(row_blocks_);
    full_bytes_ = 0;
    for (const std::string& block : full_) full_bytes_ += block.size();
  }
  block_.resize(row_begin_);
  chunk_.clear();
}

std::vector<std::string> ChunkWriter::Take() {
  std::vector<std::string> message = std::exchange(full_, {});
  full_bytes_ = 0;
  if (!block_.empty()) message.push_back(std::exchange(block_, {}));
  return message;
}

}  // namespace sonde
