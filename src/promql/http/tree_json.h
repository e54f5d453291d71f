// A query's tree as the JSON of Prometheus' parse_query.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "promql/syntax/tree.h"

namespace sonde::promql {

nlohmann::json TreeJson(const Expression& expression);

}  // namespace sonde::promql
