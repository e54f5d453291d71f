// Memory that is given out piece by piece and taken back all at once.
//
//   Arena arena;
//   int64_t* const sums = arena.New<int64_t>(1'024);
//   const std::string_view name = arena.Copy(request.name());
//
// Ownership: what the arena gives out holds until Clear, or the end of the arena.  Nothing is destroyed one by one,
//   so only types without destructors can be had.
// Threads: not for several threads.
// Cost: Clear keeps the largest block, so that an arena that is used again and again asks for no memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept
      : blocks_(std::move(other.blocks_)),
        next_(std::exchange(other.next_, nullptr)),
        left_(std::exchange(other.left_, 0)),
        held_bytes_(std::exchange(other.held_bytes_, 0)) {}
  Arena& operator=(Arena&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    next_ = std::exchange(other.next_, nullptr);
    left_ = std::exchange(other.left_, 0);
    held_bytes_ = std::exchange(other.held_bytes_, 0);
    return *this;
  }

  // Room for `count` values, which are not initialised.
  template <typename T>
  T* New(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    return reinterpret_cast<T*>(Take(count * sizeof(T)));
  }
  std::string_view Copy(std::string_view bytes) {
    if (bytes.empty()) return "";
    char* const to = Take(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }
  // Takes everything back.
  void Clear();
  // The bytes that were given out since the last Clear, with the ends of blocks that were too short for more.
  size_t UsedBytes() const { return held_bytes_ - left_; }
  // The bytes that the arena holds, used or not.
  size_t MemoryBytes() const { return held_bytes_; }

 private:
  static constexpr size_t kAlignment = 16;
  static constexpr size_t kBlockBytesMin = 16 << 10;
  static constexpr size_t kBlockBytesMax = 1 << 20;  // of blocks for several pieces

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };

  char* Take(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left_) Grow(bytes);
    char* const given = next_;
    next_ += bytes;
    left_ -= bytes;
    return given;
  }
  // Makes room for a piece of so many bytes.
  void Grow(size_t bytes);

  std::vector<Block> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t held_bytes_ = 0;
};

}  // namespace sonde
