// The frame of all cells of the index: a version in front, a CRC-32C (little-endian) behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/crc32c.h"

namespace sonde::series {

constexpr char kIndexVersion = 1;

inline void PutFixed32(std::string* out, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(number >> shift));
}
inline void PutFixed64(std::string* out, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(number >> shift));
}
// Of the first bytes, which must be there.
inline uint64_t ReadFixed(std::string_view in, int bits) {
  uint64_t number = 0;
  for (int shift = 0; shift < bits; shift += 8) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(in[static_cast<size_t>(shift) / 8])) << shift;
  }
  return number;
}
inline uint64_t ReadFixed64(std::string_view in) { return ReadFixed(in, 64); }

inline std::string CheckedBytes(std::string_view content) {
  std::string bytes(1, kIndexVersion);
  bytes += content;
  PutFixed32(&bytes, Crc32c(bytes));
  return bytes;
}

// False: another version, or damaged.
[[nodiscard]] inline bool ReadCheckedBytes(std::string_view bytes, std::string_view* content) {
  constexpr size_t kCrcBytes = 4;
  if (bytes.size() < 1 + kCrcBytes || bytes.front() != kIndexVersion) return false;
  const size_t end = bytes.size() - kCrcBytes;
  if (ReadFixed(bytes.substr(end), 32) != Crc32c(bytes.substr(0, end))) return false;
  *content = bytes.substr(1, end - 1);
  return true;
}

}  // namespace sonde::series
