// Serving: the store, the gRPC server and the HTTP port, from the first to the last of a process.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/serve_settings.h"

namespace sonde {

// Serves until SIGINT or SIGTERM, then drains (process/drain.h) and ends.  Says on stdout where it
// listens, and logs to stderr.  For the main thread of a process: it sets up logs, signals and limits of files.
// Errors, before it serves: INVALID_ARGUMENT as CheckServeSettings; as LocalStore::Open, GrpcServer::Start,
// OpenIngest and StartHttp.
// `read_again` gives the settings as they are when SIGHUP comes.  Then log_level is taken over, the log file, the certificates and the
// authentication file are opened again, and the log names the settings that count from the next start only.
absl::Status Serve(ServeSettings settings, const std::function<absl::StatusOr<ServeSettings>()>& read_again);

// Whether Serve would take the settings, and the certificates and the authentication file that they name.  Nothing is changed, and the
// data directory is not looked at.  Errors: those of CheckServeSettings, tls::Context::Load and ServerAccess::Open.
absl::Status CheckServe(const ServeSettings& settings);

}  // namespace sonde
