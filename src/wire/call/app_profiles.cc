#include "wire/call/app_profiles.h"

namespace sonde {

ProfileFields::ProfileFields(const google::protobuf::Descriptor& request) {
  absl::StatusOr<FieldPath> profile = FindFieldPath(request, "app_profile_id");
  if (!profile.ok()) return;
  paths_.push_back(*std::move(profile));
  for (const std::string_view field :
       {"table_name", "authorized_view_name", "materialized_view_name", "instance_name", "name"}) {
    absl::StatusOr<FieldPath> path = FindFieldPath(request, field);
    if (path.ok()) paths_.push_back(*std::move(path));
  }
}

absl::StatusOr<Priority> ProfileFields::Admit(const AppProfiles* profiles, ProfileUse use,
                                              std::string_view bytes) const {
  const bool is_plain_use = use == ProfileUse::kRead || use == ProfileUse::kWrite;
  if (profiles == nullptr || paths_.empty() || (is_plain_use && profiles->AreAllPlain()))
    return Priority::kHigh;
  std::vector<std::string_view> values(paths_.size());
  if (absl::Status status = ReadFields(bytes, paths_, values); !status.ok()) return status;
  for (size_t i = 1; i < values.size(); ++i) {
    if (!values[i].empty()) return profiles->Admit(values[i], values[0], use);
  }
  return Priority::kHigh;  // it names nothing, and the handler refuses it
}

}  // namespace sonde
