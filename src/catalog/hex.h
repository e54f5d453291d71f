// Bytes that need not be text, in records that are.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

std::string ToHex(std::string_view bytes);
// Throws std::invalid_argument, as the JSON library does: for the inside of a record's reader.
std::string FromHex(std::string_view hex);

}  // namespace sonde
