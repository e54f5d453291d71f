#include "sql/cast/cast_proto.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/row_kernel.h"
#include "sql/proto/message_reader.h"
#include "sql/value/message_type.h"

namespace sonde::sql {
namespace {

absl::StatusOr<std::string_view> MessageOfBytes(Call& call, std::string_view bytes) {
  const MessageType& message = *call.result_type().message();
  if (IsMessage(message, bytes)) return bytes;
  return absl::OutOfRangeError(
      fmt::format("Corrupted protocol buffer: Failed to parse a message of type {}", message.name));
}

absl::StatusOr<int64_t> EnumOfString(Call& call, std::string_view name) {
  const EnumType& enumeration = *call.result_type().enumeration();
  const EnumType::Member* const member = enumeration.FindName(name);
  if (member != nullptr) return member->number;
  return absl::OutOfRangeError(
      fmt::format("Out of range cast of string '{}' to enum type {}", name, call.result_type().ToString()));
}

absl::StatusOr<int64_t> EnumOfInt(Call& call, int64_t number) {
  if (call.result_type().enumeration()->FindNumber(number) != nullptr) return number;
  return absl::OutOfRangeError(
      fmt::format("Out of range cast of integer {} to enum type {}", number, call.result_type().ToString()));
}

absl::StatusOr<std::string_view> StringOfEnum(Call& call, int64_t number) {
  const EnumType::Member* const member = call.argument_type(0).enumeration()->FindNumber(number);
  if (member != nullptr) return std::string_view(member->name);
  return absl::OutOfRangeError(
      fmt::format("{} is no member of {}", number, call.argument_type(0).ToString()));
}

}  // namespace

Kernel FindProtoCast(TypeKind from, TypeKind to) {
  if (from == TypeKind::kBytes && to == TypeKind::kProto) return RowKernel<MessageOfBytes>;
  if (from == TypeKind::kString && to == TypeKind::kEnum) return RowKernel<EnumOfString>;
  if (from == TypeKind::kInt64 && to == TypeKind::kEnum) return RowKernel<EnumOfInt>;
  if (from == TypeKind::kEnum && to == TypeKind::kString) return RowKernel<StringOfEnum>;
  return nullptr;
}

}  // namespace sonde::sql
