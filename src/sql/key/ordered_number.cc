#include "sql/key/ordered_number.h"

#include <bit>

namespace sonde::sql {
namespace {

constexpr size_t kOrderedBytesMax = 10;

size_t SizeOf(int64_t number) {
  const uint64_t magnitude = static_cast<uint64_t>(number < 0 ? ~number : number);
  // One bit more for the sign.
  const auto bits = static_cast<size_t>(std::bit_width(magnitude)) + 1;
  return (bits + 6) / 7;
}

// Returns the bits that are turned over in byte `at` of a number of `size` bytes.
uint8_t MarkAt(size_t size, size_t at) {
  const size_t before = 8 * at;
  if (size <= before) return 0;
  const size_t ones = size - before;
  return ones >= 8 ? 0xff : static_cast<uint8_t>(0xff << (8 - ones));
}

}  // namespace

void AppendOrderedNumber(int64_t number, std::string* out) {
  const size_t size = SizeOf(number);
  for (size_t i = 0; i < size; ++i) {
    const size_t shift = 8 * (size - 1 - i);
    const int64_t byte = shift >= 64 ? (number < 0 ? -1 : 0) : number >> shift;
    out->push_back(static_cast<char>(static_cast<uint8_t>(byte) ^ MarkAt(size, i)));
  }
}

std::optional<size_t> OrderedNumberBytes(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto turned = [&](size_t at) -> uint8_t {
    const auto byte = static_cast<uint8_t>(bytes[at]);
    return (bytes[0] & 0x80) != 0 ? byte : static_cast<uint8_t>(~byte);
  };
  auto size = static_cast<size_t>(std::countl_one(turned(0)));
  if (size == 8 && bytes.size() > 1) size += static_cast<size_t>(std::countl_one(turned(1)));
  if (size > kOrderedBytesMax || size > bytes.size()) return std::nullopt;
  return size;
}

std::optional<int64_t> ReadOrderedNumber(std::string_view bytes) {
  if (OrderedNumberBytes(bytes) != bytes.size()) return std::nullopt;
  uint64_t number = (bytes[0] & 0x80) != 0 ? 0 : ~uint64_t{0};
  for (size_t i = 0; i < bytes.size(); ++i) {
    number = number << 8 | (static_cast<uint8_t>(bytes[i]) ^ MarkAt(bytes.size(), i));
  }
  // Not every ten bytes are 64 bits, and not every form is the shortest.
  const auto read = static_cast<int64_t>(number);
  std::string written;
  AppendOrderedNumber(read, &written);
  if (written != bytes) return std::nullopt;
  return read;
}

}  // namespace sonde::sql
