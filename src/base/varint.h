// Integers as bytes: LEB128 varints (least significant group first), zig-zag for signed ones, and fixed
// big-endian.  Readers take from the front of a view and return false, leaving it as it was or in the middle,
// when it is too short or not a number; a caller that gets false gives up on the whole input.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sonde {

constexpr int kVarintBytesMax = 10;

inline void PutVarint(std::string* out, uint64_t value) {
  char buffer[kVarintBytesMax];
  int count = 0;
  while (value >= 0x80) {
    buffer[count++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[count++] = static_cast<char>(value);
  out->append(buffer, count);
}

[[nodiscard]] inline bool GetVarint(std::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (int i = 0; i < kVarintBytesMax && i < static_cast<int>(in->size()); ++i) {
    const auto byte = static_cast<unsigned char>((*in)[i]);
    if (i == kVarintBytesMax - 1 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      in->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

// A length, then the bytes.
inline void PutBytes(std::string* out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out->append(bytes);
}
[[nodiscard]] inline bool GetBytes(std::string_view* in, std::string_view* bytes) {
  uint64_t size = 0;
  if (!GetVarint(in, &size) || size > in->size()) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

template <typename Unsigned>
inline Unsigned ToBigEndian(Unsigned value) {
  if constexpr (std::endian::native == std::endian::big) return value;
  if constexpr (sizeof(Unsigned) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(Unsigned) == 8) return __builtin_bswap64(value);
}
inline void PutFixed32(std::string* out, uint32_t value) {
  value = ToBigEndian(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
inline void PutFixed64(std::string* out, uint64_t value) {
  value = ToBigEndian(value);
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
[[nodiscard]] inline bool GetFixed32(std::string_view* in, uint32_t* value) {
  if (in->size() < sizeof(*value)) return false;
  std::memcpy(value, in->data(), sizeof(*value));
  *value = ToBigEndian(*value);
  in->remove_prefix(sizeof(*value));
  return true;
}
[[nodiscard]] inline bool GetFixed64(std::string_view* in, uint64_t* value) {
  if (in->size() < sizeof(*value)) return false;
  std::memcpy(value, in->data(), sizeof(*value));
  *value = ToBigEndian(*value);
  in->remove_prefix(sizeof(*value));
  return true;
}

}  // namespace sonde
