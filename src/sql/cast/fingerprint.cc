#include "sql/cast/fingerprint.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace sonde::sql {
namespace {

constexpr uint64_t kFirst = 0xc3a5c85c97cb3127;
constexpr uint64_t kSecond = 0xb492b66fbe98f273;
constexpr uint64_t kThird = 0x9ae16a3b2f90404f;
constexpr size_t kBlockBytes = 64;

static_assert(std::endian::native == std::endian::little);
uint64_t Load64(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}
uint64_t Load32(const char* at) {
  uint32_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

uint64_t Fold(uint64_t word) { return word ^ word >> 47; }
uint64_t Turn(uint64_t word, int bits) { return std::rotr(word, bits); }

uint64_t MixTwo(uint64_t a, uint64_t b, uint64_t factor) {
  const uint64_t first = Fold((a ^ b) * factor);
  return Fold((b ^ first) * factor) * factor;
}

uint64_t OfUpTo16(const char* at, size_t size) {
  const uint64_t factor = kThird + 2 * size;
  if (size >= 8) {
    const uint64_t a = Load64(at) + kThird;
    const uint64_t b = Load64(at + size - 8);
    return MixTwo(Turn(b, 37) * factor + a, (Turn(a, 25) + b) * factor, factor);
  }
  if (size >= 4) return MixTwo(size + (Load32(at) << 3), Load32(at + size - 4), factor);
  if (size == 0) return kThird;
  const auto byte = [&](size_t place) -> uint64_t { return static_cast<unsigned char>(at[place]); };
  const uint64_t a = byte(0) + (byte(size / 2) << 8);
  const uint64_t b = size + (byte(size - 1) << 2);
  return Fold(a * kThird ^ b * kFirst) * kThird;
}

uint64_t OfUpTo32(const char* at, size_t size) {
  const uint64_t factor = kThird + 2 * size;
  const uint64_t a = Load64(at) * kSecond;
  const uint64_t b = Load64(at + 8);
  const uint64_t c = Load64(at + size - 8) * factor;
  const uint64_t d = Load64(at + size - 16) * kThird;
  return MixTwo(Turn(a + b, 43) + Turn(c, 30) + d, a + Turn(b + kThird, 18) + c, factor);
}

uint64_t OfUpTo64(const char* at, size_t size) {
  const uint64_t factor = kThird + 2 * size;
  const uint64_t a = Load64(at) * kThird;
  const uint64_t b = Load64(at + 8);
  const uint64_t c = Load64(at + size - 8) * factor;
  const uint64_t d = Load64(at + size - 16) * kThird;
  const uint64_t first = Turn(a + b, 43) + Turn(c, 30) + d;
  const uint64_t second = MixTwo(first, a + Turn(b + kThird, 18) + c, factor);
  const uint64_t e = Load64(at + 16) * factor;
  const uint64_t f = Load64(at + 24);
  const uint64_t g = (first + Load64(at + size - 32)) * factor;
  const uint64_t h = (second + Load64(at + size - 24)) * factor;
  return MixTwo(Turn(e + f, 43) + Turn(g, 30) + h, e + Turn(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;

Pair Mix32(const char* at, uint64_t a, uint64_t b) {
  a += Load64(at);
  const uint64_t last = Load64(at + 24);
  b = Turn(b + a + last, 21);
  const uint64_t before = a;
  a += Load64(at + 8) + Load64(at + 16);
  b += Turn(a, 44);
  return {a + last, b + before};
}

// What blocks of more than kBlockBytes bytes are folded into.
struct State {
  uint64_t x = 0;
  uint64_t y = 0;
  uint64_t z = 0;
  Pair v = {0, 0};
  Pair w = {0, 0};

  // The last block is mixed with another factor, and `times` 9.
  void Mix(const char* at, uint64_t factor, uint64_t times) {
    x = Turn(x + y + v.first + Load64(at + 8), 37) * factor;
    y = Turn(y + v.second + Load64(at + 48), 42) * factor;
    x ^= w.second * times;
    y += v.first * times + Load64(at + 40);
    z = Turn(z + w.first, 33) * factor;
    v = Mix32(at, v.second * factor, x + w.first);
    w = Mix32(at + 32, z + w.second, y + Load64(at + 16));
    std::swap(z, x);
  }
};

}  // namespace

uint64_t FarmFingerprint(std::string_view bytes) {
  const char* const at = bytes.data();
  const size_t size = bytes.size();
  if (size <= 16) return OfUpTo16(at, size);
  if (size <= 32) return OfUpTo32(at, size);
  if (size <= kBlockBytes) return OfUpTo64(at, size);
  constexpr uint64_t kSeed = 81;
  State state;
  state.y = kSeed * kSecond + 113;
  state.z = Fold(state.y * kThird + 113) * kThird;
  state.x = kSeed * kThird + Load64(at);
  const size_t whole = (size - 1) / kBlockBytes * kBlockBytes;
  for (size_t place = 0; place < whole; place += kBlockBytes) state.Mix(at + place, kSecond, 1);
  const uint64_t factor = kSecond + ((state.z & 0xff) << 1);
  state.w.first += (size - 1) % kBlockBytes;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Mix(at + size - kBlockBytes, factor, 9);
  return MixTwo(MixTwo(state.v.first, state.w.first, factor) + Fold(state.y) * kFirst + state.z,
                MixTwo(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace sonde::sql
