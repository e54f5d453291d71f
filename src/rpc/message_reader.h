// Reads gRPC messages from the bytes of a stream.  A message is a byte that says whether it is compressed,
// four bytes of length (big endian), and its bytes.
//
// The reader stops where a decision is due, so that no message is taken in without room for it:
//
//   while (true) {
//     switch (reader.Next(&bytes)) {
//       case kMore: return;                              // `bytes` are used up
//       case kLength: ask; reader.MakeRoom(); break;     // or come back later: Next says kLength until then
//       case kMessage: handle(reader.Take()); break;
//       case kBroken: end the call
//     }
//   }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace sonde::rpc {

// A message that has come.  Its memory has exactly its length.
class MessageBytes {
 public:
  MessageBytes() = default;
  MessageBytes(std::unique_ptr<char[]> bytes, size_t size) : bytes_(std::move(bytes)), size_(size) {}
  MessageBytes(MessageBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  MessageBytes& operator=(MessageBytes&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  void Clear() { *this = MessageBytes(); }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

// Not for several threads.
class MessageReader {
 public:
  static constexpr size_t kPrefixBytes = 5;

  enum class Step : uint8_t {
    kMore,     // all bytes are used; the message is not complete
    kLength,   // the prefix is there: length() is known, MakeRoom is due
    kMessage,  // the message is there: Take is due
    kBroken    // it is compressed, or the prefix is not gRPC's
  };

  // Reads the front of `bytes` and shortens them.
  Step Next(std::string_view* bytes);

  // The length of the message whose prefix has come.
  uint32_t length() const { return length_; }
  // The first byte of the prefix.
  uint8_t flags() const { return static_cast<uint8_t>(prefix_[0]); }
  // How many bytes of the message have come.
  size_t received_bytes() const { return received_bytes_; }

  void MakeRoom();
  MessageBytes Take();
  // Drops a message that nobody wants any more.
  void Drop() { *this = MessageReader(); }

  // Whether nothing of a next message has come.
  bool IsBetweenMessages() const { return prefix_bytes_ == 0; }
  bool HasRoom() const { return has_room_; }

 private:
  std::array<char, kPrefixBytes> prefix_{};
  uint8_t prefix_bytes_ = 0;
  bool has_room_ = false;
  uint32_t length_ = 0;
  size_t received_bytes_ = 0;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace sonde::rpc
