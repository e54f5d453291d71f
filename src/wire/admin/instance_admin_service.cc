#include "wire/admin/instance_admin_service.h"

#include <fmt/format.h>
#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/admin/instance_calls.h"
#include "wire/admin/schemas.h"
#include "wire/admin/sql_views.h"
#include "wire/call/call_access.h"
#include "wire/call/calls.h"
#include "wire/call/cluster.h"
#include "wire/call/service_names.h"
#include "wire/operations/operations_service.h"
#include "wire/resources/cluster_rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr int64_t kRangeSecondsMax = 48 * 3600;
constexpr int64_t kRangeSecondsUsual = 24 * 3600;
constexpr size_t kPageMax = 1'000;
// A tablet that takes less of the processor is not called hot.
constexpr double kCpuPercentMin = 10;
// A view of a small table has its rows within this time.
constexpr absl::Duration kFirstRowsWaitMax = absl::Seconds(2);

// Fields of type string must be UTF-8; a key need not.
std::string KeyText(const std::string& key) {
  const bool is_ascii =
      std::all_of(key.begin(), key.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  return is_ascii ? key : Printable(key, kRowKeyBytesMax);
}

// The instance whose tablets a parent has.
absl::StatusOr<std::string> InstanceOfParent(const InstanceStore& instances, const std::string& parent) {
  constexpr std::string_view kAnyCluster = "/clusters/-";
  if (parent.ends_with(kAnyCluster)) {
    std::string instance = parent.substr(0, parent.size() - kAnyCluster.size());
    if (absl::Status status = CheckInstanceName(instance); !status.ok()) return status;
    return instance;
  }
  if (!CheckClusterName(parent).ok()) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'parent' : must be projects/P/instances/I/clusters/C, but is '{}'",
                    Printable(parent)));
  }
  if (!instances.FindCluster(parent).ok()) {
    return absl::NotFoundError(fmt::format("Cluster not found: {}", Printable(parent)));
  }
  return std::string(InstanceOfCluster(parent));
}

struct Times {
  int64_t start_seconds = 0, end_seconds = 0;
};

absl::StatusOr<Times> TimesOf(const admin::ListHotTabletsRequest& request, int64_t now_seconds) {
  Times times{now_seconds - kRangeSecondsUsual, now_seconds};
  if (request.has_end_time()) times.end_seconds = request.end_time().seconds();
  times.start_seconds =
      request.has_start_time() ? request.start_time().seconds() : times.end_seconds - kRangeSecondsUsual;
  if (times.start_seconds >= times.end_seconds ||
      times.end_seconds - times.start_seconds > kRangeSecondsMax) {
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'start_time' : must lie before end_time, by at most {} hours; they are {} s apart",
        kRangeSecondsMax / 3600, times.end_seconds - times.start_seconds));
  }
  return times;
}

// Whether the call's caller may read a table or view.
sql::InstanceNames::MayRead MayReadOf(const rpc::Call& call) {
  return [&call](std::string_view resource) { return CheckMayRead(call, resource); };
}

// Creates a view, and ends the call when the view has its first rows; or after kFirstRowsWaitMax, with an operation that goes on.
void AnswerNewView(const SqlViewParts& parts, OperationWaits* waits, const CallEnd& end, rpc::MessageBytes in,
                   Admission::Place place) {
  ParsedRequest<admin::CreateMaterializedViewRequest> request;
  google::longrunning::Operation operation;
  absl::Status status = request.Parse(&in, &place);
  if (status.ok()) {
    const CallScope scope(*end.call());
    status = CreateMaterializedView(parts, MayReadOf(*end.call()), request.message(), &operation);
  }
  if (!status.ok()) return end(status);
  EndWithOperation(end, parts.operations, waits, operation.name(), kFirstRowsWaitMax, std::move(place));
}

void AddSqlViews(const InstanceAdminParts& all, const CallKind& kind, Service* service) {
  using google::longrunning::Operation;
  using google::protobuf::Empty;
  const auto bundles = std::make_shared<sql::BundleFinder>(&all.tables->catalog());
  const SqlViewParts parts{.catalog = &all.tables->catalog(),
                           .instances = all.instances,
                           .operations = all.operations,
                           .runner = all.runner,
                           .clock = &all.tables->clock(),
                           .bundles = bundles.get(),
                           .dialect = all.dialect,
                           .definitions = all.view_definitions};
  service->AddUnary<admin::CreateLogicalViewRequest, Operation>(
      kind, [parts, bundles](const rpc::Call& call, const admin::CreateLogicalViewRequest& in,
                             Operation* out) { return CreateLogicalView(parts, MayReadOf(call), in, out); });
  service->AddUnary<admin::GetLogicalViewRequest, admin::LogicalView>(
      kind, [parts](const auto& in, auto* out) { return GetLogicalView(parts, in, out); });
  service->AddUnary<admin::ListLogicalViewsRequest, admin::ListLogicalViewsResponse>(
      kind, [parts](const auto& in, auto* out) { return ListLogicalViews(parts, in, out); });
  service->AddUnary<admin::UpdateLogicalViewRequest, Operation>(
      kind, [parts, bundles](const rpc::Call& call, const admin::UpdateLogicalViewRequest& in,
                             Operation* out) { return UpdateLogicalView(parts, MayReadOf(call), in, out); });
  service->AddUnary<admin::DeleteLogicalViewRequest, Empty>(
      kind, [parts](const auto& in, auto*) { return DeleteLogicalView(parts, in); });
  service->Add(
      "CreateMaterializedView", kind,
      [parts, kind, waits = all.waits](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
        auto work = [parts, waits, end, in = std::move(in),
                     place = std::move(place)](const absl::Status& turn) mutable {
          end.Began(absl::Now());
          turn.ok() ? AnswerNewView(parts, waits, end, std::move(in), std::move(place)) : end(turn);
        };
        Run(kind, end.call()->deadline(), end.priority(), std::move(work));
      });
  service->AddUnary<admin::GetMaterializedViewRequest, admin::MaterializedView>(
      kind, [parts](const auto& in, auto* out) { return GetMaterializedView(parts, in, out); });
  service->AddUnary<admin::ListMaterializedViewsRequest, admin::ListMaterializedViewsResponse>(
      kind, [parts](const auto& in, auto* out) { return ListMaterializedViews(parts, in, out); });
  service->AddUnary<admin::UpdateMaterializedViewRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return UpdateMaterializedView(parts, in, out); });
  service->AddUnary<admin::DeleteMaterializedViewRequest, Empty>(
      kind, [parts](const auto& in, auto*) { return DeleteMaterializedView(parts, in); });
}

}  // namespace

absl::Status ListHotTablets(Tables* tables, const InstanceStore& instances, KeyVisualizer* key_visualizer,
                            const admin::ListHotTabletsRequest& request,
                            admin::ListHotTabletsResponse* response) {
  const absl::StatusOr<std::string> instance = InstanceOfParent(instances, request.parent());
  if (!instance.ok()) return instance.status();
  const absl::StatusOr<Times> times = TimesOf(request, tables->clock().NowMicros() / 1'000'000);
  if (!times.ok()) return times.status();
  size_t first = 0;
  const std::string& token = request.page_token();
  if (!token.empty() &&
      std::from_chars(token.data(), token.data() + token.size(), first).ptr != token.data() + token.size()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListHotTablets gave");
  }
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  if (key_visualizer == nullptr) return absl::OkStatus();
  std::vector<std::pair<TableSchemaRef, HotTablet>> all;
  const std::vector<RowRange> whole = {RowRange::All()};
  for (const TableSchemaRef& schema : tables->catalog().List(*instance, "", kTablesMax)) {
    if (key_visualizer->KeyCount(schema->id) == 0) continue;  // nothing was seen there
    absl::StatusOr<std::vector<RowKeySample>> samples = tables->SampleRowKeys(*schema, whole);
    if (!samples.ok()) continue;  // it is being dropped
    std::vector<std::string> starts = {""};
    for (const RowKeySample& sample : *samples) {
      if (!sample.row_key.empty() && sample.row_key != starts.back()) starts.push_back(sample.row_key);
    }
    absl::StatusOr<std::vector<HotTablet>> hot = key_visualizer->HotTablets(
        schema->id, starts, times->start_seconds, times->end_seconds, kCpuPercentMin);
    if (!hot.ok()) return hot.status();
    for (HotTablet& tablet : *hot) all.emplace_back(schema, std::move(tablet));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.cpu_percent > b.second.cpu_percent; });
  const size_t page = request.page_size() == 0 ? kPageMax : std::min<size_t>(request.page_size(), kPageMax);
  const size_t end = std::min(all.size(), std::min(first, all.size()) + page);
  for (size_t i = first; i < end; ++i) {
    const auto& [schema, tablet] = all[i];
    admin::HotTablet* out = response->add_hot_tablets();
    out->set_name(fmt::format("{}/clusters/{}/hotTablets/{}-{}-{}", *instance, kClusterId,
                              IdOfTable(schema->name), tablet.start_seconds, i));
    out->set_table_name(schema->name);
    out->mutable_start_time()->set_seconds(tablet.start_seconds);
    out->mutable_end_time()->set_seconds(tablet.end_seconds);
    out->set_start_key(KeyText(tablet.start_key));
    out->set_end_key(KeyText(tablet.end_key));
    out->set_node_cpu_usage_percent(static_cast<float>(tablet.cpu_percent));
  }
  if (end < all.size()) response->set_next_page_token(std::to_string(end));
  return absl::OkStatus();
}

void AddInstanceAdminService(const InstanceAdminParts& all, const CallResources& resources,
                             rpc::Router* router) {
  Service service(kInstanceAdminService, resources.metrics, router);
  const CallKind kind = resources.Administration();
  const InstanceParts parts{all.instances, &all.tables->catalog(), all.operations, &all.tables->clock()};
  using google::longrunning::Operation;
  using google::protobuf::Empty;
  service.AddUnary<admin::CreateInstanceRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return CreateInstance(parts, in, out); });
  service.AddUnary<admin::GetInstanceRequest, admin::Instance>(
      kind, [parts](const auto& in, auto* out) { return GetInstance(parts, in, out); });
  service.AddUnary<admin::ListInstancesRequest, admin::ListInstancesResponse>(
      kind, [parts](const auto& in, auto* out) { return ListInstances(parts, in, out); });
  service.AddUnary<admin::Instance, admin::Instance>(
      "UpdateInstance", kind, [parts](const auto& in, auto* out) { return UpdateInstance(parts, in, out); });
  service.AddUnary<admin::PartialUpdateInstanceRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return PartialUpdateInstance(parts, in, out); });
  service.AddUnary<admin::DeleteInstanceRequest, Empty>(
      kind, [parts](const auto& in, auto*) { return DeleteInstance(parts, in); });
  service.AddUnary<admin::CreateClusterRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return CreateCluster(parts, in, out); });
  service.AddUnary<admin::GetClusterRequest, admin::Cluster>(
      kind, [parts](const auto& in, auto* out) { return GetCluster(parts, in, out); });
  service.AddUnary<admin::ListClustersRequest, admin::ListClustersResponse>(
      kind, [parts](const auto& in, auto* out) { return ListClusters(parts, in, out); });
  service.AddUnary<admin::Cluster, Operation>(
      "UpdateCluster", kind, [parts](const auto& in, auto* out) { return UpdateCluster(parts, in, out); });
  service.AddUnary<admin::PartialUpdateClusterRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return PartialUpdateCluster(parts, in, out); });
  service.AddUnary<admin::DeleteClusterRequest, Empty>(
      kind, [parts](const auto& in, auto*) { return DeleteCluster(parts, in); });
  service.AddUnary<admin::CreateAppProfileRequest, admin::AppProfile>(
      kind, [parts](const auto& in, auto* out) { return CreateAppProfile(parts, in, out); });
  service.AddUnary<admin::GetAppProfileRequest, admin::AppProfile>(
      kind, [parts](const auto& in, auto* out) { return GetAppProfile(parts, in, out); });
  service.AddUnary<admin::ListAppProfilesRequest, admin::ListAppProfilesResponse>(
      kind, [parts](const auto& in, auto* out) { return ListAppProfiles(parts, in, out); });
  service.AddUnary<admin::UpdateAppProfileRequest, Operation>(
      kind, [parts](const auto& in, auto* out) { return UpdateAppProfile(parts, in, out); });
  service.AddUnary<admin::DeleteAppProfileRequest, Empty>(
      kind, [parts](const auto& in, auto*) { return DeleteAppProfile(parts, in); });
  service.AddUnary<admin::ListHotTabletsRequest, admin::ListHotTabletsResponse>(
      kind, [all](const auto& in, auto* out) {
        return ListHotTablets(all.tables, *all.instances, all.key_visualizer, in, out);
      });
  AddSqlViews(all, kind, &service);
}

}  // namespace sonde
