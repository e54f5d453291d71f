// A row filter as the client asked for it (google.bigtable.v2.RowFilter), without protocol buffers.  `filter`
// compiles it.  Source: the comments of data.proto give the meaning of each kind.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/mutation.h"

namespace sonde {

// A bound of a range of byte strings.
struct Bound {
  enum class Kind : uint8_t { kUnbounded, kClosed, kOpen };
  Kind kind = Kind::kUnbounded;
  std::string value;
  bool operator==(const Bound&) const = default;
};

struct FilterSpec {
  struct PassAll {};
  struct BlockAll {};
  struct Sink {};
  struct StripValue {};
  struct Chain {
    std::vector<FilterSpec> filters;
  };
  struct Interleave {
    std::vector<FilterSpec> filters;
  };
  // A branch that is missing gives no cells.
  struct Condition {
    std::shared_ptr<const FilterSpec> predicate;  // never null
    std::shared_ptr<const FilterSpec> true_filter;
    std::shared_ptr<const FilterSpec> false_filter;
  };
  // Patterns are RE2, Latin-1, and match whole strings.
  struct RowKeyRegex {
    std::string pattern;
  };
  struct FamilyRegex {
    std::string pattern;
  };
  struct QualifierRegex {
    std::string pattern;
  };
  struct ValueRegex {
    std::string pattern;
  };
  struct RowSample {
    double probability = 0;
  };
  struct ColumnRange {
    std::string family;
    Bound start, end;
  };
  struct TimestampRange {
    TimeRange range;
  };
  struct ValueRange {
    Bound start, end;
  };
  struct ValueBitmask {
    std::string mask;
  };
  struct CellsPerRowOffset {
    int32_t count = 0;
  };
  struct CellsPerRowLimit {
    int32_t count = 0;
  };
  struct CellsPerColumnLimit {
    int32_t count = 0;
  };
  struct ApplyLabel {
    std::string label;
  };

  std::variant<PassAll, BlockAll, Sink, StripValue, Chain, Interleave, Condition, RowKeyRegex, FamilyRegex,
               QualifierRegex, ValueRegex, RowSample, ColumnRange, TimestampRange, ValueRange, ValueBitmask,
               CellsPerRowOffset, CellsPerRowLimit, CellsPerColumnLimit, ApplyLabel>
      filter;
};

}  // namespace sonde
