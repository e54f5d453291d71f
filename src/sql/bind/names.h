// The names that a FROM clause, or a query, gives to columns of a plan; and where an expression looks for names.
//
// Names compare without case.
// Threads: not for several threads.
// Source: GoogleSQL's name lists: a range variable (a table's alias) hides columns of its name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sql/value/type.h"

namespace sonde::sql {

struct NamedColumn {
  std::string name;  // empty: none
  size_t index = 0;  // of the plan's columns
  Type type;
  bool is_value =
      false;  // an element of UNNEST, or of SELECT AS VALUE: * gives the fields of a struct, whose names
              // are names by themselves, too
  bool in_star = true;
};

// The alias of a table, a subquery or an array.
struct RangeVariable {
  std::string name;
  std::vector<NamedColumn> columns;
  bool is_value = false;  // the name is the value of columns[0]; else a struct of all columns
};

struct NameList {
  std::vector<NamedColumn> columns;  // in the order of *
  std::vector<RangeVariable> variables;

  // Appends the names of another list, whose columns are `shift` further back in the plan.
  void Append(const NameList& other, size_t shift);
  const RangeVariable* FindVariable(std::string_view name) const;
};

bool SameName(std::string_view a, std::string_view b);

// Where an expression looks for names: here, then further out.
struct Scope {
  const NameList* names = nullptr;
  const Scope* outer = nullptr;
  bool is_query = false;  // `outer` has the columns of the query around this one
};

// What a name stands for.
struct FoundName {
  enum class Kind : uint8_t { kNothing, kColumn, kVariable, kValueField };
  Kind kind = Kind::kNothing;
  const NamedColumn* column = nullptr;  // of kColumn; of kValueField the value that has the field
  const RangeVariable* variable = nullptr;
  size_t field = 0;
  size_t depth = 0;  // how many queries further out
};

// INVALID_ARGUMENT: "Column name x is ambiguous".
absl::StatusOr<FoundName> FindName(const Scope& scope, std::string_view name);
// The fields of a struct that have this name.
std::vector<size_t> FieldsNamed(const Type& type, std::string_view name);

}  // namespace sonde::sql
