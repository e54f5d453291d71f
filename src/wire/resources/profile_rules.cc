#include "wire/resources/profile_rules.h"

#include <fmt/format.h>
#include <google/protobuf/util/field_mask_util.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/bytes.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::FieldMaskUtil;

absl::Status WrongProfile(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : {}", field, what));
}

absl::Status CheckCluster(const std::vector<std::string>& cluster_ids, std::string_view field,
                          const std::string& id) {
  if (std::find(cluster_ids.begin(), cluster_ids.end(), id) != cluster_ids.end()) return absl::OkStatus();
  return WrongProfile(field, fmt::format("the instance has no cluster '{}'", Printable(id)));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // older clients set `priority`
absl::Status CompleteIsolation(admin::AppProfile* profile) {
  if (profile->has_data_boost_isolation_read_only()) {
    if (profile->data_boost_isolation_read_only().compute_billing_owner() ==
        admin::AppProfile::DataBoostIsolationReadOnly::HOST_PAYS) {
      return absl::OkStatus();
    }
    return WrongProfile("data_boost_isolation_read_only.compute_billing_owner", "must be HOST_PAYS");
  }
  // `priority` is the older form of the other field.
  const admin::AppProfile::Priority asked = profile->isolation_case() == admin::AppProfile::kPriority
                                                ? profile->priority()
                                                : profile->standard_isolation().priority();
  if (!admin::AppProfile::Priority_IsValid(asked)) {
    return WrongProfile("standard_isolation.priority", fmt::format("{} is none", static_cast<int>(asked)));
  }
  profile->mutable_standard_isolation()->set_priority(
      asked == admin::AppProfile::PRIORITY_UNSPECIFIED ? admin::AppProfile::PRIORITY_HIGH : asked);
  return absl::OkStatus();
}

#pragma GCC diagnostic pop

absl::Status CheckProfilePath(const std::string& path) {
  static const RE2 kPath(
      R"(description|priority|multi_cluster_routing_use_any(\.(cluster_ids|row_affinity))?|)"
      R"(single_cluster_routing(\.(cluster_id|allow_transactional_writes))?|standard_isolation(\.priority)?|)"
      R"(data_boost_isolation_read_only(\.compute_billing_owner)?)");
  if (RE2::FullMatch(path, kPath)) return absl::OkStatus();
  return WrongProfile(
      "update_mask", fmt::format("'{}' cannot be updated; the description, the routing and the isolation can",
                                 Printable(path)));
}

}  // namespace

absl::Status CompleteProfile(const std::vector<std::string>& cluster_ids, admin::AppProfile* profile) {
  switch (profile->routing_policy_case()) {
    case admin::AppProfile::kSingleClusterRouting:
      if (absl::Status status = CheckCluster(cluster_ids, "single_cluster_routing.cluster_id",
                                             profile->single_cluster_routing().cluster_id());
          !status.ok()) {
        return status;
      }
      break;
    case admin::AppProfile::kMultiClusterRoutingUseAny:
      for (const std::string& id : profile->multi_cluster_routing_use_any().cluster_ids()) {
        if (absl::Status status = CheckCluster(cluster_ids, "multi_cluster_routing_use_any.cluster_ids", id);
            !status.ok()) {
          return status;
        }
      }
      break;
    case admin::AppProfile::ROUTING_POLICY_NOT_SET:
      return WrongProfile("routing_policy",
                          "one of multi_cluster_routing_use_any and single_cluster_routing must be set");
  }
  profile->clear_etag();
  return CompleteIsolation(profile);
}

absl::Status UpdateProfileFields(const admin::AppProfile& wanted, const google::protobuf::FieldMask& mask,
                                 bool ignore_warnings, const std::vector<std::string>& cluster_ids,
                                 admin::AppProfile* profile) {
  if (mask.paths().empty()) return absl::InvalidArgumentError("A non-empty 'update_mask' must be specified");
  for (const std::string& path : mask.paths()) {
    if (absl::Status status = CheckProfilePath(path); !status.ok()) return status;
  }
  const admin::AppProfile before = *profile;
  FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  options.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(wanted, mask, options, profile);
  if (absl::Status status = CompleteProfile(cluster_ids, profile); !status.ok()) return status;
  const bool allows_now = before.has_single_cluster_routing() &&
                          !before.single_cluster_routing().allow_transactional_writes() &&
                          profile->single_cluster_routing().allow_transactional_writes();
  if (!allows_now || ignore_warnings) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "Allowing single-row transactions may lose writes of other app profiles: set ignore_warnings to allow "
      "them");
}

admin::AppProfile DefaultProfile(std::string_view instance_name,
                                 const std::vector<std::string>& cluster_ids) {
  admin::AppProfile profile;
  profile.set_name(fmt::format("{}/appProfiles/{}", instance_name, kDefaultProfileId));
  if (cluster_ids.size() == 1) {
    profile.mutable_single_cluster_routing()->set_cluster_id(cluster_ids[0]);
    profile.mutable_single_cluster_routing()->set_allow_transactional_writes(true);
  } else {
    profile.mutable_multi_cluster_routing_use_any();
  }
  profile.mutable_standard_isolation()->set_priority(admin::AppProfile::PRIORITY_HIGH);
  return profile;
}

bool NamesCluster(const admin::AppProfile& profile, std::string_view cluster_id) {
  if (profile.has_single_cluster_routing())
    return profile.single_cluster_routing().cluster_id() == cluster_id;
  const auto& ids = profile.multi_cluster_routing_use_any().cluster_ids();
  return std::find(ids.begin(), ids.end(), cluster_id) != ids.end();
}

bool IsPlainProfile(const admin::AppProfile& profile) {
  return !profile.has_data_boost_isolation_read_only() && PriorityOfProfile(profile) == Priority::kHigh;
}

Priority PriorityOfProfile(const admin::AppProfile& profile) {
  if (profile.has_data_boost_isolation_read_only()) return Priority::kLow;
  switch (profile.standard_isolation().priority()) {
    case admin::AppProfile::PRIORITY_MEDIUM:
      return Priority::kMedium;
    case admin::AppProfile::PRIORITY_LOW:
      return Priority::kLow;
    default:
      return Priority::kHigh;
  }
}

absl::Status CheckProfileUse(const admin::AppProfile& profile, ProfileUse use) {
  if (use == ProfileUse::kRead) return absl::OkStatus();
  if (profile.has_data_boost_isolation_read_only()) {
    return absl::FailedPreconditionError(use == ProfileUse::kChangeStream
                                             ? "App profiles with Data Boost do not read change streams"
                                             : "App profiles with Data Boost are for reads only");
  }
  if (use == ProfileUse::kTransaction && !profile.single_cluster_routing().allow_transactional_writes()) {
    return absl::FailedPreconditionError("Single-row transactions are not allowed by this app profile");
  }
  if (use == ProfileUse::kChangeStream && !profile.has_single_cluster_routing()) {
    return absl::FailedPreconditionError(
        "Change streams are read with an app profile of single-cluster routing, which this one has not");
  }
  return absl::OkStatus();
}

}  // namespace sonde
