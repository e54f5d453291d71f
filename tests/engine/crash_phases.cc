#include "crash_phases.h"

#include "fmt/format.h"

namespace sonde {

void CrashPhaseCounts::Killed(const std::vector<uint64_t>& said) {
  std::array<int64_t, kCrashPhases> under_way = {};
  for (const uint64_t word : said) {
    if ((word & kCrashPhase) == 0) continue;
    const auto phase = static_cast<size_t>(word & 255);
    const bool begins = word == PhaseWord(static_cast<CrashPhase>(phase), true);
    under_way[phase] += begins ? 1 : -1;
    begun_[phase] += begins;
  }
  bool in_none = true;
  for (int phase = 0; phase < kCrashPhases; ++phase) {
    if (under_way[phase] <= 0) continue;
    ++kills_[phase];
    in_none = false;
  }
  kills_in_none_ += in_none;
}

std::string CrashPhaseCounts::Table() const {
  constexpr const char* kNames[] = {"open", "upgrade", "flush", "compaction", "settling", "drop"};
  static_assert(std::size(kNames) == kCrashPhases);
  std::string table = fmt::format("{:12} {:>8} {:>8}\n", "killed in", "kills", "begun");
  for (int phase = 0; phase < kCrashPhases; ++phase)
    table += fmt::format("{:12} {:>8} {:>8}\n", kNames[phase], kills_[phase], begun_[phase]);
  return table + fmt::format("{:12} {:>8}\n", "none of them", kills_in_none_);
}

}  // namespace sonde
