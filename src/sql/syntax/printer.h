// Writes a syntax tree as text that parses to an equal tree.
#pragma once

#include <string>

#include "sql/syntax/tree.h"

namespace sonde::sql {

std::string Print(const Statement& statement);
std::string Print(const Query& query);
std::string Print(const Expr& expr);

}  // namespace sonde::sql
