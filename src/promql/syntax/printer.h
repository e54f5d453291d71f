// A tree as the text that Prometheus prints for it; it reads as the same tree.
#pragma once

#include <string>

#include "promql/syntax/tree.h"

namespace sonde::promql {

std::string Print(const Expression& expression);

// The same on several lines, as Prometheus' format_query has it: a part that takes more than a line has its own lines.
std::string PrintLines(const Expression& expression);

}  // namespace sonde::promql
