#include "base/wide_int.h"

#include <fmt/format.h>

#include <sstream>

namespace sonde {

std::string IntText(absl::int128 number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

absl::Status LeavesInt(absl::int128 number, std::string_view what) {
  return absl::OutOfRangeError(fmt::format("{}: {} leaves the 64 bits of an int", what, IntText(number)));
}

}  // namespace sonde
