// Byte strings one after the other, and room for those that are unpacked.
//
// Layout of `strings` (the count is known outside):
//   integers (codec/integers.h)   the length of each
//   packing                       1 byte: 0 plain, 1 a zstd frame
//   the bytes of all, packed      length (varint), bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace sonde::codec {

// The strings of a column together; more is not written, and refused when it is read.
constexpr uint64_t kColumnBytesMax = uint64_t{1} << 28;

// Appends them; at least one, kColumnBytesMax in all.
void EncodeStrings(absl::Span<const std::string_view> strings, std::string* out);

// Reads `count` >= 1 of them from the front of *in into *strings; they view *bytes or *in.  False: damaged.
[[nodiscard]] bool DecodeStrings(std::string_view* in, size_t count, std::string* bytes,
                                 std::vector<std::string_view>* strings);

// Room for bytes that stays where it is until Clear, which keeps it for the next ones.
class ByteArena {
 public:
  // `bytes` of room, of which Commit takes.
  char* Reserve(size_t bytes);
  // So many of the last Reserve are used.
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
  size_t used_ = 0;  // of it
};

}  // namespace sonde::codec
