#include "tls/certificate_keeper.h"

#include <utility>

#include "tls/openssl.h"

namespace sonde::tls {

std::string CertificateKeeper::FactsOf(const Files& files) {
  return FactsOfFiles({&files.certificate, &files.key, &files.client_ca});
}

absl::StatusOr<std::unique_ptr<CertificateKeeper>> CertificateKeeper::Open(Files files, absl::Time now) {
  // Before the files are read: a change meanwhile is one that the next look finds.
  std::string seen = FactsOf(files);
  absl::StatusOr<std::shared_ptr<const Context>> context = Context::Load(files, now);
  if (!context.ok()) return context.status();
  return std::unique_ptr<CertificateKeeper>(
      new CertificateKeeper(std::move(files), std::move(seen), *std::move(context)));
}

std::shared_ptr<const Context> CertificateKeeper::current() const {
  const absl::MutexLock lock(&mutex_);
  return context_;
}

absl::Status CertificateKeeper::Reload(absl::Time now) {
  seen_ = FactsOf(files_);
  absl::StatusOr<std::shared_ptr<const Context>> context = Context::Load(files_, now);
  reload_failed_ = !context.ok();
  if (!context.ok()) return context.status();
  const absl::MutexLock lock(&mutex_);
  context_ = *std::move(context);
  return absl::OkStatus();
}

absl::StatusOr<bool> CertificateKeeper::ReloadIfChanged(absl::Time now) {
  if (FactsOf(files_) == seen_) return false;
  if (absl::Status status = Reload(now); !status.ok()) return status;
  return true;
}

}  // namespace sonde::tls
