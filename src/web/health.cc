#include "web/health.h"

#include <utility>

namespace sonde {

void AddHealth(std::function<absl::Status()> ready, Router* router) {
  router->Add({.method = "GET",
               .path = "/healthz",
               .handler =
                   [](const HttpRequest&, HttpBody*, HttpResponse* response) {
                     response->content_type = "text/plain";
                     response->body = "ok\n";
                     return absl::OkStatus();
                   },
               .is_for_watchers = true,
               .is_counted = false});
  router->Add({.method = "GET",
               .path = "/readyz",
               .handler =
                   [ready = std::move(ready)](const HttpRequest&, HttpBody*, HttpResponse* response) {
                     if (absl::Status status = ready(); !status.ok()) {
                       return absl::UnavailableError(std::string(status.message()));
                     }
                     response->content_type = "text/plain";
                     response->body = "ready\n";
                     return absl::OkStatus();
                   },
               .is_for_watchers = true,
               .is_counted = false});
}

}  // namespace sonde
