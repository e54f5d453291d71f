// grpc.health.v1.Health: whether the server answers, for those who watch over it.  All of it does as long as
// it runs.
//
// The messages have a field each, which are read and written here: HealthCheckRequest.service = 1, a string;
// HealthCheckResponse.status = 1, an enumeration.
#pragma once

#include "base/admission.h"
#include "rpc/call.h"

namespace sonde {

// Check and Watch of the server as a whole ("") and of each service (kServiceNames); of others Check says
// NOT_FOUND and Watch SERVICE_UNKNOWN.  A watch lasts until its client or the server ends;
// those over the limits of `watches`, which must outlive the router, are UNAVAILABLE.
void AddHealthService(Admission* watches, rpc::Router* router);

}  // namespace sonde
