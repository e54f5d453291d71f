// Signatures of functions: which arguments they take, and the type of their results.
//
//   Signature::Parse("(ARRAY<T1>, T1 -> BOOL) -> ARRAY<T1>")
//
// A signature is written as in the documents:
//   (INT64, [STRING]) -> STRING   the second argument may be left out
//   (T1, T1...) -> T1             the last argument repeats: none or more of it
//   STRUCT, STRUCT<key T1>        any struct; a struct of these fields (every field has a name)
//   ANY                           any type, whatever the others are
//   T1, T2                        any type; all arguments that are T1 come to one type, their common supertype
//   PART                          a word: part of a date (MONTH, WEEK(MONDAY)) or a normal form (NFC).  Kernels get a constant
//                                 STRING, in upper case
//   INTERVAL                      INTERVAL n part; kernels get two arguments, an INT64 and a constant STRING
//   T1 -> BOOL, (T1, T2) -> T3    a lambda
// Types of T1 may be bound to a class: T1:COMPARABLE, T1:GROUPABLE, T1:ORDERABLE, T1:NUMERIC, T1:FLOAT where it stands first.
// Names may stand before types where callers may name arguments: (time_zone => STRING).
//
// Source: GoogleSQL's coercion rules: docs/conversion_rules.
// Threads: a signature is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "sql/function/coercion.h"
#include "sql/value/type.h"

namespace sonde::sql {

// A pattern of a type: INT64, T1, ARRAY<T1>, MAP<T1, T2>.
struct TypePattern {
  enum class Kind : uint8_t { kExact, kVariable, kArray, kMap, kStruct, kAnyStruct, kAny };
  enum class Class : uint8_t { kAny, kComparable, kGroupable, kOrderable, kNumeric, kFloat };
  Kind kind = Kind::kExact;
  Type type;                        // of kExact
  int variable = 0;                 // of kVariable: 1 for T1, ...
  Class of = Class::kAny;           // of kVariable
  std::vector<TypePattern> inside;  // of kArray one, of kMap two, of kStruct one a field
  std::vector<std::string> names;   // of kStruct
};

class Signature {
 public:
  struct Argument {
    ArgumentFacts::Kind kind = ArgumentFacts::Kind::kValue;
    TypePattern type;                     // of kValue; of kLambda its result
    std::vector<TypePattern> parameters;  // of kLambda
    bool is_optional = false;
    bool repeats = false;
    std::string name;  // empty: it cannot be named
  };

  // What a call comes to.
  struct Match {
    int cost = 0;  // the less, the better: 0 no argument is coerced
    // One an argument of the call: what the argument must be cast to.  Of lambdas the type of the result.
    std::vector<Type> argument_types;
    // Of lambdas the types of their parameters; empty for others.
    std::vector<std::vector<Type>> lambda_parameters;
    Type result;
  };

  // `text` is a literal of the program: a fault in it ends the program.
  static Signature Parse(std::string_view text);

  // Whether a call with these arguments fits.  Lambdas count as fitting by the number of their parameters;
  // `lambda_result` is asked for the type of a lambda's body once the types of its parameters are known (null: there
  // are no lambdas).
  using LambdaResult = std::function<std::optional<Type>(size_t argument, absl::Span<const Type> parameters)>;
  std::optional<Match> Fit(absl::Span<const ArgumentFacts> arguments,
                           const LambdaResult& lambda_result = {}) const;

  const std::vector<Argument>& arguments() const { return arguments_; }
  const TypePattern& result() const { return result_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<Argument> arguments_;
  TypePattern result_;
};

}  // namespace sonde::sql
