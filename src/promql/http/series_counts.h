// How many series there are, by metric, label and value: which labels cost most.
//
// A series of Prometheus' is an entity and a field.  Where two series of Sonde have one metric with the same labels, both count.
//
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "rows/held_memory.h"

namespace sonde::promql {

struct NamedCount {
  std::string name;
  uint64_t count = 0;
};

class SeriesCounts {
 public:
  // `hold` must outlive this; it is told about what the names and values take.
  explicit SeriesCounts(const rows::Hold& hold) : memory_(hold) {}

  // So many series have this label with this value.  Errors: those of `hold`; some of them count then.
  absl::Status AddValue(std::string_view label, std::string_view value, uint64_t series);
  void AddSeries(uint64_t series) { series_ += series; }

  uint64_t series() const { return series_; }
  // Pairs of a label and a value that differ.
  uint64_t label_pairs() const { return label_pairs_; }

  // At most `limit` of each, the largest first, of equal ones by name.
  std::vector<NamedCount> SeriesByMetric(size_t limit) const;
  std::vector<NamedCount> ValuesByLabel(size_t limit) const;
  // The bytes of the values, each as often as a series has it.
  std::vector<NamedCount> BytesByLabel(size_t limit) const;
  // NAME=VALUE
  std::vector<NamedCount> SeriesByPair(size_t limit) const;

 private:
  using Values = absl::flat_hash_map<std::string, uint64_t>;  // how many series have each

  uint64_t series_ = 0;
  uint64_t label_pairs_ = 0;
  absl::flat_hash_map<std::string, Values> values_of_;  // by label
  rows::HeldMemory memory_;
};

}  // namespace sonde::promql
