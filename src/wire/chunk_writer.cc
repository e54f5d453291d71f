#include "wire/chunk_writer.h"

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
  // A message that waits for a slow reader must not hold twice its size, as one that grows by itself may.
  if (message_.size() >= kLongBytes && message_.capacity() < kMessageBytes) {
    message_.reserve(kMessageBytes + kMessageBytes / 8);
  }
}

void ChunkWriter::WriteCell(std::string_view family, std::string_view qualifier, int64_t timestamp_micros,
                            std::string_view label, std::string_view value, bool last) {
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
    WriteChunk(value.substr(0, piece_bytes_max_), value_bytes, false);
    value.remove_prefix(piece_bytes_max_);
  }
  WriteChunk(value, 0, last);
}

void ChunkWriter::WriteChunk(std::string_view piece, int64_t value_size, bool commit) {
  // Two small fields follow the value; they are written last, so that its bytes are copied once.
  std::string tail;
  if (value_size != 0) {
    tail.push_back(kValueSize);
    PutVarint(&tail, static_cast<uint64_t>(value_size));
  }
  if (commit) tail += {kCommitRow, 1};
  const size_t value_bytes = piece.empty() ? 0 : 1 + VarintBytes(piece.size()) + piece.size();
  message_.push_back(kChunks);
  PutVarint(&message_, chunk_.size() + value_bytes + tail.size());
  message_ += chunk_;
  if (!piece.empty()) PutField(&message_, kValue, piece);
  message_ += tail;
  chunk_.clear();
}

std::string ChunkWriter::Take() { return std::exchange(message_, {}); }

}  // namespace sonde
