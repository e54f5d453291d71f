// Expressions whose names and types are known: what the binder makes of the syntax tree.
//
// Shape: a tree.  Each expression has a type, and gives a column of that type for a batch of rows.
// Threads: an expression is immutable once bound; several threads may evaluate it, each by its own evaluator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde::sql {

struct Expression;
struct Plan;  // sql/plan/plan.h
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : uint8_t {
    kLiteral,    // `value`
    kParameter,  // the query's parameter number `index`: the same value for all rows
    kColumn,  // column `index` of the batch.  In the body of a lambda, its parameters are columns behind those of the batch
    kOuter,  // in a subquery: column `index` of the row of the query around it, `depth` queries further out (1: the next)
    kCall,         // overload->kernel of `arguments`; `is_safe`
    kCast,         // `cast` of `arguments` (one; with a format two or three); `is_safe`: SAFE_CAST
    kAnd,          // of two or more; stops at FALSE
    kOr,           // of two or more; stops at TRUE
    kIf,           // arguments[0] ? arguments[1] : arguments[2]
    kCase,         // condition, value, condition, value, ..., else; CASE x WHEN y is x = y in each condition
    kCoalesce,     // the first that is not NULL; IFNULL, too
    kNullIf,       // NULL if arguments[0] = arguments[1]: `equal` says how they are compared
    kIfError,      // arguments[0], or where that fails arguments[1]
    kIsError,      // whether arguments[0] fails
    kNullIfError,  // arguments[0], or where that fails NULL
    kArray,        // an array of `arguments`
    kStruct,       // a struct of `arguments`
    kField,        // field `index` of the struct arguments[0]
    kProtoField,   // field `index` of the message arguments[0]; if `count` is 1, whether the message has it
    kLambda,  // an argument of kCall: the body is arguments[0]; its `count` parameters are columns `index`, `index` + 1, ...
    kScalarQuery,  // the only value of `plan`; NULL if it has no row
    kArrayQuery,   // an array of the values of `plan`
    kExistsQuery,  // whether `plan` has a row
    kInQuery,      // whether arguments[0] is among the values of `plan`; `equal` compares
  };

  Kind kind = Kind::kLiteral;
  Type type;
  Value value;
  size_t index = 0;
  size_t count = 0;
  size_t depth = 0;
  bool is_safe = false;
  const Function* function = nullptr;
  const Overload* overload = nullptr;
  Kernel cast = nullptr;
  Kernel equal = nullptr;
  std::vector<ExpressionPtr> arguments;
  std::shared_ptr<const Plan> plan;
  bool is_correlated =
      false;  // of queries: `plan` has a kOuter of this query's rows, and runs once for each of them
  // Of correlated queries: the row that `plan` sees by kOuter has as column i the column outer_columns[i] of this
  // query.  Empty: it sees the whole row as it is; such an expression cannot tell which columns it reads (ColumnsOf,
  // MapColumns).
  std::vector<size_t> outer_columns;

  // Whether each evaluation may give something else (RAND, ERROR): it is evaluated where it stands, and not ahead.
  bool is_volatile = false;
  // Of kLiteral, while a query is bound: whether it stands so in the text, and coerces as a literal; kUntyped: NULL or
  // [], which go with any type.
  enum class Written : uint8_t { kNo, kLiteral, kUntyped };
  Written written = Written::kNo;
};

ExpressionPtr MakeLiteral(Value value);
ExpressionPtr MakeColumn(size_t index, Type type);
ExpressionPtr Clone(const Expression& expression);
// Whether two expressions are the same, and give the same value for the same row.
bool IsSame(const Expression& a, const Expression& b);
// Whether it is a call of the function of this name.
bool IsCallOf(const Expression& expression, std::string_view name);
// No columns, no parameters, nothing volatile inside.
bool IsConstant(const Expression& expression);
// The columns that it reads, ascending, each once; parameters of lambdas are not among them.
std::vector<size_t> ColumnsOf(const Expression& expression);
// Replaces the index of each column by mapping[index]; what a lambda adds is moved by as much as the columns end further out.
void MapColumns(const std::vector<size_t>& mapping, Expression* expression);
// For EXPLAIN and tests: SUBSTR($0, 1, @1).
std::string ToString(const Expression& expression);

}  // namespace sonde::sql
