// Bytes that are written from their end to their begin: whoever writes a length has written by then what is so long.
//
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace sonde::sql {

class BackwardBytes {
 public:
  size_t size() const { return room_bytes_ - begin_; }
  std::string_view view() const { return {room_.get() + begin_, size()}; }
  // Keeps the memory, unless it is large.
  void Clear() {
    if (room_bytes_ > kKeptBytesMax) {
      room_.reset();
      room_bytes_ = 0;
    }
    begin_ = room_bytes_;
  }

  // Each comes in front of what is there.
  void WriteByte(char byte) {
    if (begin_ == 0) Grow(1);
    room_[--begin_] = byte;
  }
  void Write(std::string_view bytes) {
    if (begin_ < bytes.size()) Grow(bytes.size());
    begin_ -= bytes.size();
    if (!bytes.empty()) std::memcpy(room_.get() + begin_, bytes.data(), bytes.size());
  }
  // A byte, and behind it a number.
  void WriteByteAndVarint(char byte, uint64_t value) {
    if (value < 0x80 && begin_ >= 2) {
      room_[--begin_] = static_cast<char>(value);
      room_[--begin_] = byte;
      return;
    }
    WriteVarint(value);
    WriteByte(byte);
  }
  void WriteVarint(uint64_t value) {
    if (value < 0x80) return WriteByte(static_cast<char>(value));
    char buffer[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) buffer[count++] = static_cast<char>(value | 0x80);
    buffer[count++] = static_cast<char>(value);
    Write({buffer, count});
  }

 private:
  static constexpr size_t kKeptBytesMax = 1 << 20;

  void Grow(size_t bytes) {
    const size_t used = size();
    const size_t larger = 2 * (used + bytes) + 256;
    auto room = std::make_unique_for_overwrite<char[]>(larger);
    if (used > 0) std::memcpy(room.get() + larger - used, room_.get() + begin_, used);
    room_ = std::move(room);
    room_bytes_ = larger;
    begin_ = larger - used;
  }

  std::unique_ptr<char[]> room_;
  size_t room_bytes_ = 0;
  size_t begin_ = 0;  // in room_
};

}  // namespace sonde::sql
