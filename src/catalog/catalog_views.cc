#include <fmt/format.h>

#include "catalog/catalog.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

absl::Status CheckEtag(const AuthorizedView& view, std::string_view etag) {
  if (etag.empty() || etag == EtagOf(view)) return absl::OkStatus();
  return absl::AbortedError(fmt::format(
      "The etag '{}' is not that of {}, which has changed: its etag is '{}'", etag, view.name, EtagOf(view)));
}

}  // namespace

absl::StatusOr<AuthorizedViewRef> Catalog::FindView(std::string_view view_name) const {
  const auto look_up = [&] {
    const absl::ReaderMutexLock lock(&mutex_);
    return state_.views.Find(view_name);
  };
  if (lease_ == nullptr) return look_up();
  if (absl::Status status = lease_->Ensure(); !status.ok()) return status;
  if (absl::StatusOr<AuthorizedViewRef> view = look_up(); view.ok()) return view;
  // Another server may have made it just now.
  if (absl::Status status = lease_->Refresh(); !status.ok()) return status;
  return look_up();
}

std::vector<AuthorizedViewRef> Catalog::ListViews(std::string_view table_name, std::string_view after_id,
                                                  size_t count_max) const {
  if (lease_ != nullptr) lease_->Refresh().IgnoreError();
  const absl::ReaderMutexLock lock(&mutex_);
  return state_.views.List(table_name, after_id, count_max);
}

absl::StatusOr<AuthorizedViewRef> Catalog::CreateView(AuthorizedView view) {
  return Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreateView(view); });
}

absl::StatusOr<AuthorizedViewRef> Catalog::TryCreateView(AuthorizedView view) {
  if (absl::Status status = Find(TableOfAuthorizedView(view.name)).status(); !status.ok()) return status;
  if (const absl::Status found = FindView(view.name).status(); !absl::IsNotFound(found)) {
    if (!found.ok()) return found;
    return absl::AlreadyExistsError(fmt::format("Authorized view already exists: {}", view.name));
  }
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (state_.views.size() >= kAuthorizedViewsMax) {
      return absl::ResourceExhaustedError(
          fmt::format("Too many authorized views: the limit is {}", kAuthorizedViewsMax));
    }
  }
  return WriteView(std::move(view));
}

absl::StatusOr<AuthorizedViewRef> Catalog::UpdateView(std::string_view view_name, std::string_view etag,
                                                      const ViewChange& change) {
  absl::StatusOr<AuthorizedViewRef> made = Repeat(
      [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryUpdateView(view_name, etag, change); });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<AuthorizedViewRef> Catalog::TryUpdateView(std::string_view view_name, std::string_view etag,
                                                         const ViewChange& change) {
  absl::StatusOr<AuthorizedViewRef> found = FindView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtag(**found, etag); !status.ok()) return status;
  AuthorizedView view = **found;
  change(&view);
  return WriteView(std::move(view));
}

absl::Status Catalog::DeleteView(std::string_view view_name, std::string_view etag) {
  absl::Status status =
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryDeleteView(view_name, etag); });
  if (status.ok()) WaitUntilSeen();
  return status;
}

absl::Status Catalog::TryDeleteView(std::string_view view_name, std::string_view etag) {
  absl::StatusOr<AuthorizedViewRef> found = FindView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtag(**found, etag); !status.ok()) return status;
  if ((*found)->deletion_protection) {
    return absl::FailedPreconditionError(
        fmt::format("Authorized view {} is protected against deletion", view_name));
  }
  std::vector<RecordChange> changes = {AuthorizedViews::NoRecordOf(view_name)};
  AddCompanions(view_name, &changes);
  if (absl::Status status = Write(std::move(changes)); !status.ok()) return status;
  TellCompanions(view_name);
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.views.Erase(view_name);
  return absl::OkStatus();
}

absl::StatusOr<AuthorizedViewRef> Catalog::WriteView(AuthorizedView view) {
  if (absl::Status status = Write({AuthorizedViews::RecordOf(view)}); !status.ok()) return status;
  auto made = std::make_shared<const AuthorizedView>(std::move(view));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.views.Put(made);
  return made;
}

}  // namespace sonde
