// The names of members, accounts, groups, roles and permissions: which are allowed.
//
// Each check: INVALID_ARGUMENT, with the rule and the name.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde {

// Accounts that Sonde issues keys for: NAME@sonde.local.
constexpr std::string_view kAccountDomain = "sonde.local";

constexpr size_t kMemberBytesMax = 512;

// "serviceAccount:EMAIL", "user:EMAIL", "principal:TEXT", "principalSet:TEXT".  Everybody (allUsers, allAuthenticatedUsers) is
// refused: nothing is open to whoever comes.
absl::Status CheckMember(std::string_view member);
// Also "group:NAME".
absl::Status CheckGrantedMember(std::string_view member);

// Up to 64 of a-z 0-9 - . _, the first and the last a letter or digit.
absl::Status CheckAccountName(std::string_view name);
absl::Status CheckGroupName(std::string_view name);
// NAME@DOMAIN.
absl::Status CheckEmail(std::string_view email);

// "roles/NAME".
bool IsPredefinedRoleName(std::string_view name);
// "projects/P/roles/R".
bool IsCustomRoleName(std::string_view name);
absl::Status CheckPermissionName(std::string_view permission);
absl::Status CheckProjectId(std::string_view project);

// UTF-8 without control characters, of 1 to `bytes_max` bytes.
bool IsPrintableText(std::string_view text, size_t bytes_max);

// The member that a command line means: NAME is the account NAME@sonde.local; anything with a colon is a member already.
absl::StatusOr<std::string> MemberOfArgument(std::string_view argument);

}  // namespace sonde
