#include "access/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr std::array<std::string_view, 3> kMemberKinds = {"user:", "serviceAccount:", "group:"};
constexpr std::array<std::string_view, 2> kPrincipalKinds = {"principal://", "principalSet://"};
constexpr size_t kMemberBytesMax = 1024;

absl::Status CheckMember(std::string_view member) {
  const auto begins = [member](std::string_view kind) {
    return member.starts_with(kind) && member.size() > kind.size();
  };
  const bool is_known = std::any_of(kMemberKinds.begin(), kMemberKinds.end(), begins) ||
                        std::any_of(kPrincipalKinds.begin(), kPrincipalKinds.end(), begins);
  if (is_known && member.size() <= kMemberBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "The member '{}' is not supported: it must begin with user:, serviceAccount:, group: or principal://, "
      "and have {} bytes at most",
      Printable(member), kMemberBytesMax));
}

size_t BytesOf(const Binding& binding) {
  size_t bytes = binding.role.size();
  for (const std::string& member : binding.members) bytes += member.size();
  if (const auto& condition = binding.condition; condition.has_value()) {
    bytes += condition->expression.size() + condition->title.size() + condition->description.size() +
             condition->location.size();
  }
  return bytes;
}

absl::Status CheckBinding(const Binding& binding, const Policy& policy, const Roles& roles) {
  if (roles.Find(binding.role) == nullptr) {
    return absl::InvalidArgumentError(fmt::format("The role '{}' does not exist", Printable(binding.role)));
  }
  for (const std::string& member : binding.members) {
    if (absl::Status status = CheckMember(member); !status.ok()) return status;
  }
  if (!binding.condition.has_value()) return absl::OkStatus();
  if (policy.version != kPolicyVersionWithConditions) {
    return absl::InvalidArgumentError(fmt::format("A policy with conditions must have version {}, but has {}",
                                                  kPolicyVersionWithConditions, policy.version));
  }
  return Condition::Parse(binding.condition->expression).status();
}

}  // namespace

absl::Status CheckPolicy(const Policy& policy, const Roles& roles) {
  if (policy.version != 0 && policy.version != 1 && policy.version != kPolicyVersionWithConditions) {
    return absl::InvalidArgumentError(
        fmt::format("The version of a policy must be 0, 1 or 3, but is {}", policy.version));
  }
  size_t members = 0, bytes = 0;
  for (const Binding& binding : policy.bindings) {
    members += std::max<size_t>(binding.members.size(), 1);
    bytes += BytesOf(binding);
  }
  if (members > kPolicyMembersMax) {
    return absl::InvalidArgumentError(
        fmt::format("The policy has {} members; limit {}", members, kPolicyMembersMax));
  }
  if (bytes > kPolicyBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("The policy has {} bytes; limit {}", bytes, kPolicyBytesMax));
  }
  for (const Binding& binding : policy.bindings) {
    if (absl::Status status = CheckBinding(binding, policy, roles); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Grants::Grants(const Policy& policy) {
  for (const Binding& binding : policy.bindings) {
    Grant grant{.role = binding.role};
    grant.members.insert(binding.members.begin(), binding.members.end());
    if (binding.condition.has_value()) {
      absl::StatusOr<Condition> condition = Condition::Parse(binding.condition->expression);
      if (!condition.ok()) continue;
      grant.condition = *std::move(condition);
    }
    grants_.push_back(std::move(grant));
  }
}

bool Grants::Grant::IsOf(const Principal& principal) const {
  return (!principal.member.empty() && members.contains(principal.member)) ||
         std::any_of(principal.groups.begin(), principal.groups.end(),
                     [this](const std::string& group) { return members.contains(group); });
}

bool Grants::Allow(const Principal& principal, Permission permission, const Roles& roles,
                   const ConditionFacts& facts) const {
  return std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
    const PermissionSet* const role = roles.Find(grant.role);
    return role != nullptr && Has(*role, permission) && grant.IsOf(principal) &&
           (!grant.condition.has_value() || grant.condition->Holds(facts));
  });
}

}  // namespace sonde
