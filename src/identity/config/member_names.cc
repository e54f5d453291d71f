#include "identity/config/member_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kAccountNameBytesMax = 64;
constexpr size_t kProjectNameBytesMax = 128;
constexpr size_t kRoleNameBytesMax = 64;
constexpr size_t kPermissionBytesMax = 128;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigitOrLower(char c) { return IsLower(c) || (c >= '0' && c <= '9'); }
bool IsLetterOrDigit(char c) { return IsDigitOrLower(c) || (c >= 'A' && c <= 'Z'); }

template <typename Allowed>
bool ConsistsOf(std::string_view text, size_t bytes_max, const Allowed& allowed) {
  return !text.empty() && text.size() <= bytes_max && std::all_of(text.begin(), text.end(), allowed);
}

bool IsPlainName(std::string_view name) {
  return ConsistsOf(name, kAccountNameBytesMax,
                    [](char c) { return IsDigitOrLower(c) || c == '-' || c == '.' || c == '_'; }) &&
         IsDigitOrLower(name.front()) && IsDigitOrLower(name.back());
}

// Google's form of an e-mail address: no more than that is needed to tell members apart.
bool IsEmail(std::string_view email) {
  const size_t at = email.find('@');
  if (at == std::string_view::npos || at == 0 || email.size() > kMemberBytesMax) return false;
  const std::string_view domain = email.substr(at + 1);
  return std::all_of(email.begin(), email.begin() + static_cast<std::ptrdiff_t>(at),
                     [](char c) {
                       return IsLetterOrDigit(c) ||
                              std::string_view("-._+").find(c) != std::string_view::npos;
                     }) &&
         ConsistsOf(domain, kMemberBytesMax,
                    [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '.'; }) &&
         IsLetterOrDigit(domain.front()) && IsLetterOrDigit(domain.back());
}

absl::Status BadName(std::string_view what, std::string_view name, std::string_view rule) {
  return absl::InvalidArgumentError(fmt::format("{} '{}' must be {}", what, Printable(name), rule));
}

constexpr std::string_view kNameRuleText =
    "1 to 64 of a-z, 0-9 and - . _, the first and the last a letter or digit";

}  // namespace

absl::Status CheckMember(std::string_view member) {
  constexpr std::string_view kRule =
      "serviceAccount:EMAIL, user:EMAIL, principal:TEXT or principalSet:TEXT, of up to 512 bytes";
  if (member == "allUsers" || member == "allAuthenticatedUsers") {
    return absl::InvalidArgumentError(
        fmt::format("member '{}' is everybody, to whom nothing is granted", member));
  }
  if (member.size() > kMemberBytesMax) return BadName("member", member, kRule);
  const size_t colon = member.find(':');
  const std::string_view kind = member.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : member.substr(colon + 1);
  if (kind == "serviceAccount" || kind == "user") {
    return IsEmail(rest) ? absl::OkStatus() : BadName("member", member, kRule);
  }
  if (kind == "principal" || kind == "principalSet") {
    const bool is_text = IsPrintableText(rest, kMemberBytesMax);
    return is_text ? absl::OkStatus() : BadName("member", member, kRule);
  }
  return BadName("member", member, kRule);
}

absl::Status CheckGrantedMember(std::string_view member) {
  constexpr std::string_view kGroup = "group:";
  if (!member.starts_with(kGroup)) return CheckMember(member);
  return CheckGroupName(member.substr(kGroup.size()));
}

absl::Status CheckAccountName(std::string_view name) {
  return IsPlainName(name) ? absl::OkStatus() : BadName("account", name, kNameRuleText);
}

absl::Status CheckGroupName(std::string_view name) {
  return IsPlainName(name) ? absl::OkStatus() : BadName("group", name, kNameRuleText);
}

absl::Status CheckEmail(std::string_view email) {
  return IsEmail(email) ? absl::OkStatus() : BadName("e-mail", email, "NAME@DOMAIN");
}

bool IsPredefinedRoleName(std::string_view name) {
  constexpr std::string_view kPrefix = "roles/";
  return name.starts_with(kPrefix) && ConsistsOf(name.substr(kPrefix.size()), kRoleNameBytesMax,
                                                 [](char c) { return IsLetterOrDigit(c) || c == '.'; });
}

bool IsCustomRoleName(std::string_view name) {
  constexpr std::string_view kPrefix = "projects/", kMiddle = "/roles/";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t middle = name.find(kMiddle);
  if (middle == std::string_view::npos || !CheckProjectId(name.substr(0, middle)).ok()) return false;
  return ConsistsOf(name.substr(middle + kMiddle.size()), kRoleNameBytesMax,
                    [](char c) { return IsLetterOrDigit(c) || c == '.' || c == '_'; });
}

absl::Status CheckPermissionName(std::string_view permission) {
  const bool is_permission =
      ConsistsOf(permission, kPermissionBytesMax, [](char c) { return IsLetterOrDigit(c) || c == '.'; }) &&
      std::count(permission.begin(), permission.end(), '.') == 2 && IsLower(permission.front()) &&
      permission.back() != '.' && permission.find("..") == std::string_view::npos;
  if (is_permission) return absl::OkStatus();
  return BadName("permission", permission, "SERVICE.RESOURCES.VERB, such as bigtable.tables.readRows");
}

absl::Status CheckProjectId(std::string_view project) {
  const bool is_project = ConsistsOf(project, kProjectNameBytesMax, [](char c) {
    return IsLetterOrDigit(c) || std::string_view("-_.:").find(c) != std::string_view::npos;
  });
  if (is_project) return absl::OkStatus();
  return BadName("project", project, "1 to 128 letters, digits and - _ . :");
}

bool IsPrintableText(std::string_view text, size_t bytes_max) {
  if (!ConsistsOf(text, bytes_max,
                  [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; })) {
    return false;
  }
  try {
    (void)nlohmann::json(text).dump();  // which looks for bytes that are not UTF-8
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

absl::StatusOr<std::string> MemberOfArgument(std::string_view argument) {
  if (argument.find(':') != std::string_view::npos) {
    if (absl::Status status = CheckGrantedMember(argument); !status.ok()) return status;
    return std::string(argument);
  }
  if (absl::Status status = CheckAccountName(argument); !status.ok()) return status;
  return fmt::format("serviceAccount:{}@{}", argument, kAccountDomain);
}

}  // namespace sonde
