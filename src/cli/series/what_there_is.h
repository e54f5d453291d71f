// What a series has, for somebody whose question found nothing.
#pragma once

#include <string>

#include "cli/series/series_commands.h"
#include "series/query/query_request.h"

namespace sonde {

// "location has Seattle, New York; the newest point is of 2015-12-31T00:00:00Z": the values of the tags that `asked` has conditions
// on, and the newest time, as far as they are found within two seconds.  Empty: the series has no points, or it took longer.
std::string WhatThereIs(const OpenSeries& opened, const series::QueryRequest& asked);

}  // namespace sonde
