#include "sql/bind/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"

namespace sonde::sql {
namespace {

// What a name stands for in one list.
absl::StatusOr<FoundName> FindInList(const NameList& names, std::string_view name) {
  FoundName found;
  if (const RangeVariable* variable = names.FindVariable(name); variable != nullptr) {
    found.variable = variable;
    found.kind = FoundName::Kind::kVariable;
    return found;
  }
  const auto ambiguous = [name] {
    return absl::InvalidArgumentError(fmt::format("Column name {} is ambiguous", name));
  };
  for (const NamedColumn& column : names.columns) {
    if (SameName(column.name, name)) {
      if (found.column != nullptr && found.column->index != column.index) return ambiguous();
      found.kind = FoundName::Kind::kColumn;
      found.column = &column;
    }
  }
  for (const NamedColumn& column : names.columns) {
    if (!column.is_value || !column.type.Is(TypeKind::kStruct)) continue;
    const std::vector<size_t> fields = FieldsNamed(column.type, name);
    if (fields.empty()) continue;
    if (found.kind != FoundName::Kind::kNothing || fields.size() > 1) return ambiguous();
    found.kind = FoundName::Kind::kValueField;
    found.column = &column;
    found.field = fields.front();
  }
  return found;
}

}  // namespace

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return absl::ascii_tolower(x) == absl::ascii_tolower(y); });
}

void NameList::Append(const NameList& other, size_t shift) {
  for (NamedColumn column : other.columns) {
    column.index += shift;
    columns.push_back(std::move(column));
  }
  for (RangeVariable variable : other.variables) {
    for (NamedColumn& column : variable.columns) column.index += shift;
    variables.push_back(std::move(variable));
  }
}

const RangeVariable* NameList::FindVariable(std::string_view name) const {
  for (const RangeVariable& variable : variables) {
    if (SameName(variable.name, name)) return &variable;
  }
  return nullptr;
}

absl::StatusOr<FoundName> FindName(const Scope& scope, std::string_view name) {
  size_t depth = 0;
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    if (at->names != nullptr) {
      absl::StatusOr<FoundName> found = FindInList(*at->names, name);
      if (!found.ok()) return found;
      found->depth = depth;
      if (found->kind != FoundName::Kind::kNothing) return found;
    }
    if (at->is_query) ++depth;
  }
  return FoundName();
}

std::vector<size_t> FieldsNamed(const Type& type, std::string_view name) {
  std::vector<size_t> fields;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (SameName(type.fields()[i].name, name)) fields.push_back(i);
  }
  return fields;
}

}  // namespace sonde::sql
