#include "sql/descriptor/bundle_compatibility.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde::sql {
namespace {

absl::Status Incompatible(std::string_view what, std::string_view name, std::string_view how) {
  return absl::InvalidArgumentError(fmt::format(
      "The schema bundle is not backward compatible: {} {} {}; set ignore_warnings to update it all the "
      "same",
      what, name, how));
}

std::string_view TypeNameOf(const MessageField& field) {
  if (field.message != nullptr) return field.message->name;
  return field.enumeration != nullptr ? std::string_view(field.enumeration->name) : "";
}

absl::Status CheckFields(const MessageType& before, const MessageType& after) {
  for (const MessageField& field : before.fields) {
    const std::string name = fmt::format("{}.{}", before.name, field.name);
    const MessageField* const now = after.FindNumber(field.number);
    if (now == nullptr) return Incompatible("field", name, "is gone");
    if (now->name != field.name) return Incompatible("field", name, fmt::format("is named {}", now->name));
    if (now->kind != field.kind || TypeNameOf(*now) != TypeNameOf(field) ||
        now->is_repeated != field.is_repeated) {
      return Incompatible("field", name, "has another type");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMembers(const EnumType& before, const EnumType& after) {
  for (const EnumType::Member& member : before.members) {
    const EnumType::Member* const now = after.FindName(member.name);
    const std::string name = fmt::format("{}.{}", before.name, member.name);
    if (now == nullptr) return Incompatible("member of an enum", name, "is gone");
    if (now->number != member.number) return Incompatible("member of an enum", name, "has another number");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCompatible(const BundleTypes& before, const BundleTypes& after) {
  for (const auto& [name, message] : before.messages) {
    const auto now = after.messages.find(name);
    if (now == after.messages.end()) return Incompatible("message", name, "is gone");
    if (absl::Status status = CheckFields(*message, *now->second); !status.ok()) return status;
  }
  for (const auto& [name, enumeration] : before.enums) {
    const auto now = after.enums.find(name);
    if (now == after.enums.end()) return Incompatible("enum", name, "is gone");
    if (absl::Status status = CheckMembers(*enumeration, *now->second); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
