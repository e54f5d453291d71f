#include "sql/value/message_type.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace sonde::sql {

const EnumType::Member* EnumType::FindNumber(int64_t number) const {
  const auto found =
      std::ranges::find(members, number, [](const Member& member) -> int64_t { return member.number; });
  return found == members.end() ? nullptr : &*found;
}

const EnumType::Member* EnumType::FindName(std::string_view member_name) const {
  const auto found = std::ranges::find(members, member_name, &Member::name);
  return found == members.end() ? nullptr : &*found;
}

std::optional<size_t> MessageType::FindField(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (absl::EqualsIgnoreCase(fields[i].name, absl::string_view(field.data(), field.size()))) return i;
  }
  return std::nullopt;
}

const MessageField* MessageType::FindNumber(uint32_t number) const {
  const auto found = std::ranges::lower_bound(fields, number, {}, &MessageField::number);
  return found == fields.end() || found->number != number ? nullptr : &*found;
}

}  // namespace sonde::sql
