// The word that somebody may have meant who wrote another one.
//
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// The one of `words` that `word` may have been meant to be: the fewest letters put in, taken out, changed or swapped make it so, and
// no more than a third of its own.  Or it is the beginning of one.  Words of more than 64 bytes are not compared.
std::optional<std::string> NearestWord(std::string_view word, const std::vector<std::string>& words);

}  // namespace sonde
