// Aggregates: the states of one aggregate for many groups, by number.
//
// Threads: an aggregator belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

class Aggregator {
 public:
  virtual ~Aggregator() = default;

  // New groups are empty.
  virtual void Resize(size_t groups) = 0;
  // Adds row i of `arguments` to groups[i].  Arguments that are the same for all rows by the function's signature
  // (the delimiter of STRING_AGG) are constant columns.  Errors: those of the values (OUT_OF_RANGE).
  virtual absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) = 0;
  // Adds all rows to one group.  For sorted input; worth a loop of its own where the aggregate is hot.
  virtual absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) {
    const std::vector<uint32_t> groups(rows, group);
    return Add(arguments, groups);
  }
  // As if all rows of a group of `other` had been added to `group`, behind its own.  `other` was made by the same factory.
  virtual absl::Status Merge(uint32_t group, const Aggregator& other, uint32_t other_group) = 0;
  // The results of groups [first, first + count).  They hold as long as `arena` and this.
  virtual absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) = 0;
  // Makes a group empty again.
  virtual void Clear(uint32_t group) = 0;
  // About, of all that it holds.
  virtual size_t MemoryBytes() const = 0;
  // Appends a group's state as bytes, and merges such bytes into a group: for states on disk.
  // Load: DATA_LOSS: the bytes are none that Save made.
  virtual void Save(uint32_t group, std::string* bytes) const = 0;
  virtual absl::Status Load(uint32_t group, std::string_view bytes) = 0;
};

// What an aggregator is made for.
struct AggregateSite {
  std::vector<Type> argument_types;
  Type result_type;
  const StatementFacts* facts = nullptr;  // not owned
};

using AggregatorFactory = std::unique_ptr<Aggregator> (*)(const AggregateSite& site);

}  // namespace sonde::sql
