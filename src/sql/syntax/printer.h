// Writes a syntax tree as text that parses to an equal tree.
#pragma once

#include <string>
#include <string_view>

#include "sql/syntax/tree.h"

namespace sonde::sql {

std::string Print(const Statement& statement);
std::string Print(const Query& query);
std::string Print(const Expr& expr);
// A name as it stands in a query: in backticks where it is no plain word.
std::string PrintName(std::string_view name);

}  // namespace sonde::sql
