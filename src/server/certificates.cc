#include "server/certificates.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "base/format.h"

namespace sonde {
namespace {

std::string DateOf(absl::Time time) { return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone()); }

}  // namespace

absl::StatusOr<std::unique_ptr<Certificates>> Certificates::Open(const ServeSettings& settings,
                                                                 absl::Time now) {
  if (!settings.tls.has_value()) return std::unique_ptr<Certificates>(new Certificates(nullptr));
  absl::StatusOr<std::unique_ptr<tls::CertificateKeeper>> keeper =
      tls::CertificateKeeper::Open(*settings.tls, now);
  if (!keeper.ok()) return keeper.status();
  spdlog::info("tls: certificate={} expires={}", settings.tls->certificate, DateOf((*keeper)->expires()));
  return std::unique_ptr<Certificates>(new Certificates(*std::move(keeper)));
}

std::function<std::shared_ptr<const tls::Context>()> Certificates::provider() const {
  if (keeper_ == nullptr) return nullptr;
  return [keeper = keeper_.get()] { return keeper->current(); };
}

bool Certificates::Look(bool asks, absl::Time now) {
  if (keeper_ == nullptr) return false;
  absl::StatusOr<bool> has_changed = true;
  if (asks) {
    if (absl::Status status = keeper_->Reload(now); !status.ok()) has_changed = status;
  } else {
    has_changed = keeper_->ReloadIfChanged(now);
  }
  if (!has_changed.ok()) {
    spdlog::error("tls: the certificate before stays in force until {}: {}", DateOf(keeper_->expires()),
                  std::string(has_changed.status().message()));
  } else if (*has_changed) {
    spdlog::info("tls: loaded anew expires={}", DateOf(keeper_->expires()));
  }
  return has_changed.ok() && *has_changed;
}

std::vector<Figure> Certificates::Figures(absl::Time now) const {
  if (keeper_ == nullptr) return {};
  return {Figure::Gauge("sonde_tls_certificate_expiry_seconds",
                        "Until the first of the server's certificates ends.")
              .Add(absl::ToDoubleSeconds(keeper_->expires() - now)),
          Figure::Gauge(
              "sonde_tls_reload_failed",
              "1: the files could not be loaded at the last attempt, and the certificate before is in force.")
              .Add(keeper_->reload_failed() ? 1 : 0)};
}

}  // namespace sonde
