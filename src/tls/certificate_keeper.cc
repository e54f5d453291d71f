#include "tls/certificate_keeper.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

namespace sonde::tls {

std::string CertificateKeeper::FactsOf(const Files& files) {
  std::string facts;
  for (const std::string* path : {&files.certificate, &files.key, &files.client_ca}) {
    struct stat found{};
    if (path->empty() || stat(path->c_str(), &found) != 0) {
      facts += "none;";
      continue;
    }
    facts += fmt::format("{}:{}:{}:{}.{}:{:o};", found.st_dev, found.st_ino, found.st_size,
                         found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_mode);
  }
  return facts;
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
