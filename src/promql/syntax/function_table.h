// The functions of the language: their arguments and what they give.
#pragma once

#include <cstddef>
#include <string_view>

namespace sonde::promql {

enum class ValueType { kNone, kScalar, kString, kVector, kMatrix };

// "instant vector": as errors name it.
std::string_view DocumentedName(ValueType type);
// "vector": as answers name it.
std::string_view ShortName(ValueType type);

struct FunctionSignature {
  std::string_view name;
  std::string_view arguments;  // a letter each: v vector, s scalar, m matrix, t string
  int optional_count = 0;      // how many may be left out, or come more than once; -1: any number more
  ValueType result = ValueType::kVector;
  bool is_experimental = false;

  size_t ArgumentCount() const { return arguments.size(); }
  // Of the argument `index`; what comes past the last is as the last.
  ValueType ArgumentType(size_t index) const;
};

// Null: there is none.
const FunctionSignature* FindFunction(std::string_view name);

}  // namespace sonde::promql
