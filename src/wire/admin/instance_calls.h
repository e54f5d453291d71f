// The administration of instances, clusters and app profiles: checks requests and carries them out.
#pragma once

#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "wire/operations/operations.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// Nothing is owned.
struct InstanceParts {
  InstanceStore* instances;
  Catalog* catalog;
  Operations* operations;
  const Clock* clock;
};

// Errors of these functions: those of the function of InstanceStore of the same name.  INVALID_ARGUMENT: a bad name, mask,
// page token, or a field that the rules refuse (wire/resources/instance_rules.h, cluster_rules.h, profile_rules.h).

// --- Instances.
absl::Status CreateInstance(const InstanceParts& parts,
                            const google::bigtable::admin::v2::CreateInstanceRequest& request,
                            google::longrunning::Operation* response);
absl::Status GetInstance(const InstanceParts& parts,
                         const google::bigtable::admin::v2::GetInstanceRequest& request,
                         google::bigtable::admin::v2::Instance* response);
// Page tokens are ignored: all instances are in the answer.
absl::Status ListInstances(const InstanceParts& parts,
                           const google::bigtable::admin::v2::ListInstancesRequest& request,
                           google::bigtable::admin::v2::ListInstancesResponse* response);
// The older call, without a mask: it sets the display name, the type and the labels.
absl::Status UpdateInstance(const InstanceParts& parts, const google::bigtable::admin::v2::Instance& request,
                            google::bigtable::admin::v2::Instance* response);
absl::Status PartialUpdateInstance(const InstanceParts& parts,
                                   const google::bigtable::admin::v2::PartialUpdateInstanceRequest& request,
                                   google::longrunning::Operation* response);
absl::Status DeleteInstance(const InstanceParts& parts,
                            const google::bigtable::admin::v2::DeleteInstanceRequest& request);

// --- Clusters.
absl::Status CreateCluster(const InstanceParts& parts,
                           const google::bigtable::admin::v2::CreateClusterRequest& request,
                           google::longrunning::Operation* response);
absl::Status GetCluster(const InstanceParts& parts,
                        const google::bigtable::admin::v2::GetClusterRequest& request,
                        google::bigtable::admin::v2::Cluster* response);
// Page tokens are ignored: all clusters are in the answer.
absl::Status ListClusters(const InstanceParts& parts,
                          const google::bigtable::admin::v2::ListClustersRequest& request,
                          google::bigtable::admin::v2::ListClustersResponse* response);
// The older call, without a mask: it sets the number of nodes, or autoscaling.
absl::Status UpdateCluster(const InstanceParts& parts, const google::bigtable::admin::v2::Cluster& request,
                           google::longrunning::Operation* response);
absl::Status PartialUpdateCluster(const InstanceParts& parts,
                                  const google::bigtable::admin::v2::PartialUpdateClusterRequest& request,
                                  google::longrunning::Operation* response);
absl::Status DeleteCluster(const InstanceParts& parts,
                           const google::bigtable::admin::v2::DeleteClusterRequest& request);

// --- App profiles.  They are answered without etags, as production answers them.
absl::Status CreateAppProfile(const InstanceParts& parts,
                              const google::bigtable::admin::v2::CreateAppProfileRequest& request,
                              google::bigtable::admin::v2::AppProfile* response);
absl::Status GetAppProfile(const InstanceParts& parts,
                           const google::bigtable::admin::v2::GetAppProfileRequest& request,
                           google::bigtable::admin::v2::AppProfile* response);
absl::Status ListAppProfiles(const InstanceParts& parts,
                             const google::bigtable::admin::v2::ListAppProfilesRequest& request,
                             google::bigtable::admin::v2::ListAppProfilesResponse* response);
absl::Status UpdateAppProfile(const InstanceParts& parts,
                              const google::bigtable::admin::v2::UpdateAppProfileRequest& request,
                              google::longrunning::Operation* response);
// FAILED_PRECONDITION: `ignore_warnings` is not set.
absl::Status DeleteAppProfile(const InstanceParts& parts,
                              const google::bigtable::admin::v2::DeleteAppProfileRequest& request);

}  // namespace sonde
