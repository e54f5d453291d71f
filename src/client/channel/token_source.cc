#include "client/channel/token_source.h"

#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

constexpr std::string_view kAdminPackage = "google.bigtable.admin.";

}  // namespace

absl::StatusOr<std::string> TokenSource::TokenFor(std::string_view service_url) {
  const std::string_view service = service_url.substr(service_url.rfind('/') + 1);
  const bool is_admin = service.starts_with(kAdminPackage);
  const absl::Time now = absl::FromUnixMicros(clock_->NowMicros());
  const absl::MutexLock lock(&mutex_);
  Held& held = is_admin ? admin_ : data_;
  // A clock that was set back is no reason to show a token that begins later.
  const bool holds =
      !held.token.empty() && now >= held.signed_at && now < held.signed_at + kTokenLifetimeMax - kRenewBefore;
  if (holds) return held.token;
  absl::StatusOr<std::string> token = key_->SignToken(is_admin ? kAdminAudience : kDataAudience, now);
  if (!token.ok()) return token.status();
  held = {.token = *std::move(token), .signed_at = now};
  return held.token;
}

}  // namespace sonde
