// What RE2 may need to compile a pattern, told from the pattern's text before RE2 sees it: RE2 looks at its
// memory only when it has parsed a pattern and spelled out its repetitions, and 20 kB of "a{0,1000}" take
// 264 MB by then, of "\pL" a third of a second.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

// About how many bytes, rather too many than too few; never past kRegexCostMax.  Any bytes are a pattern:
// whether RE2 takes it is not told.
constexpr int64_t kRegexCostMax = int64_t{1} << 40;
int64_t RegexCost(std::string_view pattern);

}  // namespace sonde
