#include "sql/cast/digest.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sonde::sql {
namespace {

// A block hash: Block::Word, kRounds..., a state that Add folds blocks into.  The message ends with a bit, zeros, and its length.
template <typename Block>
std::string Digest(std::string_view bytes) {
  constexpr size_t kBlockBytes = 16 * sizeof(typename Block::Word);
  constexpr size_t kLengthBytes = 2 * sizeof(typename Block::Word);
  Block block;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlockBytes; bytes.remove_prefix(kBlockBytes)) block.Add(bytes.data());
  std::string rest(bytes);
  rest += '\x80';
  while (rest.size() % kBlockBytes != kBlockBytes - kLengthBytes) rest += '\0';
  for (size_t i = 0; i < kLengthBytes; ++i) {
    const size_t place = Block::kLittleEndian ? i : kLengthBytes - 1 - i;
    rest += place < sizeof(bits) ? static_cast<char>(bits >> (8 * place)) : '\0';
  }
  for (size_t at = 0; at < rest.size(); at += kBlockBytes) block.Add(rest.data() + at);
  return block.Result();
}

template <typename Word, bool kLittle>
Word Load(const char* bytes) {
  Word word = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) {
    const size_t place = kLittle ? sizeof(Word) - 1 - i : i;
    word = static_cast<Word>(word << 8 | static_cast<unsigned char>(bytes[place]));
  }
  return word;
}

template <typename Word, bool kLittle, size_t kWords>
std::string Store(const std::array<Word, kWords>& state) {
  std::string bytes;
  for (const Word word : state) {
    for (size_t i = 0; i < sizeof(Word); ++i) {
      bytes += static_cast<char>(word >> 8 * (kLittle ? i : sizeof(Word) - 1 - i));
    }
  }
  return bytes;
}

// The first bits of the fraction of a root of a prime, which are the constants of SHA-2.
template <typename Word>
Word RootBits(unsigned prime, int root) {
  // Long division in integers: the greatest x with x^root <= prime * 2^(root * bits).
  constexpr int kBits = sizeof(Word) * 8;
  Word fraction = 0;
  const auto whole = static_cast<unsigned>(root == 2 ? std::sqrt(prime) : std::cbrt(prime));
  for (int bit = kBits - 1; bit >= 0; --bit) {
    const Word tried = fraction | Word{1} << bit;
    // (whole + tried / 2^bits)^root <= prime, in words of 32 bits.
    std::array<uint64_t, 16> power = {1};
    const std::array<uint32_t, 3> factor = {
        static_cast<uint32_t>(tried),
        static_cast<uint32_t>(kBits == 64 ? static_cast<uint64_t>(tried) >> 32 : whole),
        kBits == 64 ? whole : 0};
    for (int i = 0; i < root; ++i) {
      std::array<uint64_t, 16> product = {};
      for (size_t a = 0; a < power.size(); ++a) {
        uint64_t carry = 0;
        for (size_t b = 0; b < factor.size() && a + b < product.size(); ++b) {
          const uint64_t sum = product[a + b] + power[a] * factor[b] + carry;
          product[a + b] = sum & 0xffffffff;
          carry = sum >> 32;
        }
        if (a + factor.size() < product.size()) product[a + factor.size()] += carry;
      }
      power = product;
    }
    const size_t point = static_cast<size_t>(root) * kBits / 32;
    uint64_t integer = power[point];
    bool has_fraction = false;
    for (size_t i = 0; i < point; ++i) has_fraction = has_fraction || power[i] != 0;
    if (integer < prime || (integer == prime && !has_fraction)) fraction = tried;
  }
  return fraction;
}

constexpr size_t kPrimes = 80;
std::array<unsigned, kPrimes> FirstPrimes() {
  std::array<unsigned, kPrimes> primes = {};
  size_t count = 0;
  for (unsigned number = 2; count < kPrimes; ++number) {
    bool is_prime = true;
    for (size_t i = 0; i < count && is_prime; ++i) is_prime = number % primes[i] != 0;
    if (is_prime) primes[count++] = number;
  }
  return primes;
}

class Md5Block {
 public:
  using Word = uint32_t;
  static constexpr bool kLittleEndian = true;

  void Add(const char* bytes) {
    static constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    auto [a, b, c, d] = state_;
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned round = i / 16;
      const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                             : round == 1 ? (d & b) | (~d & c)
                             : round == 2 ? b ^ c ^ d
                                          : c ^ (b | ~d);
      static constexpr unsigned kSteps[] = {1, 5, 3, 7};
      static constexpr unsigned kStarts[] = {0, 1, 5, 0};
      const unsigned word = (kSteps[round] * i + kStarts[round]) % 16;
      const uint32_t sum = a + mixed + Constants()[i] + Load<uint32_t, true>(bytes + 4 * word);
      a = d;
      d = c;
      c = b;
      b += std::rotl(sum, kTurns[round][i % 4]);
    }
    state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d};
  }
  std::string Result() const { return Store<uint32_t, true>(state_); }

 private:
  static const std::array<uint32_t, 64>& Constants() {
    static const std::array<uint32_t, 64> sines = [] {
      std::array<uint32_t, 64> made;
      for (size_t i = 0; i < made.size(); ++i) {
        made[i] = static_cast<uint32_t>(std::floor(std::abs(std::sin(static_cast<double>(i) + 1)) * 0x1p32));
      }
      return made;
    }();
    return sines;
  }

  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
};

class Sha1Block {
 public:
  using Word = uint32_t;
  static constexpr bool kLittleEndian = false;

  void Add(const char* bytes) {
    std::array<uint32_t, 80> words;
    for (size_t i = 0; i < 16; ++i) words[i] = Load<uint32_t, false>(bytes + 4 * i);
    for (size_t i = 16; i < 80; ++i) {
      words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    }
    auto [a, b, c, d, e] = state_;
    for (size_t i = 0; i < 80; ++i) {
      static constexpr uint32_t kConstants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
      const uint32_t mixed = i < 20              ? (b & c) | (~b & d)
                             : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                                 : b ^ c ^ d;
      const uint32_t sum = std::rotl(a, 5) + mixed + e + kConstants[i / 20] + words[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = sum;
    }
    state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d, state_[4] + e};
  }
  std::string Result() const { return Store<uint32_t, false>(state_); }

 private:
  std::array<uint32_t, 5> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

// The turns and shifts of SHA-2, in the order of the standard: big sigmas 0 and 1, small sigmas 0 and 1.
struct Turns32 {
  static constexpr int kBig0[] = {2, 13, 22};
  static constexpr int kBig1[] = {6, 11, 25};
  static constexpr int kSmall0[] = {7, 18, 3};
  static constexpr int kSmall1[] = {17, 19, 10};
};
struct Turns64 {
  static constexpr int kBig0[] = {28, 34, 39};
  static constexpr int kBig1[] = {14, 18, 41};
  static constexpr int kSmall0[] = {1, 8, 7};
  static constexpr int kSmall1[] = {19, 61, 6};
};

template <typename W, typename Turns, size_t kRounds>
class Sha2Block {
 public:
  using Word = W;
  static constexpr bool kLittleEndian = false;

  Sha2Block() : state_(Constants().start) {}

  void Add(const char* bytes) {
    std::array<Word, kRounds> words;
    for (size_t i = 0; i < 16; ++i) words[i] = Load<Word, false>(bytes + sizeof(Word) * i);
    for (size_t i = 16; i < kRounds; ++i) {
      words[i] = words[i - 16] + Small(words[i - 15], Turns::kSmall0) + words[i - 7] +
                 Small(words[i - 2], Turns::kSmall1);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (size_t i = 0; i < kRounds; ++i) {
      const Word first = h + Big(e, Turns::kBig1) + ((e & f) ^ (~e & g)) + Constants().rounds[i] + words[i];
      const Word second = Big(a, Turns::kBig0) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<Word, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < added.size(); ++i) state_[i] += added[i];
  }
  std::string Result() const { return Store<Word, false>(state_); }

 private:
  struct Roots {
    std::array<Word, 8> start;
    std::array<Word, kRounds> rounds;
  };
  static const Roots& Constants() {
    static const Roots roots = [] {
      Roots made;
      const std::array<unsigned, kPrimes> primes = FirstPrimes();
      for (size_t i = 0; i < made.start.size(); ++i) made.start[i] = RootBits<Word>(primes[i], 2);
      for (size_t i = 0; i < kRounds; ++i) made.rounds[i] = RootBits<Word>(primes[i], 3);
      return made;
    }();
    return roots;
  }
  static Word Big(Word word, const int* turns) {
    return std::rotr(word, turns[0]) ^ std::rotr(word, turns[1]) ^ std::rotr(word, turns[2]);
  }
  static Word Small(Word word, const int* turns) {
    return std::rotr(word, turns[0]) ^ std::rotr(word, turns[1]) ^ word >> turns[2];
  }

  std::array<Word, 8> state_;
};

}  // namespace

std::string Md5(std::string_view bytes) { return Digest<Md5Block>(bytes); }
std::string Sha1(std::string_view bytes) { return Digest<Sha1Block>(bytes); }
std::string Sha256(std::string_view bytes) { return Digest<Sha2Block<uint32_t, Turns32, 64>>(bytes); }
std::string Sha512(std::string_view bytes) { return Digest<Sha2Block<uint64_t, Turns64, 80>>(bytes); }

}  // namespace sonde::sql
