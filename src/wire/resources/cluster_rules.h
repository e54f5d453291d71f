// Which clusters there may be: pure checks of google.bigtable.admin.v2.Cluster.
//
// INVALID_ARGUMENT of all functions: a field is not as its comment in the API says; the text names the field, the rule and
// the value.
#pragma once

#include <google/bigtable/admin/v2/instance.pb.h>
#include <google/protobuf/field_mask.pb.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// Checks the fields that a client sets, and fills in what it left out: the number of nodes, the storage, the targets of
// autoscaling.  FAILED_PRECONDITION: a key of the client's own, as the disk is encrypted below this server, or not at all.
absl::Status CompleteCluster(google::bigtable::admin::v2::Cluster* cluster);

// Sets the fields that `mask` names to those of `wanted`, and completes the result.
absl::Status UpdateClusterFields(const google::bigtable::admin::v2::Cluster& wanted,
                                 const google::protobuf::FieldMask& mask,
                                 google::bigtable::admin::v2::Cluster* cluster);

// The cluster of an instance that nobody created.
google::bigtable::admin::v2::Cluster ImplicitCluster(std::string_view instance_name);

// What the operation that creates a cluster answers: with autoscaling, the number of nodes is not known yet.
google::bigtable::admin::v2::Cluster AsCreated(google::bigtable::admin::v2::Cluster cluster);

}  // namespace sonde
