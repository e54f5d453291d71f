// The server at a glance: GET /api/v1/overview as JSON, GET /metrics as Prometheus reads it.
#pragma once

#include "web/http/router.h"
#include "web/server_facts.h"

namespace sonde {

// The objects that `facts` points to must outlive the routes.
void AddOverviewApi(ServerFacts facts, Router* router);

}  // namespace sonde
