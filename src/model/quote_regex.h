// Bytes as a pattern that matches them and nothing else.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// A pattern (RE2, Latin-1) that matches exactly these bytes.
std::string QuoteRegex(std::string_view bytes);

}  // namespace sonde
