// Estimates from a pattern's text how much memory RE2 may need to compile it, before RE2 sees it.  RE2 looks
// at its memory only after it has parsed a pattern and spelled out its repetitions.  By then 20 kB of
// "a{0,1000}" take 264 MB, and 20 kB of "\pL" a third of a second.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

// Returns about how many bytes RE2 needs: rather too many than too few, and at most kRegexCostMax.  Any bytes
// are a pattern here; the result does not tell whether RE2 accepts it.
constexpr int64_t kRegexCostMax = int64_t{1} << 40;
int64_t RegexCost(std::string_view pattern);

}  // namespace sonde
