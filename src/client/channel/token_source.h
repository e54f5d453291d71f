// The tokens that a client shows, one for the data API and one for the administration, each signed again before it ends.
//
// Threads: all functions may be called at once.
// Source: the audiences are those that Google's own clients write.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "identity/proof/signing_key.h"

namespace sonde {

class TokenSource {
 public:
  // A token is signed anew so long before its end.
  static constexpr absl::Duration kRenewBefore = absl::Minutes(5);

  // `clock` must outlive this.
  TokenSource(std::shared_ptr<const SigningKey> key, const Clock* clock)
      : key_(std::move(key)), clock_(clock) {}

  // A token for a call of this service: "https://HOST/google.bigtable.v2.Bigtable", as gRPC writes it.  It is a secret.
  // Errors: those of SigningKey::SignToken.
  absl::StatusOr<std::string> TokenFor(std::string_view service_url);

 private:
  struct Held {
    std::string token;  // empty: none was signed
    absl::Time signed_at;
  };

  const std::shared_ptr<const SigningKey> key_;
  const Clock* const clock_;
  absl::Mutex mutex_;
  Held data_ ABSL_GUARDED_BY(mutex_);
  Held admin_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
