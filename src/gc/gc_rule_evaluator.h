// Decides which cells of a family a garbage-collection rule keeps.
//
// Meaning.  A cell has a rank in its column: 0 for the newest, counted over all stored cells of the column,
// kept or not.
//  MaxVersions n  forgets cells of rank >= n.
//  MaxAge a       forgets cells older than `a`: timestamp < now - a; a cell exactly `a` old is kept.
//  Intersection   forgets a cell if all of its rules forget it.
//  Union          forgets a cell if any of its rules forgets it.
// An empty intersection or union forgets nothing, nor does a rule that is not set.
//
// Every rule is monotone: once a cell of a column is forgotten, so are all older ones.  So a rule is a
// staircase: it has, for each rank, the newest timestamp that it forgets, which never falls as the rank
// grows.  The staircase is what is compiled.  MaxVersions, MaxAge and an intersection of the two are one
// step; a union of the two is two steps.
//
// Threads: const functions may be called by several at once. Cost: a copy is cheap; up to two steps it
// allocates nothing.
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
  // A rule that keeps everything.
  GcRuleEvaluator() = default;

  // `rule` must have passed CheckGcRule.  It is not used after this.
  GcRuleEvaluator(const GcRule& rule, int64_t now_micros);

  bool KeepsEverything() const { return count_ == 0; }

  // Once it is false for a cell of a column, it is false for all cells after it, so callers may leave the
  // column.
  bool Keeps(int64_t rank, int64_t timestamp_micros) const {
    for (uint32_t i = 0; i < count_; ++i) {
      const Step& step = StepAt(i);
      if (rank < step.rank) return true;
      if (timestamp_micros <= step.newest_forgotten_micros) return false;
    }
    return true;
  }

  // The least rank of which every cell is forgotten, whatever its timestamp.
  std::optional<int64_t> VersionsMax() const;

  // Every cell older than this timestamp is forgotten, whatever its rank.
  std::optional<int64_t> OldestKeptMicros() const;

  // Whether a cell's fate may depend on newer cells of its column.  If so, a reader must see those as well.
  bool DependsOnRank() const;

  // Removes the forgotten cells from the cells of a family of a row, in place.  Cells must come with
  // qualifiers ascending, timestamps descending.  The rest of a column is skipped without a look at each
  // cell.  If a family comes in pieces, `kept_before` is how many cells of the piece's first column were kept
  // in the pieces before it.
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

// Makes the hints of a filter fit for a read that applies garbage collection first.  `rules` are the rules of
// all families that are read.  It adds the rules' own bounds to the hints.  It takes back the upper end of
// the time range if a rule counts versions, as the newer cells give the older ones their ranks.
void RefineReadHints(const std::vector<GcRuleEvaluator>& rules, ReadHints* hints);

}  // namespace sonde
