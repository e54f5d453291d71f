// A compiled filter: a tree in an array, checked.  For this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "filter/byte_range.h"
#include "filter/filter_budget.h"
#include "filter/filter_cell.h"
#include "filter/regex_matcher.h"
#include "model/mutation.h"

namespace sonde {

using NodeIndex = uint32_t;
constexpr NodeIndex kNoNode = UINT32_MAX;

struct FilterNode {
  enum class Kind : uint8_t {
    kPassAll,
    kBlockAll,
    kSink,
    kStripValue,
    kChain,
    kInterleave,
    kCondition,
    kRowKeyRegex,
    kFamilyRegex,
    kQualifierRegex,
    kValueRegex,
    kRowSample,
    kColumnRange,
    kTimestampRange,
    kValueRange,
    kValueBitmask,
    kCellsPerRowOffset,
    kCellsPerRowLimit,
    kCellsPerColumnLimit,
    kApplyLabel,
  };

  Kind kind = Kind::kPassAll;
  bool has_sink = false;            // this node or one below is a sink
  bool has_label = false;           // this node or one below is a label
  bool depends_on_row_key = false;  // this node or one below may block a whole row
  std::vector<NodeIndex> children;  // kChain, kInterleave; kCondition: predicate, true, false (or kNoNode)
  std::shared_ptr<const RegexMatcher> matcher;  // the compiled regex; nodes with the same pattern share one
  std::string text;                             // kColumnRange: family; kValueBitmask: mask
  ByteRange range;                              // kColumnRange, kValueRange
  TimeRange time_range;                         // kTimestampRange
  int64_t count = 0;                            // kCellsPer...
  double probability = 0;                       // kRowSample
  uint32_t label = kNoLabel;                    // kApplyLabel

  // Units of work to compare a cell's bytes with the filter's.
  uint64_t CompareUnits() const {
    return (text.size() + range.start.size() + (range.end.has_value() ? range.end->size() : 0)) /
           kComparedBytesPerUnit;
  }
};

}  // namespace sonde
