// Bytes as text: records are JSON, and some of their bytes need not be text.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

std::string ToHex(std::string_view bytes);
// Throws std::invalid_argument, as the JSON library does; only for the inside of a record's reader.
std::string FromHex(std::string_view hex);

// A text of 16 hexadecimal digits that changes when the bytes do, in all likelihood.
std::string EtagOfBytes(std::string_view bytes);

}  // namespace sonde
