// Integers in 1 to 10 bytes, whose order is that of the integers; the closer to 0, the fewer bytes.
//
// Format: an integer in [-2^(7n-1), 2^(7n-1)) takes n bytes: its n bytes in two's complement, big-endian, of which the
//   first n bits are turned over.  So a positive one begins with n ones and a zero, a negative one the other way round.
//   Only the shortest form is one.
// Source: sql.md 2.8; the vectors there are those of google/orderedcode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::sql {

void AppendOrderedNumber(int64_t number, std::string* out);
// The bytes that the number takes with which `bytes` begin; nothing: they begin with none, or with a part of one.
std::optional<size_t> OrderedNumberBytes(std::string_view bytes);
// Nothing: the bytes are no number, or more than one.
std::optional<int64_t> ReadOrderedNumber(std::string_view bytes);

}  // namespace sonde::sql
