// The routes by which series leave a store as text, and come into it: export, import.  docs/http-prometheus.md describes them.
//
// Threads: all functions may be called at once.
#pragma once

#include "series/http/ingest_service.h"
#include "web/http/router.h"

namespace sonde::promql {

// `service` must outlive the router.
void AddTransferRoutes(series::IngestService* service, Router* router);

}  // namespace sonde::promql
