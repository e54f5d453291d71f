// What a function of SQL is: its signatures, its meaning, an example, and what carries it out.  All of them, by name,
// are in sql/library/library.h.
//
// Operators are functions whose names begin with $: $add $subtract $multiply $divide $unary_minus $bitwise_not $bitwise_and
// $bitwise_or $bitwise_xor $shift_left $shift_right $concat $equal $not_equal $less $less_or_equal $greater $greater_or_equal
// $between $in (value, values...) $in_array $like $not $is_null $is_true $is_false $is_distinct $array_at_offset $array_at_ordinal
// $safe_array_at_offset $safe_array_at_ordinal $map_at $extract (PART, value, [time zone]).  NOT LIKE and the like are $not of the other.
// What must not evaluate all of its arguments is no function but a kind of expression (expression.h): AND, OR, IF, CASE, COALESCE,
// IFNULL, NULLIF, IFERROR, ISERROR, NULLIFERROR.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "sql/function/aggregator.h"
#include "sql/function/call.h"
#include "sql/function/signature.h"

namespace sonde::sql {

struct Overload {
  Signature signature;
  Kernel kernel = nullptr;                 // of scalar functions
  AggregatorFactory aggregator = nullptr;  // of aggregates; of window functions: a form without OVER
  bool is_extension = false;               // production does not have it
  bool needs_name = false;                 // it takes its last argument by name only
};

struct Function {
  // kWindow: with OVER, and carried out by the operator of windows, by name; overloads that have an aggregator are the
  // aggregate of the same name, without OVER.  kNotBuilt: answers UNIMPLEMENTED by name.
  enum class Kind : uint8_t { kScalar, kAggregate, kWindow, kNotBuilt };

  std::string name;  // in upper case; HLL_COUNT.INIT has a dot
  Kind kind = Kind::kScalar;
  std::vector<Overload> overloads;
  std::string meaning;  // a sentence or two, for docs/sql.md
  std::vector<std::string>
      examples;              // expressions; docs/sql.md shows their results.  Those of aggregates are queries
  bool is_volatile = false;  // another result for the same arguments: it is not evaluated ahead (RAND)
  bool takes_nulls = false;  // of aggregates: rows whose argument is NULL count (ARRAY_AGG)
  std::string alias_of = {};  // another name of this function (POWER of POW)

  // Whether production has no form of it.
  bool IsExtension() const;
  // Whether it is a window function that may be called without OVER, too.
  bool IsAlsoAggregate() const;
};

// How a call is written, which some overloads go by.
struct CallForm {
  bool has_over = false;
  bool has_names = false;  // arguments by name
};

// The best overload for a call, and what the call comes to.  Nothing: none fits.
struct ChosenOverload {
  const Overload* overload = nullptr;
  Signature::Match match;
};
std::optional<ChosenOverload> ChooseOverload(const Function& function,
                                             absl::Span<const ArgumentFacts> arguments,
                                             const Signature::LambdaResult& lambda_result = {},
                                             const CallForm& form = {});

}  // namespace sonde::sql
