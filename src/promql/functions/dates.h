// The parts of a date, of seconds since 1970.
#pragma once

#include <string_view>

namespace sonde::promql {

using DateFunction = double (*)(double seconds);

// Null: it is no function of dates.
DateFunction FindDateFunction(std::string_view name);

}  // namespace sonde::promql
