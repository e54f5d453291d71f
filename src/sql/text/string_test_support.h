// Texts for tests of functions of strings.
#pragma once

#include <cstddef>
#include <random>
#include <string>

#include "sql/function/utf8.h"

namespace sonde::sql {

// At most so many characters of one to four bytes, few different ones, ASCII in runs.
inline std::string RandomText(std::mt19937_64& random, size_t characters_max) {
  static constexpr CodePoint kOthers[] = {0xe9, 0xdf, 0x3a3, 0x301, 0x65e5, 0x1f600};
  std::string text;
  size_t count = random() % (characters_max + 1);
  while (count > 0) {
    const bool is_ascii = random() % 3 != 0;
    size_t run = is_ascii ? 1 + random() % 12 : 1;
    for (; run > 0 && count > 0; --run, --count) {
      AppendCharacter(is_ascii ? 'a' + random() % 3 : kOthers[random() % std::size(kOthers)], &text);
    }
  }
  return text;
}

}  // namespace sonde::sql
