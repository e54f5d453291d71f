// What a writer was at when it was killed: it says when each kind of work begins and ends, among the words by
// which it acknowledges batches (crash_ledger.h).
//
// Several works of a kind may be under way at once.  A kill falls into a kind if more began than ended.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

enum class CrashPhase { kOpen, kUpgrade, kFlush, kCompaction, kSettling, kDrop };
constexpr int kCrashPhases = 6;

// This bit says that a word is about a phase, and acknowledges nothing.
constexpr uint64_t kCrashPhase = uint64_t{1} << 62;
constexpr uint64_t PhaseWord(CrashPhase phase, bool begins) {
  return kCrashPhase | (begins ? 256u : 0u) | static_cast<uint64_t>(phase);
}

class CrashPhaseCounts {
 public:
  // All that one writer said until it was killed.
  void Killed(const std::vector<uint64_t>& said);
  uint64_t kills_count(CrashPhase phase) const { return kills_[static_cast<int>(phase)]; }
  uint64_t begun_count(CrashPhase phase) const { return begun_[static_cast<int>(phase)]; }

  // A line a phase: how many kills fell into it, and how often it began at all.
  std::string Table() const;

 private:
  std::array<uint64_t, kCrashPhases> kills_ = {}, begun_ = {};
  uint64_t kills_in_none_ = 0;
};

}  // namespace sonde
