// The certificate that both ports show: loaded at the start, looked at from then on, and told of in the log and in metrics.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "metrics/figure.h"
#include "server/serve_settings.h"
#include "tls/certificate_keeper.h"

namespace sonde {

// The files are looked at this often.
inline constexpr absl::Duration kCertificateLook = absl::Seconds(10);

// Threads: provider's function and Figures may be called by any; Look by one.
class Certificates {
 public:
  // Errors as tls::Context::Load.  Without `tls` in the settings there is nothing to load.
  static absl::StatusOr<std::unique_ptr<Certificates>> Open(const ServeSettings& settings, absl::Time now);

  // Gives the Context of a connection that begins now; must not outlive this object.  Empty: no TLS is spoken.
  std::function<std::shared_ptr<const tls::Context>()> provider() const;
  // Loads the files if they have changed, or if somebody `asks`.  Returns whether it did.  The log has a failure, and the pair before it
  // stays.
  bool Look(bool asks, absl::Time now);
  std::vector<Figure> Figures(absl::Time now) const;

 private:
  explicit Certificates(std::unique_ptr<tls::CertificateKeeper> keeper) : keeper_(std::move(keeper)) {}

  const std::unique_ptr<tls::CertificateKeeper> keeper_;  // null: without TLS
};

}  // namespace sonde
