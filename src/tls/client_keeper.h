// Gives each new connection of a client the ClientContext of the files as they are then.
//
// Files that do not fit each other, as between two writes of a rotation, leave the ClientContext before them in force.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tls/client_context.h"

namespace sonde::tls {

class ClientKeeper {
 public:
  // Errors as ClientContext::Load.
  static absl::StatusOr<std::unique_ptr<ClientKeeper>> Open(ClientFiles files, absl::Time now);

  // Looks at the files, and loads them if they have changed.
  std::shared_ptr<const ClientContext> Current(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // The last attempt to load them failed, and the ClientContext before it is in force.
  bool reload_failed() const { return reload_failed_; }

 private:
  ClientKeeper(ClientFiles files, std::string seen, std::shared_ptr<const ClientContext> context)
      : files_(std::move(files)), seen_(std::move(seen)), context_(std::move(context)) {}

  const ClientFiles files_;
  std::atomic<bool> reload_failed_ = false;
  absl::Mutex mutex_;
  std::string seen_ ABSL_GUARDED_BY(mutex_);  // the files' facts before the last attempt
  std::shared_ptr<const ClientContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::tls
