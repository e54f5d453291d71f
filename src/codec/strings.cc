#include "codec/strings.h"

#include <zstd.h>

#include <algorithm>

#include "base/varint.h"
#include "codec/integers.h"

namespace sonde::codec {
namespace {

constexpr int kZstdLevel = 3;
constexpr char kPlain = 0;
constexpr char kZstd = 1;

}  // namespace

void EncodeStrings(absl::Span<const std::string_view> strings, std::string* out) {
  std::vector<int64_t> lengths;
  std::string bytes;
  for (const std::string_view string : strings) {
    lengths.push_back(static_cast<int64_t>(string.size()));
    bytes += string;
  }
  EncodeIntegers(lengths, out);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kZstdLevel);
  const bool is_packed = !ZSTD_isError(size) && size < bytes.size();
  out->push_back(is_packed ? kZstd : kPlain);
  PutBytes(out, is_packed ? std::string_view(packed).substr(0, size) : std::string_view(bytes));
}

bool DecodeStrings(std::string_view* in, size_t count, std::string* bytes,
                   std::vector<std::string_view>* strings) {
  IntegerColumn column;
  std::vector<int64_t> lengths;
  if (!column.Parse(in, count) || !column.DecodeAll(0, kColumnBytesMax, &lengths) || in->empty())
    return false;
  uint64_t total = 0;
  for (const int64_t length : lengths) {
    total += static_cast<uint64_t>(length);
    if (total > kColumnBytesMax) return false;
  }
  const char packing = (*in)[0];
  in->remove_prefix(1);
  std::string_view all;
  if (packing > kZstd || packing < kPlain || !GetBytes(in, &all)) return false;
  if (packing == kZstd) {
    if (ZSTD_getFrameContentSize(all.data(), all.size()) != total) return false;
    bytes->resize(total);
    if (ZSTD_decompress(bytes->data(), total, all.data(), all.size()) != total) return false;
    all = *bytes;
  }
  if (all.size() != total) return false;
  strings->resize(count);
  for (size_t i = 0; i < count; ++i) {
    (*strings)[i] = all.substr(0, lengths[i]);
    all.remove_prefix(lengths[i]);
  }
  return true;
}

char* ByteArena::Reserve(size_t bytes) {
  // A point read needs little, and a large chunk costs as much as the rest of it.
  constexpr size_t kChunkBytesMin = size_t{2} << 10, kChunkBytesMax = size_t{64} << 10;
  while (now_ < chunks_.size() && chunks_[now_].size - used_ < bytes) {
    ++now_;
    used_ = 0;
  }
  if (now_ == chunks_.size()) {
    const size_t next = chunks_.empty() ? kChunkBytesMin : std::min(2 * chunks_.back().size, kChunkBytesMax);
    const size_t size = std::max(bytes, next);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
  }
  return chunks_[now_].bytes.get() + used_;
}

size_t ByteArena::MemoryBytes() const {
  size_t bytes = 0;
  for (const Chunk& chunk : chunks_) bytes += chunk.size;
  return bytes;
}

}  // namespace sonde::codec
