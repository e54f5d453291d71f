// grpc.health.v1.Health: whether the server answers, for programs that watch over it.  All services answer as
// long as the server runs.
//
// Its messages have one field each, which are read and written here: HealthCheckRequest.service = 1, a
// string; HealthCheckResponse.status = 1, an enumeration.
#pragma once

#include "base/admission.h"
#include "rpc/call.h"

namespace sonde {

// Check and Watch answer for the server as a whole ("") and for each service (kServiceNames).  For other
// names Check says NOT_FOUND and Watch says SERVICE_UNKNOWN.  A watch lasts until its client or the server
// ends it. A watch over the limits of `watches` is UNAVAILABLE.  `watches` must outlive the router.
void AddHealthService(Admission* watches, rpc::Router* router);

}  // namespace sonde
