// Makes patterns that match given bytes and nothing else.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Returns a pattern (RE2, Latin-1) that matches exactly these bytes.
std::string QuoteRegex(std::string_view bytes);

}  // namespace sonde
