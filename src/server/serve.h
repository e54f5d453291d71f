// Serving: the store, the gRPC server and the HTTP port, from the first to the last of a process.
#pragma once

#include "absl/status/status.h"
#include "server/serve_settings.h"

namespace sonde {

// Serves until SIGINT or SIGTERM, then ends what is under way, in a few seconds.  Says on stdout where it
// listens, and logs to stderr.  For the main thread of a process: it sets up logs, signals and limits of files.
// Errors, before it serves: INVALID_ARGUMENT as CheckServeSettings; as LocalStore::Open, GrpcServer::Start,
// OpenIngest and StartHttp.
absl::Status Serve(ServeSettings settings);

}  // namespace sonde
