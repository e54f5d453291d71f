// Random row filters of every kind, nested, over the few words that random tables are made of.
#pragma once

#include <google/bigtable/v2/data.pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace sonde {

// What tables, rows and filters are made of: few words, so that they meet often.
struct Words {
  std::vector<std::string> families;
  std::vector<std::string> row_keys;
  std::vector<std::string> qualifiers;
  std::vector<std::string> values;
  std::vector<int64_t> timestamps_micros;

  // Families "a" to "z2", keys and qualifiers with 0x00, 0xFF and newlines; timestamps in milliseconds around
  // `now_micros`, but for a few.
  static Words Make(int64_t now_micros);
};

template <typename T>
const T& AnyOf(const std::vector<T>& values, RandomSource* random) {
  return values[random->Uniform(values.size())];
}
inline bool OneIn(uint64_t count, RandomSource* random) { return random->Uniform(count) == 0; }

// Nested at most so deep.  Row samples let everything or nothing through, so that answers do not depend on
// luck.  One in some thirty is one that servers refuse.
google::bigtable::v2::RowFilter RandomFilter(const Words& words, int depth_max, RandomSource* random);

}  // namespace sonde
