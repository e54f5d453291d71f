#include <fmt/format.h>

#include "absl/synchronization/mutex.h"
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
  const absl::ReaderMutexLock lock(&mutex_);
  return views_.Find(view_name);
}

std::vector<AuthorizedViewRef> Catalog::ListViews(std::string_view table_name, std::string_view after_id,
                                                  size_t count_max) const {
  const absl::ReaderMutexLock lock(&mutex_);
  return views_.List(table_name, after_id, count_max);
}

size_t Catalog::CountViews() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return views_.size();
}

absl::StatusOr<AuthorizedViewRef> Catalog::CreateView(AuthorizedView view) {
  const absl::MutexLock change(&change_mutex_);
  if (absl::Status status = Find(TableOfAuthorizedView(view.name)).status(); !status.ok()) return status;
  if (FindView(view.name).ok()) {
    return absl::AlreadyExistsError(fmt::format("Authorized view already exists: {}", view.name));
  }
  if (CountViews() >= kAuthorizedViewsMax) {
    return absl::ResourceExhaustedError(
        fmt::format("Too many authorized views: the limit is {}", kAuthorizedViewsMax));
  }
  return WriteView(std::move(view));
}

absl::StatusOr<AuthorizedViewRef> Catalog::UpdateView(std::string_view view_name, std::string_view etag,
                                                      const ViewChange& change) {
  const absl::MutexLock guard(&change_mutex_);
  absl::StatusOr<AuthorizedViewRef> found = FindView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtag(**found, etag); !status.ok()) return status;
  AuthorizedView view = **found;
  change(&view);
  return WriteView(std::move(view));
}

absl::Status Catalog::DeleteView(std::string_view view_name, std::string_view etag) {
  const absl::MutexLock change(&change_mutex_);
  absl::StatusOr<AuthorizedViewRef> found = FindView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtag(**found, etag); !status.ok()) return status;
  if ((*found)->deletion_protection) {
    return absl::FailedPreconditionError(
        fmt::format("Authorized view {} is protected against deletion", view_name));
  }
  absl::Status status = engine_->WriteRecords({AuthorizedViews::NoRecordOf(view_name)});
  if (!status.ok()) return status;
  const absl::WriterMutexLock lock(&mutex_);
  views_.Erase(view_name);
  return absl::OkStatus();
}

absl::StatusOr<AuthorizedViewRef> Catalog::WriteView(AuthorizedView view) {
  absl::Status status = engine_->WriteRecords({AuthorizedViews::RecordOf(view)});
  if (!status.ok()) return status;
  auto made = std::make_shared<const AuthorizedView>(std::move(view));
  const absl::WriterMutexLock lock(&mutex_);
  views_.Put(made);
  return made;
}

}  // namespace sonde
