#include "sql/function/utf8_check.h"

#include <cstdint>
#include <cstring>

namespace sonde::sql {
namespace {

bool Continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// The bytes of the character of which `at` is the first byte; 0: there is none.  `left`: the bytes from `at` on.
size_t Utf8CharacterBytes(const unsigned char* at, size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4 || left < 2 || !Continues(at[1])) return 0;
  if (lead < 0xe0) return 2;
  if (left < 3 || !Continues(at[2])) return 0;
  if (lead < 0xf0) {
    const bool too_long = lead == 0xe0 && at[1] < 0xa0;
    const bool surrogate = lead == 0xed && at[1] >= 0xa0;
    return too_long || surrogate ? 0 : 3;
  }
  const bool too_long = lead == 0xf0 && at[1] < 0x90;
  const bool too_large = lead == 0xf4 && at[1] >= 0x90;
  return left < 4 || !Continues(at[3]) || too_long || too_large ? 0 : 4;
}

}  // namespace

size_t ValidUtf8Bytes(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t place = 0;
  while (place < bytes.size()) {
    uint64_t eight = 0;
    while (place + sizeof(eight) <= bytes.size()) {
      std::memcpy(&eight, data + place, sizeof(eight));
      if ((eight & 0x8080808080808080) != 0) break;
      place += sizeof(eight);
    }
    if (place == bytes.size()) break;
    const size_t character = Utf8CharacterBytes(data + place, bytes.size() - place);
    if (character == 0) break;
    place += character;
  }
  return place;
}

}  // namespace sonde::sql
