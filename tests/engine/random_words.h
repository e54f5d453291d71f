// Random deltas, ranges and hints over a small set of hostile keys, qualifiers and timestamps: prefixes of
// each other, 0x00 and 0xFF bytes, the longest allowed, the largest numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

struct HistoryFamily {
  FamilyId id = 0;
  AggregateKind aggregate = AggregateKind::kNone;
};

class RandomWords {
 public:
  explicit RandomWords(RandomSource* random) : random_(random) {}

  bool OneIn(uint64_t count) { return random_->Uniform(count) == 0; }
  uint64_t Uniform(uint64_t bound) { return random_->Uniform(bound); }

  std::string_view RowKey();
  std::string_view Qualifier();
  int64_t TimestampMicros();

  // A delta of one to three of `families`, as `mutation` would make it.  Views into `values` and constants.
  RowDelta Delta(const std::vector<HistoryFamily>& families, std::deque<std::string>* values);

  RowRange Range();
  // Normal form; sometimes none.
  std::vector<RowRange> Ranges();
  // Each hint at random.
  ReadHints Hints(const std::vector<HistoryFamily>& families);

 private:
  std::string Value();
  FamilyDelta OfFamily(const HistoryFamily& family, std::deque<std::string>* values);
  std::vector<FamilyDelta::ColumnDelete> ColumnDeletes();
  void PutsAndAdds(std::deque<std::string>* values, FamilyDelta* delta);

  RandomSource* const random_;
};

}  // namespace sonde
