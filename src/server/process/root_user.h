// Whether the server may run as the user that it runs as.  A server that is broken into as root is the whole machine; in a container,
// root is the user that most images have, and the container is the fence.
//
// Threads: all functions may be called at once.
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace sonde {

struct ProcessUser {
  bool is_root = false;
  // The process is in a container, as podman, LXC and systemd-nspawn say by the variable `container`, Kubernetes by
  // KUBERNETES_SERVICE_HOST, Docker and podman by a file in the root directory or below /run.
  bool is_in_container = false;

  // Of this process.  `read` is std::getenv.
  static ProcessUser Find(const std::function<const char*(const char* name)>& read);
};

// FAILED_PRECONDITION: the user is root, not in a container, and that is not allowed.
absl::Status CheckUser(const ProcessUser& user, bool allow_root);

}  // namespace sonde
