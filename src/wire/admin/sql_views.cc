#include "wire/admin/sql_views.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>
#include <google/protobuf/wrappers.pb.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/format.h"
#include "model/limits.h"
#include "model/names.h"
#include "sql/bind/view_sources.h"
#include "wire/call/not_built.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::TimeUtil;

// Clients take messages of 4 MiB, unless they say otherwise.
constexpr size_t kViewsPageBytesMax = 3 << 20;

// Both kinds of views, and the metadata of all their operations, have the same fields.
template <typename View, typename Message>
void SqlViewToProto(const View& view, Message* out) {
  out->set_name(view.name);
  out->set_query(view.query);
  out->set_etag(EtagOf(view));
  out->set_deletion_protection(view.deletion_protection);
}

template <typename Metadata, typename Request>
Metadata BeginView(const SqlViewParts& parts, const Request& request) {
  Metadata metadata;
  *metadata.mutable_original_request() = request;
  *metadata.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(parts.clock->NowMicros());
  return metadata;
}

std::string MaterializedViewOf(const admin::CreateMaterializedViewRequest& request) {
  return fmt::format("{}/materializedViews/{}", request.parent(), request.materialized_view_id());
}

template <typename Message, typename Metadata, typename View>
absl::Status FinishView(const SqlViewParts& parts, const View& view, Metadata metadata,
                        google::longrunning::Operation* response) {
  *metadata.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(parts.clock->NowMicros());
  Message full;
  SqlViewToProto(view, &full);
  return parts.operations->Done(view.name, metadata, full, response);
}

absl::Status CheckQueryIsSet(const std::string& query) {
  if (!query.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("Error in field 'query' : It is empty");
}

// Removes a view, whether it is protected or not.
absl::Status RemoveView(Catalog* catalog, const std::string& name) {
  const auto unprotect = [](MaterializedViewRecord* view) { view->deletion_protection = false; };
  absl::Status status = catalog->UpdateMaterializedView(name, "", unprotect).status();
  return status.ok() ? catalog->DeleteMaterializedView(name, "") : status;
}

// Looks whether the view of an operation has all rows.
OperationEnd RunCreateMaterializedView(const Catalog* catalog, const Clock* clock,
                                       RunningOperation* operation) {
  OperationEnd end{.status = operation->GoesOn()};
  if (!end.status.ok()) return end;
  auto metadata = operation->Metadata<admin::CreateMaterializedViewMetadata>();
  const std::string name = MaterializedViewOf(metadata.original_request());
  const absl::StatusOr<MaterializedViewRef> view = catalog->FindMaterializedView(name);
  const auto storage = operation->Request<google::protobuf::UInt64Value>();
  if (!view.ok() || (*view)->storage->id != storage.value()) {
    end.status = absl::AbortedError(
        fmt::format("Materialized view {} was deleted before it had all rows of its table", name));
  } else if ((*view)->state != MaterializedViewRecord::State::kReady) {
    operation->LooksAgain();
    return end;
  } else {
    admin::MaterializedView full;
    SqlViewToProto(**view, &full);
    end.response.PackFrom(full);
  }
  *metadata.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(clock->NowMicros());
  end.metadata.PackFrom(metadata);
  return end;
}

// Binds `view->query` and sets what it reads from.
absl::Status BindLogicalView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                             LogicalViewRecord* view) {
  if (absl::Status status = CheckQueryIsSet(view->query); !status.ok()) return status;
  const sql::InstanceNames names(parts.catalog, parts.bundles, /*series=*/nullptr,
                                 std::string(InstanceOfSqlView(view->name)), parts.dialect, may_read);
  sql::BindOptions options = names.Options();
  options.defines = view->name;
  absl::StatusOr<sql::BoundQuery> query = sql::ParseAndBind(view->query, options);
  if (!query.ok()) return query.status();
  if (query->explain != sql::BoundQuery::Explain::kNo) {
    return absl::InvalidArgumentError("Error in field 'query' : A view cannot be an EXPLAIN");
  }
  sql::SetSources(&*query, view);
  return absl::OkStatus();
}

// The fields that an update sets.
struct SqlViewFields {
  bool query = false;
  bool deletion_protection = false;
};

// Without a mask these are the fields that have a value.
template <typename Message>
absl::StatusOr<SqlViewFields> ParseViewMask(const google::protobuf::FieldMask& mask, const Message& asked,
                                            std::string_view updatable) {
  if (mask.paths().empty()) return SqlViewFields{!asked.query().empty(), asked.deletion_protection()};
  SqlViewFields fields;
  for (const std::string& path : mask.paths()) {
    if (path == "*") {
      fields = {true, true};
    } else if (path == "query") {
      fields.query = true;
    } else if (path == "deletion_protection") {
      fields.deletion_protection = true;
    } else if (path != "etag") {  // which is compared, whatever the mask says
      return absl::InvalidArgumentError(fmt::format(
          "Error in field 'update_mask' : '{}' cannot be updated; {} can", Printable(path), updatable));
    }
  }
  return fields;
}

// `list(token, count)` gives the views behind the one with the id `token`.
template <typename Request, typename Response, typename List, typename Add>
absl::Status ListViewsInPages(const Request& request, const List& list, const Add& add, Response* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last view's id before it.
  if (!request.page_token().empty() && !CheckLogicalViewId(request.page_token()).ok()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that this call gave");
  }
  const size_t page = request.page_size() == 0 ? kListSqlViewsPageMax
                                               : std::min<size_t>(request.page_size(), kListSqlViewsPageMax);
  size_t bytes = 0, given = 0;
  std::string last;
  for (const auto& view : list(request.page_token(), page + 1)) {
    bytes += view->query.size();
    if (given == page || (given > 0 && bytes > kViewsPageBytesMax)) {
      response->set_next_page_token(last);
      break;
    }
    SqlViewToProto(*view, add(response));
    last = IdOfSqlView(view->name);
    ++given;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateLogicalView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                               const admin::CreateLogicalViewRequest& request,
                               google::longrunning::Operation* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckLogicalViewId(request.logical_view_id()); !status.ok()) return status;
  if (absl::Status status = parts.instances->CheckMayHaveTables(request.parent()); !status.ok())
    return status;
  auto metadata = BeginView<admin::CreateLogicalViewMetadata>(parts, request);
  LogicalViewRecord view{
      .name = fmt::format("{}/logicalViews/{}", request.parent(), request.logical_view_id()),
      .query = request.logical_view().query(),
      .deletion_protection = request.logical_view().deletion_protection()};
  if (absl::Status status = BindLogicalView(parts, may_read, &view); !status.ok()) return status;
  const absl::StatusOr<LogicalViewRef> made = parts.catalog->CreateLogicalView(std::move(view));
  if (!made.ok()) return made.status();
  if (absl::Status status = parts.instances->EnsureInstance(request.parent()); !status.ok()) return status;
  spdlog::info("created logical view {}", (*made)->name);
  return FinishView<admin::LogicalView>(parts, **made, std::move(metadata), response);
}

absl::Status GetLogicalView(const SqlViewParts& parts, const admin::GetLogicalViewRequest& request,
                            admin::LogicalView* response) {
  if (absl::Status status = CheckLogicalViewName(request.name()); !status.ok()) return status;
  const absl::StatusOr<LogicalViewRef> view = parts.catalog->FindLogicalView(request.name());
  if (view.ok()) SqlViewToProto(**view, response);
  return view.status();
}

absl::Status ListLogicalViews(const SqlViewParts& parts, const admin::ListLogicalViewsRequest& request,
                              admin::ListLogicalViewsResponse* response) {
  return ListViewsInPages(
      request,
      [&](const std::string& token, size_t count) {
        return parts.catalog->ListLogicalViews(request.parent(), token, count);
      },
      [](admin::ListLogicalViewsResponse* to) { return to->add_logical_views(); }, response);
}

absl::Status UpdateLogicalView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                               const admin::UpdateLogicalViewRequest& request,
                               google::longrunning::Operation* response) {
  const admin::LogicalView& asked = request.logical_view();
  if (absl::Status status = CheckLogicalViewName(asked.name()); !status.ok()) return status;
  const absl::StatusOr<SqlViewFields> fields =
      ParseViewMask(request.update_mask(), asked, "query and deletion_protection");
  if (!fields.ok()) return fields.status();
  if (absl::Status status = parts.catalog->FindLogicalView(asked.name()).status(); !status.ok())
    return status;
  auto metadata = BeginView<admin::UpdateLogicalViewMetadata>(parts, request);
  LogicalViewRecord bound{.name = asked.name(), .query = asked.query()};
  if (fields->query) {
    if (absl::Status status = BindLogicalView(parts, may_read, &bound); !status.ok()) return status;
  }
  const auto change = [&](LogicalViewRecord* view) {
    if (fields->deletion_protection) view->deletion_protection = asked.deletion_protection();
    if (!fields->query) return;
    view->query = bound.query;
    view->tables = bound.tables;
    view->views = bound.views;
  };
  const absl::StatusOr<LogicalViewRef> made =
      parts.catalog->UpdateLogicalView(asked.name(), asked.etag(), change);
  if (!made.ok()) return made.status();
  spdlog::info("updated logical view {}", (*made)->name);
  return FinishView<admin::LogicalView>(parts, **made, std::move(metadata), response);
}

absl::Status DeleteLogicalView(const SqlViewParts& parts, const admin::DeleteLogicalViewRequest& request) {
  if (absl::Status status = CheckLogicalViewName(request.name()); !status.ok()) return status;
  absl::Status status = parts.catalog->DeleteLogicalView(request.name(), request.etag());
  if (status.ok()) spdlog::info("deleted logical view {}", request.name());
  return status;
}

std::map<std::string, OperationKind> SqlViewOperationKinds(const Catalog* catalog, const Clock* clock) {
  std::map<std::string, OperationKind> kinds;
  kinds["CreateMaterializedView"] = {.is_cancellable = false,
                                     .run = [catalog, clock](RunningOperation* operation) {
                                       return RunCreateMaterializedView(catalog, clock, operation);
                                     }};
  return kinds;
}

absl::Status CreateMaterializedView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                                    const admin::CreateMaterializedViewRequest& request,
                                    google::longrunning::Operation* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckMaterializedViewId(request.materialized_view_id()); !status.ok())
    return status;
  if (parts.definitions == nullptr) return NotBuilt("Materialized views are not built");
  const std::string& query = request.materialized_view().query();
  if (absl::Status status = CheckQueryIsSet(query); !status.ok()) return status;
  auto metadata = BeginView<admin::CreateMaterializedViewMetadata>(parts, request);
  absl::StatusOr<MaterializedViewFacts> facts = parts.definitions->Check(
      request.parent(), query,
      [&](std::string_view table) { return may_read == nullptr ? absl::OkStatus() : may_read(table); });
  if (!facts.ok()) return facts.status();
  MaterializedViewRecord view{.name = MaterializedViewOf(request),
                              .query = query,
                              .deletion_protection = request.materialized_view().deletion_protection(),
                              .source = std::move(facts->source),
                              .shown_columns = std::move(facts->shown_columns),
                              .unpacked_columns = std::move(facts->unpacked_columns),
                              .storage = std::make_shared<const TableSchema>(std::move(facts->storage)),
                              .workings = std::make_shared<const TableSchema>(std::move(facts->workings))};
  const absl::StatusOr<MaterializedViewRef> made = parts.catalog->CreateMaterializedView(std::move(view));
  if (!made.ok()) return made.status();
  google::protobuf::UInt64Value storage;  // which tells the view from a later one of its name
  storage.set_value((*made)->storage->id);
  absl::Status begun = parts.runner->Begin((*made)->name, storage, metadata, nullptr, response);
  if (begun.ok()) {
    spdlog::info("created materialized view {}", (*made)->name);
    return begun;
  }
  // Nobody could tell when a view without its operation is complete.
  const absl::Status removed = RemoveView(parts.catalog, (*made)->name);
  if (!removed.ok()) {
    spdlog::error("removing {}, whose operation did not begin: {}", (*made)->name,
                  std::string(removed.message()));
  }
  return begun;
}

absl::Status GetMaterializedView(const SqlViewParts& parts, const admin::GetMaterializedViewRequest& request,
                                 admin::MaterializedView* response) {
  if (absl::Status status = CheckMaterializedViewName(request.name()); !status.ok()) return status;
  const absl::StatusOr<MaterializedViewRef> view = parts.catalog->FindMaterializedView(request.name());
  if (view.ok()) SqlViewToProto(**view, response);
  return view.status();
}

absl::Status ListMaterializedViews(const SqlViewParts& parts,
                                   const admin::ListMaterializedViewsRequest& request,
                                   admin::ListMaterializedViewsResponse* response) {
  return ListViewsInPages(
      request,
      [&](const std::string& token, size_t count) {
        return parts.catalog->ListMaterializedViews(request.parent(), token, count);
      },
      [](admin::ListMaterializedViewsResponse* to) { return to->add_materialized_views(); }, response);
}

absl::Status UpdateMaterializedView(const SqlViewParts& parts,
                                    const admin::UpdateMaterializedViewRequest& request,
                                    google::longrunning::Operation* response) {
  const admin::MaterializedView& asked = request.materialized_view();
  if (absl::Status status = CheckMaterializedViewName(asked.name()); !status.ok()) return status;
  const absl::StatusOr<SqlViewFields> fields =
      ParseViewMask(request.update_mask(), asked, "deletion_protection");
  if (!fields.ok()) return fields.status();
  if (fields->query) {
    return absl::InvalidArgumentError(
        "Immutable fields 'query' cannot be updated: delete the view and create another one");
  }
  auto metadata = BeginView<admin::UpdateMaterializedViewMetadata>(parts, request);
  const auto change = [&](MaterializedViewRecord* view) {
    if (fields->deletion_protection) view->deletion_protection = asked.deletion_protection();
  };
  const absl::StatusOr<MaterializedViewRef> made =
      parts.catalog->UpdateMaterializedView(asked.name(), asked.etag(), change);
  if (!made.ok()) return made.status();
  spdlog::info("updated materialized view {}", (*made)->name);
  return FinishView<admin::MaterializedView>(parts, **made, std::move(metadata), response);
}

absl::Status DeleteMaterializedView(const SqlViewParts& parts,
                                    const admin::DeleteMaterializedViewRequest& request) {
  if (absl::Status status = CheckMaterializedViewName(request.name()); !status.ok()) return status;
  absl::Status status = parts.catalog->DeleteMaterializedView(request.name(), request.etag());
  if (status.ok()) spdlog::info("deleted materialized view {}", request.name());
  return status;
}

}  // namespace sonde
