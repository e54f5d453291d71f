// What the page tells of requests: those under way, those that failed last, how long they took over time, and who asks.
#pragma once

#include <vector>

#include "metrics/failed_calls.h"
#include "metrics/latency_history.h"
#include "metrics/recent_callers.h"
#include "metrics/running_calls.h"
#include "web/http/router.h"

namespace sonde {

// Nothing is owned, and all of it must outlive the router.
struct RequestsFacts {
  const FailedCalls* failed = nullptr;
  const LatencyHistory* latency = nullptr;
  const RecentCallers* callers = nullptr;
  std::vector<RunningCallsAccess> running;  // of each port
};

// GET /api/v1/running, POST /api/v1/running/cancel, GET /api/v1/errors, GET /api/v1/latency, GET /api/v1/callers:
// docs/http-api.md.
void AddRequestsApi(RequestsFacts facts, Router* router);

}  // namespace sonde
