// Bytes that are written from their end to their begin: whoever writes a length has written by then what is so long.
//
//   BackwardBytes bytes;
//   char* const end = bytes.Room(8);
//   char* at = PutBackward("text", end);
//   at = PutByteAndVarint(tag, end - at, at);
//
// Shape: each Put takes where the bytes begin so far, writes in front of them, and returns where they begin now.  The place is
//   passed by value, so that it stays in a register: a byte that is stored through a member could be that member.
// Ownership: the bytes hold until the next Room.
// Errors: none; who asks for too little room writes in front of it.
// Threads: not for several threads.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace sonde::sql {

constexpr size_t kVarintBytesMax = 10;

inline char* PutBackward(char byte, char* at) {
  *--at = byte;
  return at;
}
inline char* PutBackward(std::string_view bytes, char* at) {
  at -= bytes.size();
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at;
}
inline char* PutVarintBackward(uint64_t value, char* at) {
  if (value < 0x80) return PutBackward(static_cast<char>(value), at);
  constexpr int kBits = 7;
  const int bytes = (std::bit_width(value) + kBits - 1) / kBits;
  at -= bytes;
  for (int i = 0; i + 1 < bytes; ++i, value >>= kBits) at[i] = static_cast<char>(value | 0x80);
  at[bytes - 1] = static_cast<char>(value);
  return at;
}
// A byte, and behind it a number.
inline char* PutByteAndVarint(char byte, uint64_t value, char* at) {
  return PutBackward(byte, PutVarintBackward(value, at));
}

class BackwardBytes {
 public:
  // The end of a room of so many bytes; what was written before is gone.
  char* Room(size_t bytes) {
    const bool is_too_large = room_bytes_ > kKeptBytesMax && bytes <= kKeptBytesMax;
    if (bytes > room_bytes_ || is_too_large) {
      room_.reset();
      room_bytes_ = bytes <= kKeptBytesMax / 2 ? 2 * bytes : bytes;
      room_ = std::make_unique_for_overwrite<char[]>(room_bytes_);
    }
    return room_.get() + room_bytes_;
  }

 private:
  // A larger room is given back when a smaller one will do.
  static constexpr size_t kKeptBytesMax = 1 << 20;

  std::unique_ptr<char[]> room_;
  size_t room_bytes_ = 0;
};

}  // namespace sonde::sql
