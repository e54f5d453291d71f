// The conditions of bindings: a part of CEL.
//
//   request.time < timestamp("2026-01-01T00:00:00Z")     also <=, >, >=, ==, !=
//   resource.name == "TEXT"                              also !=; resource.type likewise
//   resource.name.startsWith("TEXT")                     also endsWith; resource.type likewise
//   A && B, A || B, !A, (A)
//
// Anything else is refused when a policy is set, so that no condition is ignored when it is asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

constexpr size_t kConditionBytesMax = 2048;
constexpr int kConditionDepthMax = 16;

// The facts that a condition is asked about.
struct ConditionFacts {
  absl::Time now;
  std::string_view resource_name;
  std::string_view resource_type;
};

// Immutable.
class Condition {
 public:
  // INVALID_ARGUMENT: the text is not of the form above, longer than kConditionBytesMax, or nests deeper than
  // kConditionDepthMax.
  static absl::StatusOr<Condition> Parse(std::string_view text);

  bool Holds(const ConditionFacts& facts) const { return Holds(nodes_.size() - 1, facts); }

 private:
  friend class ConditionParser;
  enum class Op : uint8_t { kAnd, kOr, kNot, kTime, kName, kType };
  enum class Test : uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual, kStarts, kEnds };
  // The operands of a node come before it.
  struct Node {
    Op op = Op::kNot;
    Test test = Test::kEqual;
    size_t left = 0, right = 0;
    absl::Time time;
    std::string text;
  };
  bool Holds(size_t at, const ConditionFacts& facts) const;

  std::vector<Node> nodes_;  // the last is the whole condition
};

}  // namespace sonde
