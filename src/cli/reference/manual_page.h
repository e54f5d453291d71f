// A program's manual page, in roff with the macros `man` (section 1): every command with its options, as --help has them.
#pragma once

#include <string>
#include <string_view>

#include "cli/reference/command_tree.h"

namespace sonde {

// `version`: of the program, shown at the foot of the page.
std::string ManualPage(const CommandEntry& root, std::string_view version);

// Text as roff shows it literally: backslashes, dashes, quotes, and what would be a request at the start of a line.
std::string RoffEscaped(std::string_view text);

}  // namespace sonde
