#include "wire/admin/instance_calls.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/format.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/resources/cluster_rules.h"
#include "wire/resources/instance_rules.h"
#include "wire/resources/profile_rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

constexpr size_t kProfilesPageMax = 1'000;

Timestamp NowStamp(const InstanceParts& parts) {
  return TimeUtil::MicrosecondsToTimestamp(parts.clock->NowMicros());
}

// Metadata of the operations that change instances and clusters have the same fields.
template <typename Metadata, typename Request>
Metadata BeganWith(const InstanceParts& parts, const Request& request) {
  Metadata metadata;
  *metadata.mutable_original_request() = request;
  *metadata.mutable_request_time() = NowStamp(parts);
  return metadata;
}

template <typename Metadata, typename Answer>
absl::Status FinishWith(const InstanceParts& parts, const Answer& answer, Metadata metadata,
                        google::longrunning::Operation* response) {
  *metadata.mutable_finish_time() = NowStamp(parts);
  return parts.operations->Done(answer.name(), metadata, answer, response);
}

absl::Status CheckMask(const google::protobuf::FieldMask& mask) {
  return mask.paths().empty() ? absl::InvalidArgumentError("A non-empty 'update_mask' must be specified")
                              : absl::OkStatus();
}

// `projects/P/instances/I`, or with '-' for all instances.
absl::Status CheckParent(const std::string& parent) { return CheckInstanceName(parent); }

// The clusters of a store are one copy of the data, which an operator must know.
void WarnOfOneCopy(const std::string& cluster) {
  spdlog::warn("cluster {} has no copy of its own: all clusters of this server are one store", cluster);
}

}  // namespace

absl::Status CreateInstance(const InstanceParts& parts, const admin::CreateInstanceRequest& request,
                            google::longrunning::Operation* response) {
  if (absl::Status status = CheckProjectName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckNewInstanceId(request.instance_id()); !status.ok()) return status;
  auto metadata = BeganWith<admin::CreateInstanceMetadata>(parts, request);
  admin::Instance instance = request.instance();
  instance.set_name(fmt::format("{}/instances/{}", request.parent(), request.instance_id()));
  if (absl::Status status = CompleteInstance(&instance); !status.ok()) return status;
  std::vector<admin::Cluster> clusters;
  bool has_key = false, has_default = false;
  for (const auto& [id, asked] : request.clusters()) {
    has_key = has_key || !asked.encryption_config().kms_key_name().empty();
    has_default = has_default || asked.encryption_config().kms_key_name().empty();
  }
  if (has_key && has_default) {
    return absl::FailedPreconditionError(
        "Error in field 'clusters' : clusters with default keys and CMEKs are not allowed in one instance");
  }
  for (const auto& [id, asked] : request.clusters()) {
    if (absl::Status status = CheckClusterId(id); !status.ok()) return status;
    // The key of the map is the id, whatever the cluster's own name says.
    admin::Cluster& cluster = clusters.emplace_back(asked);
    cluster.set_name(fmt::format("{}/clusters/{}", instance.name(), id));
    if (absl::Status status = CompleteCluster(&cluster); !status.ok()) return status;
  }
  std::sort(clusters.begin(), clusters.end(),
            [](const admin::Cluster& a, const admin::Cluster& b) { return a.name() < b.name(); });
  const absl::StatusOr<admin::Instance> created =
      parts.instances->CreateInstance(std::move(instance), clusters);
  if (!created.ok()) return created.status();
  spdlog::info("created instance {}", created->name());
  for (size_t i = 1; i < clusters.size(); ++i) WarnOfOneCopy(clusters[i].name());
  return FinishWith(parts, *created, std::move(metadata), response);
}

absl::Status GetInstance(const InstanceParts& parts, const admin::GetInstanceRequest& request,
                         admin::Instance* response) {
  if (absl::Status status = CheckInstanceName(request.name()); !status.ok()) return status;
  absl::StatusOr<admin::Instance> found = parts.instances->FindInstance(request.name());
  if (found.ok()) *response = *std::move(found);
  return found.status();
}

absl::Status ListInstances(const InstanceParts& parts, const admin::ListInstancesRequest& request,
                           admin::ListInstancesResponse* response) {
  if (absl::Status status = CheckProjectName(request.parent()); !status.ok()) return status;
  for (admin::Instance& instance : parts.instances->ListInstances(request.parent())) {
    *response->add_instances() = std::move(instance);
  }
  return absl::OkStatus();
}

absl::Status UpdateInstance(const InstanceParts& parts, const admin::Instance& request,
                            admin::Instance* response) {
  if (absl::Status status = CheckInstanceName(request.name()); !status.ok()) return status;
  google::protobuf::FieldMask mask;
  for (const char* const path : {"display_name", "type", "labels"}) mask.add_paths(path);
  absl::StatusOr<admin::Instance> updated = parts.instances->UpdateInstance(
      request.name(),
      [&](admin::Instance* instance) { return UpdateInstanceFields(request, mask, instance); });
  if (updated.ok()) *response = *std::move(updated);
  return updated.status();
}

absl::Status PartialUpdateInstance(const InstanceParts& parts,
                                   const admin::PartialUpdateInstanceRequest& request,
                                   google::longrunning::Operation* response) {
  if (absl::Status status = CheckInstanceName(request.instance().name()); !status.ok()) return status;
  if (absl::Status status = CheckMask(request.update_mask()); !status.ok()) return status;
  auto metadata = BeganWith<admin::UpdateInstanceMetadata>(parts, request);
  const absl::StatusOr<admin::Instance> updated =
      parts.instances->UpdateInstance(request.instance().name(), [&](admin::Instance* instance) {
        return UpdateInstanceFields(request.instance(), request.update_mask(), instance);
      });
  if (!updated.ok()) return updated.status();
  return FinishWith(parts, *updated, std::move(metadata), response);
}

absl::Status DeleteInstance(const InstanceParts& parts, const admin::DeleteInstanceRequest& request) {
  if (absl::Status status = CheckInstanceName(request.name()); !status.ok()) return status;
  absl::Status status = parts.operations->CheckNoneRuns(request.name());
  if (status.ok()) status = parts.instances->DeleteInstance(request.name());
  if (status.ok()) spdlog::info("deleted instance {}", request.name());
  return status;
}

absl::Status CreateCluster(const InstanceParts& parts, const admin::CreateClusterRequest& request,
                           google::longrunning::Operation* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckClusterId(request.cluster_id()); !status.ok()) return status;
  auto metadata = BeganWith<admin::CreateClusterMetadata>(parts, request);
  admin::Cluster cluster = request.cluster();
  cluster.set_name(fmt::format("{}/clusters/{}", request.parent(), request.cluster_id()));
  if (absl::Status status = CompleteCluster(&cluster); !status.ok()) return status;
  const absl::StatusOr<admin::Cluster> created = parts.instances->CreateCluster(cluster);
  if (!created.ok()) return created.status();
  spdlog::info("created cluster {}", created->name());
  WarnOfOneCopy(created->name());
  for (const TableSchemaRef& table : parts.catalog->List(request.parent(), "", kTablesMax)) {
    (*metadata.mutable_tables())[table->name].set_state(
        admin::CreateClusterMetadata::TableProgress::COMPLETED);
  }
  return FinishWith(parts, AsCreated(*created), std::move(metadata), response);
}

absl::Status GetCluster(const InstanceParts& parts, const admin::GetClusterRequest& request,
                        admin::Cluster* response) {
  if (absl::Status status = CheckClusterName(request.name()); !status.ok()) return status;
  absl::StatusOr<admin::Cluster> found = parts.instances->FindCluster(request.name());
  if (found.ok()) *response = *std::move(found);
  return found.status();
}

absl::Status ListClusters(const InstanceParts& parts, const admin::ListClustersRequest& request,
                          admin::ListClustersResponse* response) {
  if (absl::Status status = CheckParent(request.parent()); !status.ok()) return status;
  absl::StatusOr<std::vector<admin::Cluster>> all = parts.instances->ListClusters(request.parent());
  if (!all.ok()) return all.status();
  for (admin::Cluster& cluster : *all) *response->add_clusters() = std::move(cluster);
  return absl::OkStatus();
}

absl::Status UpdateCluster(const InstanceParts& parts, const admin::Cluster& request,
                           google::longrunning::Operation* response) {
  if (absl::Status status = CheckClusterName(request.name()); !status.ok()) return status;
  auto metadata = BeganWith<admin::UpdateClusterMetadata>(parts, request);
  google::protobuf::FieldMask mask;
  mask.add_paths("cluster_config");
  if (!request.cluster_config().has_cluster_autoscaling_config()) mask.add_paths("serve_nodes");
  const absl::StatusOr<admin::Cluster> updated = parts.instances->UpdateCluster(
      request.name(), [&](admin::Cluster* cluster) { return UpdateClusterFields(request, mask, cluster); });
  if (!updated.ok()) return updated.status();
  return FinishWith(parts, *updated, std::move(metadata), response);
}

absl::Status PartialUpdateCluster(const InstanceParts& parts,
                                  const admin::PartialUpdateClusterRequest& request,
                                  google::longrunning::Operation* response) {
  if (absl::Status status = CheckClusterName(request.cluster().name()); !status.ok()) return status;
  if (absl::Status status = CheckMask(request.update_mask()); !status.ok()) return status;
  auto metadata = BeganWith<admin::PartialUpdateClusterMetadata>(parts, request);
  const absl::StatusOr<admin::Cluster> updated =
      parts.instances->UpdateCluster(request.cluster().name(), [&](admin::Cluster* cluster) {
        return UpdateClusterFields(request.cluster(), request.update_mask(), cluster);
      });
  if (!updated.ok()) return updated.status();
  return FinishWith(parts, *updated, std::move(metadata), response);
}

absl::Status DeleteCluster(const InstanceParts& parts, const admin::DeleteClusterRequest& request) {
  if (absl::Status status = CheckClusterName(request.name()); !status.ok()) return status;
  absl::Status status = parts.operations->CheckNoneRuns(request.name());
  if (status.ok()) status = parts.instances->DeleteCluster(request.name());
  if (status.ok()) spdlog::info("deleted cluster {}", request.name());
  return status;
}

absl::Status CreateAppProfile(const InstanceParts& parts, const admin::CreateAppProfileRequest& request,
                              admin::AppProfile* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckAppProfileId(request.app_profile_id()); !status.ok()) return status;
  admin::AppProfile profile = request.app_profile();
  profile.set_name(fmt::format("{}/appProfiles/{}", request.parent(), request.app_profile_id()));
  absl::StatusOr<admin::AppProfile> created = parts.instances->CreateProfile(std::move(profile));
  if (created.ok()) *response = *std::move(created);
  return created.status();
}

absl::Status GetAppProfile(const InstanceParts& parts, const admin::GetAppProfileRequest& request,
                           admin::AppProfile* response) {
  if (absl::Status status = CheckAppProfileName(request.name()); !status.ok()) return status;
  absl::StatusOr<admin::AppProfile> found = parts.instances->FindProfile(request.name());
  if (found.ok()) *response = *std::move(found);
  return found.status();
}

absl::Status ListAppProfiles(const InstanceParts& parts, const admin::ListAppProfilesRequest& request,
                             admin::ListAppProfilesResponse* response) {
  if (absl::Status status = CheckParent(request.parent()); !status.ok()) return status;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last name before it.
  const std::string& token = request.page_token();
  if (!token.empty() && !CheckAppProfileName(token).ok()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListAppProfiles gave");
  }
  absl::StatusOr<std::vector<admin::AppProfile>> all = parts.instances->ListProfiles(request.parent());
  if (!all.ok()) return all.status();
  const size_t page =
      request.page_size() == 0 ? kProfilesPageMax : std::min<size_t>(request.page_size(), kProfilesPageMax);
  for (admin::AppProfile& profile : *all) {
    if (profile.name() <= token) continue;
    if (static_cast<size_t>(response->app_profiles_size()) == page) {
      response->set_next_page_token(response->app_profiles().rbegin()->name());
      break;
    }
    *response->add_app_profiles() = std::move(profile);
  }
  return absl::OkStatus();
}

absl::Status UpdateAppProfile(const InstanceParts& parts, const admin::UpdateAppProfileRequest& request,
                              google::longrunning::Operation* response) {
  const admin::AppProfile& asked = request.app_profile();
  if (absl::Status status = CheckAppProfileName(asked.name()); !status.ok()) return status;
  if (absl::Status status = CheckMask(request.update_mask()); !status.ok()) return status;
  const absl::StatusOr<admin::AppProfile> updated = parts.instances->UpdateProfile(
      asked.name(), asked.etag(),
      [&](const std::vector<std::string>& cluster_ids, admin::AppProfile* profile) {
        return UpdateProfileFields(asked, request.update_mask(), request.ignore_warnings(), cluster_ids,
                                   profile);
      });
  if (!updated.ok()) return updated.status();
  return parts.operations->Done(updated->name(), admin::UpdateAppProfileMetadata(), *updated, response);
}

absl::Status DeleteAppProfile(const InstanceParts& parts, const admin::DeleteAppProfileRequest& request) {
  if (absl::Status status = CheckAppProfileName(request.name()); !status.ok()) return status;
  if (absl::Status status = parts.instances->FindProfile(request.name()).status(); !status.ok())
    return status;
  if (!request.ignore_warnings()) {
    return absl::FailedPreconditionError("Deleting an app profile will cause all requests using it to fail.");
  }
  return parts.instances->DeleteProfile(request.name());
}

}  // namespace sonde
