// Byte strings one after the other, and room for unpacked ones.
//
// Layout of `strings` (the count is known outside):
//   integers (codec/integers.h)   the length of each
//   packing                       1 byte: 0 plain, 1 a zstd frame
//   bytes of all, packed          length (varint), bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace sonde::codec {

// The bytes that the strings of a column may have together.  More are not written, and refused when read.
constexpr uint64_t kColumnBytesMax = uint64_t{1} << 28;

// Appends the strings.  There must be at least one, and at most kColumnBytesMax bytes in all.
void EncodeStrings(absl::Span<const std::string_view> strings, std::string* out);

// Reads `count` >= 1 strings from the front of *in into *strings, which view *bytes or *in.  Returns false if
// the bytes are damaged.
[[nodiscard]] bool DecodeStrings(std::string_view* in, size_t count, std::string* bytes,
                                 std::vector<std::string_view>* strings);

// Room for bytes, which do not move until Clear.  Clear keeps the room for the next bytes.  Not for several
// threads.
class ByteArena {
 public:
  // Returns room for `bytes`.  Commit says how many of them are used.
  char* Reserve(size_t bytes);
  // Uses `bytes` of the room of the last Reserve.
  void Commit(size_t bytes) { used_ += bytes; }
  void Clear() { now_ = used_ = 0; }
  size_t MemoryBytes() const;

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  size_t now_ = 0;   // the chunk that is being filled
  size_t used_ = 0;  // bytes of this chunk that are used
};

}  // namespace sonde::codec
