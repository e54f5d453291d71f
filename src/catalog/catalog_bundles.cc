#include <fmt/format.h>

#include "catalog/catalog.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

absl::Status CheckBundleEtag(const SchemaBundle& bundle, std::string_view etag) {
  if (etag.empty() || etag == bundle.etag) return absl::OkStatus();
  return absl::AbortedError(
      fmt::format("The etag '{}' is not that of {}, which has changed: its etag is '{}'", etag, bundle.name,
                  bundle.etag));
}

}  // namespace

absl::StatusOr<SchemaBundleRef> Catalog::FindBundle(std::string_view bundle_name) const {
  const auto look_up = [&] {
    const absl::ReaderMutexLock lock(&mutex_);
    return state_.bundles.Find(bundle_name);
  };
  if (lease_ == nullptr) return look_up();
  if (absl::Status status = lease_->Ensure(); !status.ok()) return status;
  if (absl::StatusOr<SchemaBundleRef> bundle = look_up(); bundle.ok()) return bundle;
  // Another server may have made it just now.
  if (absl::Status status = lease_->Refresh(); !status.ok()) return status;
  return look_up();
}

std::vector<SchemaBundleRef> Catalog::ListBundles(std::string_view table_name) const {
  if (lease_ != nullptr) lease_->Refresh().IgnoreError();
  const absl::ReaderMutexLock lock(&mutex_);
  return state_.bundles.List(table_name);
}

absl::StatusOr<SchemaBundleRef> Catalog::CreateBundle(SchemaBundle bundle) {
  return Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreateBundle(bundle); });
}

absl::StatusOr<SchemaBundleRef> Catalog::TryCreateBundle(SchemaBundle bundle) {
  const std::string_view table = TableOfSchemaBundle(bundle.name);
  if (absl::Status status = Find(table).status(); !status.ok()) return status;
  if (const absl::Status found = FindBundle(bundle.name).status(); !absl::IsNotFound(found)) {
    if (!found.ok()) return found;
    return absl::AlreadyExistsError(fmt::format("Schema bundle already exists: {}", bundle.name));
  }
  if (ListBundles(table).size() >= kSchemaBundlesPerTableMax) {
    return absl::ResourceExhaustedError(fmt::format("Too many schema bundles of table {}: the limit is {}",
                                                    table, kSchemaBundlesPerTableMax));
  }
  return WriteBundle(std::move(bundle));
}

absl::StatusOr<SchemaBundleRef> Catalog::UpdateBundle(std::string_view bundle_name, std::string_view etag,
                                                      const BundleChange& change) {
  absl::StatusOr<SchemaBundleRef> made = Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryUpdateBundle(bundle_name, etag, change);
  });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<SchemaBundleRef> Catalog::TryUpdateBundle(std::string_view bundle_name, std::string_view etag,
                                                         const BundleChange& change) {
  absl::StatusOr<SchemaBundleRef> found = FindBundle(bundle_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckBundleEtag(**found, etag); !status.ok()) return status;
  SchemaBundle bundle = **found;
  if (absl::Status status = change(&bundle); !status.ok()) return status;
  return WriteBundle(std::move(bundle));
}

absl::Status Catalog::DeleteBundle(std::string_view bundle_name, std::string_view etag) {
  absl::Status status = Repeat(
      [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryDeleteBundle(bundle_name, etag); });
  if (status.ok()) WaitUntilSeen();
  return status;
}

absl::Status Catalog::TryDeleteBundle(std::string_view bundle_name, std::string_view etag) {
  absl::StatusOr<SchemaBundleRef> found = FindBundle(bundle_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckBundleEtag(**found, etag); !status.ok()) return status;
  std::vector<RecordChange> changes = {SchemaBundles::NoRecordOf(bundle_name)};
  AddCompanions(bundle_name, &changes);
  if (absl::Status status = Write(std::move(changes)); !status.ok()) return status;
  TellCompanions(bundle_name);
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.bundles.Erase(bundle_name);
  return absl::OkStatus();
}

absl::StatusOr<SchemaBundleRef> Catalog::WriteBundle(SchemaBundle bundle) {
  if (absl::Status status = Write({SchemaBundles::RecordOf(bundle)}); !status.ok()) return status;
  SchemaBundleRef made = MakeSchemaBundle(std::move(bundle.name), std::move(bundle.descriptors));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.bundles.Put(made);
  return made;
}

}  // namespace sonde
