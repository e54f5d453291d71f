#include "base/crc32c.h"

#include <array>
#include <cstring>

namespace sonde {
namespace {

constexpr uint32_t kPolynomialReversed = 0x82F63B78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) * kPolynomialReversed);
    table[byte] = crc;
  }
  return table;
}

uint32_t ExtendByTable(uint32_t state, std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  for (const char c : bytes) state = kTable[(state ^ static_cast<unsigned char>(c)) & 0xFF] ^ (state >> 8);
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendByInstruction(uint32_t state, std::string_view bytes) {
  uint64_t wide = state;
  for (; bytes.size() >= sizeof(uint64_t); bytes.remove_prefix(sizeof(uint64_t))) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<uint32_t>(wide);
  for (const char c : bytes) state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(c));
  return state;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~ExtendByInstruction(~before, bytes);
#endif
  return ~ExtendByTable(~before, bytes);
}

}  // namespace sonde
