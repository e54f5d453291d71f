// For whoever watches over the process: /healthz, it runs; /readyz, it can answer questions.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "web/http/router.h"

namespace sonde {

// `ready`: an error is answered as 503, with its message.
void AddHealth(std::function<absl::Status()> ready, Router* router);

}  // namespace sonde
