// Keeps the Context of a server's files, and replaces it whole when the files have changed.
//
// Files that do not fit each other, as between two writes of a rotation, leave the Context before them in force.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tls/context.h"

namespace sonde::tls {

// Threads: current, expires and reload_failed may be called by any; the others by one.
class CertificateKeeper {
 public:
  // Errors as Context::Load.
  static absl::StatusOr<std::unique_ptr<CertificateKeeper>> Open(Files files, absl::Time now);

  std::shared_ptr<const Context> current() const;
  absl::Time expires() const { return current()->expires(); }
  // The last attempt failed, and the Context before it is in force.
  bool reload_failed() const { return reload_failed_; }

  // Loads the files anew.  Errors as Context::Load; then nothing is replaced.
  absl::Status Reload(absl::Time now);
  // Reloads if a file is not as it was at the last attempt.  Returns whether it did; errors as Reload, once for each change.
  absl::StatusOr<bool> ReloadIfChanged(absl::Time now);

 private:
  CertificateKeeper(Files files, std::string seen, std::shared_ptr<const Context> context)
      : files_(std::move(files)), seen_(std::move(seen)), context_(std::move(context)) {}
  static std::string FactsOf(const Files& files);

  const Files files_;
  std::string seen_;  // the files' facts before the last attempt
  std::atomic<bool> reload_failed_ = false;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Context> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::tls
