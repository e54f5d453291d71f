#include "hll/fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace sonde {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read little-endian");

constexpr uint64_t kPrime0 = 0xa5b85c5e198ed849;
constexpr uint64_t kPrime1 = 0x8d58ac26afe12e47;
constexpr uint64_t kPrime2 = 0xc47b6e9e3a970ed3;
constexpr uint64_t kPrime3 = 0xc6a4a7935bd1e995;

uint64_t Word(std::string_view bytes, size_t offset) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

constexpr uint64_t Mix(uint64_t value) { return value ^ (value >> 47); }

constexpr uint64_t Join(uint64_t high, uint64_t low) {
  const uint64_t a = Mix((low ^ high) * kPrime3);
  return Mix((high ^ a) * kPrime3) * kPrime3;
}

// Up to 32 bytes: Murmur.
uint64_t HashShort(std::string_view bytes) {
  uint64_t hash = (kPrime0 ^ kPrime1 ^ kPrime2) ^ (bytes.size() * kPrime3);
  const auto take = [&hash](uint64_t data) { hash = (hash ^ data) * kPrime3; };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) take(Mix(Word(bytes, at) * kPrime3) * kPrime3);
  if (at < bytes.size()) {
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    take(rest);
  }
  return Mix(Mix(hash) * kPrime3);
}

// Half of what 33 to 64 bytes hash to.
std::pair<uint64_t, uint64_t> HashHalf(uint64_t first, uint64_t second, uint64_t third, uint64_t last,
                                       uint64_t seed) {
  uint64_t a = first + seed;
  uint64_t b = std::rotr(a + last, 52);
  uint64_t c = std::rotr(a, 37);
  a += second;
  c += std::rotr(a, 7);
  a += third;
  return {a + last, b + std::rotr(a, 31) + c};
}

uint64_t HashMedium(std::string_view bytes) {
  const size_t size = bytes.size();
  const auto [v_first, v_second] = HashHalf(Word(bytes, 0), Word(bytes, 8), Word(bytes, 16), Word(bytes, 24),
                                            (size + Word(bytes, size - 16)) * kPrime0);
  const auto [w_first, w_second] = HashHalf(Word(bytes, 16), Word(bytes, size - 24), Word(bytes, size - 16),
                                            Word(bytes, size - 8), Word(bytes, size - 32));
  const uint64_t r = Mix((v_first + w_second) * kPrime2 + (w_first + v_second) * kPrime0);
  return Mix(r * kPrime0 + v_second) * kPrime2;
}

struct Pair {
  uint64_t first = 0;
  uint64_t second = 0;
};

// Hashes the 32 bytes at `offset`.
Pair HashBlock(std::string_view bytes, size_t offset, uint64_t seed_a, uint64_t seed_b) {
  const uint64_t last = Word(bytes, offset + 24);
  uint64_t a = seed_a + Word(bytes, offset);
  uint64_t b = std::rotr(seed_b + a + last, 51);
  const uint64_t c = a;
  a += Word(bytes, offset + 8);
  a += Word(bytes, offset + 16);
  b += std::rotr(a, 23);
  return {a + last, b + c};
}

// More than 64 bytes: the end first, then from the front in steps of 64.
uint64_t HashLong(std::string_view bytes) {
  const size_t size = bytes.size();
  uint64_t x = Word(bytes, 0);
  uint64_t y = Word(bytes, size - 16) ^ kPrime1;
  uint64_t z = Word(bytes, size - 56) ^ kPrime0;
  Pair v = HashBlock(bytes, size - 64, size, y);
  Pair w = HashBlock(bytes, size - 32, size * kPrime1, kPrime0);
  z += Mix(v.second) * kPrime1;
  x = std::rotr(z + x, 39) * kPrime1;
  y = std::rotr(y, 33) * kPrime1;
  const size_t end = (size - 1) & ~size_t{63};
  for (size_t at = 0; at < end; at += 64) {
    x = std::rotr(x + y + v.first + Word(bytes, at + 16), 37) * kPrime1;
    y = std::rotr(y + v.second + Word(bytes, at + 48), 42) * kPrime1;
    x ^= w.second;
    y ^= v.first;
    z = std::rotr(z ^ w.first, 33);
    v = HashBlock(bytes, at, v.second * kPrime1, x + w.first);
    w = HashBlock(bytes, at + 32, z + w.second, y);
    std::swap(z, x);
  }
  return Join(Join(v.first, w.first) + Mix(y) * kPrime1 + z, Join(v.second, w.second) + x);
}

}  // namespace

uint64_t Fingerprint2011(std::string_view bytes) {
  const size_t size = bytes.size();
  const uint64_t hash = size <= 32 ? HashShort(bytes) : size <= 64 ? HashMedium(bytes) : HashLong(bytes);
  const uint64_t first = size >= 8 ? Word(bytes, 0) : kPrime0;
  const uint64_t last = size >= 9 ? Word(bytes, size - 8) : kPrime0;
  const uint64_t result = Join(hash + last, first);
  return result <= 1 ? result - 2 : result;  // 0 and 1 are kept free
}

uint64_t Fingerprint2011(int64_t value) {
  return Fingerprint2011(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
}

}  // namespace sonde
