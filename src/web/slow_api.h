// GET /api/v1/slow: the slow calls of late (metrics/slow_calls.h), the last first, a JSON object a line.
#pragma once

#include "metrics/slow_calls.h"
#include "web/http/router.h"

namespace sonde {

// `calls` must outlive the router.
void AddSlowApi(const SlowCalls* calls, Router* router);

}  // namespace sonde
