// A tree as the text that Prometheus prints for it; it reads as the same tree.
#pragma once

#include <string>

#include "promql/syntax/tree.h"

namespace sonde::promql {

std::string Print(const Expression& expression);

}  // namespace sonde::promql
