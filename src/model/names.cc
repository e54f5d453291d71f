#include "model/names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/bytes.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr size_t kProjectOrInstanceBytesMax = 128;

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool IsProjectOrInstance(std::string_view part) {
  // Projects may be domain-scoped: "example.com:project".
  return !part.empty() && part.size() <= kProjectOrInstanceBytesMax &&
         std::all_of(part.begin(), part.end(), [](char c) { return IsNameByte(c) || c == ':'; });
}

bool IsInstanceName(std::string_view name) {
  const std::vector<std::string_view> parts = absl::StrSplit(absl::string_view(name.data(), name.size()), '/');
  return parts.size() == 4 && parts[0] == "projects" && parts[2] == "instances" && IsProjectOrInstance(parts[1]) &&
         IsProjectOrInstance(parts[3]);
}

}  // namespace

absl::Status CheckInstanceName(std::string_view name) {
  if (IsInstanceName(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Invalid instance name '", Printable(name),
                                                 "': it must be projects/<project>/instances/<instance>"));
}

absl::Status CheckTableId(std::string_view id) {
  const bool ok = !id.empty() && id.size() <= kTableIdBytesMax && id[0] != '-' && id[0] != '.' &&
                  std::all_of(id.begin(), id.end(), IsNameByte);
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Invalid table id '", Printable(id), "': it must be 1 to ", kTableIdBytesMax,
                                                 " characters of [_a-zA-Z0-9][-_.a-zA-Z0-9]*"));
}

absl::Status CheckTableName(std::string_view name) {
  const size_t at = name.rfind("/tables/");
  if (at != std::string_view::npos && IsInstanceName(name.substr(0, at))) return CheckTableId(IdOfTable(name));
  return absl::InvalidArgumentError(
      absl::StrCat("Invalid table name '", Printable(name),
                   "': it must be projects/<project>/instances/<instance>/tables/<table>"));
}

absl::Status CheckFamilyName(std::string_view name) {
  if (!name.empty() && name.size() <= kFamilyNameBytesMax && std::all_of(name.begin(), name.end(), IsNameByte)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("Invalid family name '", Printable(name), "': it must be 1 to ",
                                                 kFamilyNameBytesMax, " characters of [-_.a-zA-Z0-9]"));
}

std::string_view InstanceOfTable(std::string_view table_name) {
  return table_name.substr(0, table_name.rfind("/tables/"));
}

std::string_view IdOfTable(std::string_view table_name) {
  return table_name.substr(table_name.rfind("/tables/") + std::string_view("/tables/").size());
}

}  // namespace sonde
