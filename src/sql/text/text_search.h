// Finds a text in another one.
#pragma once

#include <string.h>

#include <cstddef>
#include <string_view>

namespace sonde::sql {

// The place at or behind `from` where `sought` stands in `text`; npos: nowhere.  An empty text stands everywhere, also at the end.
// Cost: linear, which std::string_view::find is not.
inline size_t FindText(std::string_view text, std::string_view sought, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (sought.empty()) return from;
  if (sought.size() == 1) return text.find(sought.front(), from);
  if (from == text.size()) return std::string_view::npos;
  const void* const found = memmem(text.data() + from, text.size() - from, sought.data(), sought.size());
  return found == nullptr ? std::string_view::npos : static_cast<const char*>(found) - text.data();
}

}  // namespace sonde::sql
