#include "wire/admin/authorized_views.h"

#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/format.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/call/requests.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::TimeUtil;

absl::Status CheckView(admin::AuthorizedView::ResponseView view) {
  return admin::AuthorizedView::ResponseView_IsValid(view) ? absl::OkStatus() : UnknownValue("view", view);
}

// The fields that can be updated.
struct ViewFields {
  bool row_prefixes = false;
  bool families = false;
  bool deletion_protection = false;
};

absl::Status CheckBytes(const std::string& bytes, std::string_view field, size_t bytes_max) {
  if (bytes.size() <= bytes_max) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("Error in field 'subset_view.{}' : it has {} bytes; limit {}",
                                                field, bytes.size(), bytes_max));
}

// Takes row prefixes and families over.
absl::Status ParseSubset(const admin::AuthorizedView::SubsetView& subset, AuthorizedView* view) {
  size_t parameters = subset.row_prefixes_size();
  for (const auto& [name, columns] : subset.family_subsets()) {
    parameters += std::max(columns.qualifiers_size() + columns.qualifier_prefixes_size(), 1);
  }
  if (parameters > kAuthorizedViewParametersMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'subset_view' : {} row prefixes, qualifiers and qualifier prefixes; "
                    "limit {}",
                    parameters, kAuthorizedViewParametersMax));
  }
  const auto take = [](const auto& from, std::string_view field, size_t bytes_max,
                       std::vector<std::string>* to) -> absl::Status {
    to->clear();
    for (const std::string& bytes : from) {
      if (absl::Status status = CheckBytes(bytes, field, bytes_max); !status.ok()) return status;
      to->push_back(bytes);
    }
    return absl::OkStatus();
  };
  absl::Status status = take(subset.row_prefixes(), "row_prefixes", kRowKeyBytesMax, &view->row_prefixes);
  view->families.clear();
  for (const auto& [name, columns] : subset.family_subsets()) {
    if (status.ok()) status = CheckFamilyName(name);
    if (!status.ok()) return status;
    AuthorizedView::FamilySubset& family = view->families[name];
    status = take(columns.qualifiers(), "family_subsets.qualifiers", kQualifierBytesMax, &family.qualifiers);
    if (!status.ok()) return status;
    status = take(columns.qualifier_prefixes(), "family_subsets.qualifier_prefixes", kQualifierBytesMax,
                  &family.qualifier_prefixes);
  }
  return status;
}

absl::StatusOr<ViewFields> ParseMask(const admin::UpdateAuthorizedViewRequest& request) {
  ViewFields fields;
  if (request.update_mask().paths().empty()) {
    fields.row_prefixes = fields.families = request.authorized_view().has_subset_view();
    fields.deletion_protection = request.authorized_view().deletion_protection();
  }
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "*") {
      fields = {true, true, true};
    } else if (path == "subset_view") {
      fields.row_prefixes = fields.families = true;
    } else if (path == "subset_view.row_prefixes") {
      fields.row_prefixes = true;
    } else if (path == "subset_view.family_subsets") {
      fields.families = true;
    } else if (path == "deletion_protection") {
      fields.deletion_protection = true;
    } else if (path != "etag") {  // which is compared, whatever the mask says
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'update_mask' : '{}' cannot be updated; subset_view and "
                      "deletion_protection can",
                      Printable(path)));
    }
  }
  return fields;
}

void ViewToProto(const AuthorizedView& view, admin::AuthorizedView::ResponseView part,
                 admin::AuthorizedView* out) {
  out->set_name(view.name);
  if (part == admin::AuthorizedView::NAME_ONLY) return;
  out->set_deletion_protection(view.deletion_protection);
  out->set_etag(EtagOf(view));
  if (part == admin::AuthorizedView::BASIC) return;
  admin::AuthorizedView::SubsetView* subset = out->mutable_subset_view();
  for (const std::string& prefix : view.row_prefixes) subset->add_row_prefixes(prefix);
  for (const auto& [name, columns] : view.families) {
    admin::AuthorizedView::FamilySubsets& family = (*subset->mutable_family_subsets())[name];
    for (const std::string& qualifier : columns.qualifiers) family.add_qualifiers(qualifier);
    for (const std::string& prefix : columns.qualifier_prefixes) family.add_qualifier_prefixes(prefix);
  }
}

// Metadata of creating and of updating have the same fields.
template <typename Metadata, typename Request>
Metadata Begin(const Tables& tables, const Request& request) {
  Metadata metadata;
  *metadata.mutable_original_request() = request;
  *metadata.mutable_request_time() = TimeUtil::MicrosecondsToTimestamp(tables.clock().NowMicros());
  return metadata;
}

template <typename Metadata>
absl::Status Finish(const Tables& tables, Operations* operations, const AuthorizedView& view,
                    Metadata metadata, google::longrunning::Operation* response) {
  *metadata.mutable_finish_time() = TimeUtil::MicrosecondsToTimestamp(tables.clock().NowMicros());
  admin::AuthorizedView full;
  ViewToProto(view, admin::AuthorizedView::FULL, &full);
  return operations->Done(view.name, metadata, full, response);
}

}  // namespace

absl::StatusOr<AuthorizedView> ParseCreateAuthorizedView(const admin::CreateAuthorizedViewRequest& request) {
  if (absl::Status status = CheckTableName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckAuthorizedViewId(request.authorized_view_id()); !status.ok()) return status;
  if (!request.authorized_view().has_subset_view()) {
    return absl::InvalidArgumentError("Error in field 'authorized_view' : subset_view must be set");
  }
  AuthorizedView view;
  view.name = fmt::format("{}/authorizedViews/{}", request.parent(), request.authorized_view_id());
  view.deletion_protection = request.authorized_view().deletion_protection();
  absl::Status status = ParseSubset(request.authorized_view().subset_view(), &view);
  if (!status.ok()) return status;
  return view;
}

absl::StatusOr<Catalog::ViewChange> ParseUpdateAuthorizedView(
    const admin::UpdateAuthorizedViewRequest& request) {
  if (absl::Status status = CheckAuthorizedViewName(request.authorized_view().name()); !status.ok())
    return status;
  absl::StatusOr<ViewFields> fields = ParseMask(request);
  if (!fields.ok()) return fields.status();
  AuthorizedView asked;
  asked.deletion_protection = request.authorized_view().deletion_protection();
  absl::Status status = ParseSubset(request.authorized_view().subset_view(), &asked);
  if (!status.ok()) return status;
  return [fields = *fields, asked = std::move(asked)](AuthorizedView* view) {
    if (fields.row_prefixes) view->row_prefixes = asked.row_prefixes;
    if (fields.families) view->families = asked.families;
    if (fields.deletion_protection) view->deletion_protection = asked.deletion_protection;
  };
}

absl::Status CreateAuthorizedView(Tables* tables, Operations* operations,
                                  const admin::CreateAuthorizedViewRequest& request,
                                  google::longrunning::Operation* response) {
  absl::StatusOr<AuthorizedView> parsed = ParseCreateAuthorizedView(request);
  if (!parsed.ok()) return parsed.status();
  auto metadata = Begin<admin::CreateAuthorizedViewMetadata>(*tables, request);
  absl::StatusOr<AuthorizedViewRef> view = tables->catalog().CreateView(*std::move(parsed));
  if (!view.ok()) return view.status();
  spdlog::info("created authorized view {}", (*view)->name);
  return Finish(*tables, operations, **view, std::move(metadata), response);
}

absl::Status UpdateAuthorizedView(Tables* tables, Operations* operations,
                                  const admin::UpdateAuthorizedViewRequest& request,
                                  google::longrunning::Operation* response) {
  absl::StatusOr<Catalog::ViewChange> change = ParseUpdateAuthorizedView(request);
  if (!change.ok()) return change.status();
  auto metadata = Begin<admin::UpdateAuthorizedViewMetadata>(*tables, request);
  const admin::AuthorizedView& asked = request.authorized_view();
  absl::StatusOr<AuthorizedViewRef> view = tables->catalog().UpdateView(asked.name(), asked.etag(), *change);
  if (!view.ok()) return view.status();
  spdlog::info("updated authorized view {}", (*view)->name);
  return Finish(*tables, operations, **view, std::move(metadata), response);
}

absl::Status ListAuthorizedViews(const Catalog& catalog, const admin::ListAuthorizedViewsRequest& request,
                                 admin::ListAuthorizedViewsResponse* response) {
  if (absl::Status status = CheckTableName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckView(request.view()); !status.ok()) return status;
  if (absl::Status status = catalog.Find(request.parent()).status(); !status.ok()) return status;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last view's id before it.
  if (!request.page_token().empty() && !CheckAuthorizedViewId(request.page_token()).ok()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListAuthorizedViews gave");
  }
  const size_t page = request.page_size() == 0
                          ? kListAuthorizedViewsPageMax
                          : std::min<size_t>(request.page_size(), kListAuthorizedViewsPageMax);
  std::vector<AuthorizedViewRef> views = catalog.ListViews(request.parent(), request.page_token(), page + 1);
  if (views.size() > page) {
    views.pop_back();
    response->set_next_page_token(std::string(IdOfAuthorizedView(views.back()->name)));
  }
  const bool is_default = request.view() == admin::AuthorizedView::RESPONSE_VIEW_UNSPECIFIED;
  for (const AuthorizedViewRef& view : views) {
    ViewToProto(*view, is_default ? admin::AuthorizedView::NAME_ONLY : request.view(),
                response->add_authorized_views());
  }
  return absl::OkStatus();
}

absl::Status GetAuthorizedView(const Catalog& catalog, const admin::GetAuthorizedViewRequest& request,
                               admin::AuthorizedView* response) {
  if (absl::Status status = CheckAuthorizedViewName(request.name()); !status.ok()) return status;
  if (absl::Status status = CheckView(request.view()); !status.ok()) return status;
  absl::StatusOr<AuthorizedViewRef> view = catalog.FindView(request.name());
  if (!view.ok()) return view.status();
  // The comments of the API say BASIC for none; the Go client's own test finds the subset in what production
  // gives.
  const bool is_default = request.view() == admin::AuthorizedView::RESPONSE_VIEW_UNSPECIFIED;
  ViewToProto(**view, is_default ? admin::AuthorizedView::FULL : request.view(), response);
  return absl::OkStatus();
}

absl::Status DeleteAuthorizedView(Catalog* catalog, const admin::DeleteAuthorizedViewRequest& request) {
  if (absl::Status status = CheckAuthorizedViewName(request.name()); !status.ok()) return status;
  absl::Status status = catalog->DeleteView(request.name(), request.etag());
  if (status.ok()) spdlog::info("deleted authorized view {}", request.name());
  return status;
}

}  // namespace sonde
