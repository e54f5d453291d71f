// Which app profiles there may be: pure checks of google.bigtable.admin.v2.AppProfile.
#pragma once

#include <google/bigtable/admin/v2/instance.pb.h>
#include <google/protobuf/field_mask.pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "wire/call/app_profiles.h"
#include "work/priority.h"

namespace sonde {

constexpr size_t kAppProfilesMax = 2'000;  // an instance
inline constexpr char kDefaultProfileId[] = "default";

// Checks the fields that a client sets, and fills in what it left out: the isolation.  `cluster_ids`: those of the instance.
// INVALID_ARGUMENT: no routing, or one to a cluster that does not exist.
absl::Status CompleteProfile(const std::vector<std::string>& cluster_ids,
                             google::bigtable::admin::v2::AppProfile* profile);

// Sets the fields that `mask` names to those of `wanted`, and completes the result.  FAILED_PRECONDITION: transactions of single
// rows are allowed from now on, and `ignore_warnings` is false.
absl::Status UpdateProfileFields(const google::bigtable::admin::v2::AppProfile& wanted,
                                 const google::protobuf::FieldMask& mask, bool ignore_warnings,
                                 const std::vector<std::string>& cluster_ids,
                                 google::bigtable::admin::v2::AppProfile* profile);

// The profile that an instance with these clusters has from the start.
google::bigtable::admin::v2::AppProfile DefaultProfile(std::string_view instance_name,
                                                       const std::vector<std::string>& cluster_ids);

// Whether a profile routes to this cluster by its name.
bool NamesCluster(const google::bigtable::admin::v2::AppProfile& profile, std::string_view cluster_id);

// Whether calls with this profile are served as if there were no profiles, but for transactions and change streams.
bool IsPlainProfile(const google::bigtable::admin::v2::AppProfile& profile);
Priority PriorityOfProfile(const google::bigtable::admin::v2::AppProfile& profile);
// FAILED_PRECONDITION: the profile's routing, or its isolation, does not allow such calls.
absl::Status CheckProfileUse(const google::bigtable::admin::v2::AppProfile& profile, ProfileUse use);

}  // namespace sonde
