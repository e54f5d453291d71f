// Decides which cells of a family a garbage-collection rule keeps.
//
// Meaning.  A cell has a rank in its column: 0 for the newest, counted over all cells of the column that are
// stored, kept or not.  MaxVersions n forgets rank >= n.  MaxAge a forgets a cell that is more than `a` old:
// timestamp < now - a; a cell exactly `a` old is kept.  Intersection forgets what all of its rules forget,
// Union what any forgets; an empty one, and a rule that is not set, forgets nothing.
//
// Every rule is monotone: once a cell of a column is forgotten, so are all older ones.  So a rule is a
// staircase: for each rank, the newest timestamp that it forgets, which never falls as the rank grows.  That
// is what is compiled; MaxVersions and MaxAge, and an intersection of the two, are one step, a union of the
// two is two.
//
// Threads: const functions may be called by several at once.  Copies are cheap (no allocation up to two
// steps).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/cell.h"
#include "model/gc_rule.h"
#include "model/read_hints.h"

namespace sonde {

class GcRuleEvaluator {
 public:
  // Keeps everything.
  GcRuleEvaluator() = default;

  // `rule` passed CheckGcRule; it is not used after this.
  GcRuleEvaluator(const GcRule& rule, int64_t now_micros);

  bool KeepsEverything() const { return count_ == 0; }

  // Once false for a cell of a column, false for all cells after it: callers may leave the column.
  bool Keeps(int64_t rank, int64_t timestamp_micros) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Step& step = StepAt(i);
      if (rank < step.rank) return true;
      if (timestamp_micros <= step.newest_forgotten_micros) return false;
    }
    return true;
  }

  // Every cell of this rank or more is forgotten, whatever its timestamp.
  std::optional<int64_t> VersionsMax() const;

  // Every cell older than this is forgotten, whatever its rank.
  std::optional<int64_t> OldestKeptMicros() const;

  // True if a cell's fate may depend on newer cells of its column: whoever reads must then see those as well.
  bool DependsOnRank() const;

  // Removes what is forgotten from all cells of a family of a row, in place: qualifier ascending, timestamp
  // descending.  Skips the rest of a column without looking at each of its cells.  When a family comes in
  // pieces, `kept_before` is how many cells of the piece's first column were kept in the pieces before it.
  void Filter(std::vector<CellView>* cells, int64_t kept_before = 0) const;

 private:
  // For ranks from `rank` to the next step's, cells up to this timestamp, inclusive, are forgotten.
  struct Step {
    int64_t rank = 0;
    int64_t newest_forgotten_micros = 0;
  };
  using Steps = std::vector<Step>;  // both members strictly ascending
  static constexpr uint32_t kInlineSteps = 2;

  static Steps Compile(const GcRule& rule, int64_t now_micros);
  static Steps Combine(const Steps& a, const Steps& b, bool both);

  const Step& StepAt(uint32_t i) const {
    return i < kInlineSteps ? inline_steps_[i] : more_steps_[i - kInlineSteps];
  }

  uint32_t count_ = 0;
  std::array<Step, kInlineSteps> inline_steps_;
  Steps more_steps_;
};

// Makes the hints of a filter fit for a read that applies garbage collection first.  `rules` are those of all
// families that are read.  Adds what the rules forget anyway.  Takes back the upper end of the time range
// when a rule counts versions: the newer cells give the older ones their ranks.
void RefineReadHints(const std::vector<GcRuleEvaluator>& rules, ReadHints* hints);

}  // namespace sonde
