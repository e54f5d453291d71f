// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace sonde::sql {

// The bytes before the first that is not part of a character in UTF-8; all of them: `bytes` is valid.
// Cost: eight bytes at a time where they are ASCII.
size_t ValidUtf8Bytes(std::string_view bytes);
inline bool IsUtf8(std::string_view bytes) { return ValidUtf8Bytes(bytes) == bytes.size(); }

}  // namespace sonde::sql
