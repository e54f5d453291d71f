#include "tls/client_keeper.h"

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

std::string FactsOfClient(const ClientFiles& files) {
  return FactsOfFiles({&files.ca, &files.certificate, &files.key});
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientKeeper>> ClientKeeper::Open(ClientFiles files, absl::Time now) {
  // Before the files are read: a change meanwhile is one that the next look finds.
  std::string seen = FactsOfClient(files);
  absl::StatusOr<std::shared_ptr<const ClientContext>> context = ClientContext::Load(files, now);
  if (!context.ok()) return context.status();
  return std::unique_ptr<ClientKeeper>(
      new ClientKeeper(std::move(files), std::move(seen), *std::move(context)));
}

std::shared_ptr<const ClientContext> ClientKeeper::Current(absl::Time now) {
  const absl::MutexLock lock(&mutex_);
  std::string seen = FactsOfClient(files_);
  if (seen == seen_) return context_;
  seen_ = std::move(seen);
  absl::StatusOr<std::shared_ptr<const ClientContext>> context = ClientContext::Load(files_, now);
  reload_failed_ = !context.ok();
  if (context.ok()) context_ = *std::move(context);
  return context_;
}

}  // namespace sonde::tls
