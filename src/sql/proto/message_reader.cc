#include "sql/proto/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/proto/wire_reader.h"

namespace sonde::sql {
namespace {

using Kind = MessageField::Kind;

WireType WireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kFixed32:
    case Kind::kSfixed32:
    case Kind::kFloat:
      return WireType::kFixed32;
    case Kind::kFixed64:
    case Kind::kSfixed64:
    case Kind::kDouble:
      return WireType::kFixed64;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kMessage:
      return WireType::kBytes;
    case Kind::kGroup:
      return WireType::kGroup;
    default:
      return WireType::kVarint;
  }
}

bool IsOfBytes(Kind kind) {
  return kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kMessage || kind == Kind::kGroup;
}

bool IsOfMessage(Kind kind) { return kind == Kind::kMessage || kind == Kind::kGroup; }

// Whether what was read is a value of the field, or several of them packed.
bool IsPacked(const MessageField& field, const WireField& read) {
  return field.is_repeated && !IsOfBytes(field.kind) && read.type == WireType::kBytes;
}
bool IsValueOf(const MessageField& field, const WireField& read) {
  return read.number == field.number && (read.type == WireTypeOf(field.kind) || IsPacked(field, read));
}

bool NextPacked(const MessageField& field, WireReader* reader, uint64_t* integer) {
  switch (WireTypeOf(field.kind)) {
    case WireType::kFixed32:
      return reader->NextFixed(4, integer);
    case WireType::kFixed64:
      return reader->NextFixed(8, integer);
    default:
      return reader->NextVarint(integer);
  }
}

int64_t FromZigZag(uint64_t integer) {
  return static_cast<int64_t>(integer >> 1) ^ -static_cast<int64_t>(integer & 1);
}

absl::Status NoMessage(const MessageType& message) {
  return absl::OutOfRangeError(
      fmt::format("Corrupted protocol buffer: Failed to parse a message of type {}", message.name));
}

absl::Status NoValue(const MessageType& message, const MessageField& field, std::string_view value) {
  return absl::OutOfRangeError(
      fmt::format("Corrupted protocol buffer: Failed to interpret value for field {}.{}: {}", message.name,
                  field.name, value));
}

// A value that is written as an integer.
absl::StatusOr<Datum> FromInteger(const MessageType& message, const MessageField& field, uint64_t integer) {
  switch (field.kind) {
    case Kind::kBool:
      return Datum::Int(integer != 0 ? 1 : 0);
    case Kind::kInt32:
    case Kind::kSfixed32:
      return Datum::Int(static_cast<int32_t>(integer));
    case Kind::kUint32:
    case Kind::kFixed32:
      return Datum::Int(static_cast<uint32_t>(integer));
    case Kind::kSint32:
      return Datum::Int(static_cast<int32_t>(FromZigZag(static_cast<uint32_t>(integer))));
    case Kind::kSint64:
      return Datum::Int(FromZigZag(integer));
    case Kind::kFloat:
      return Datum::Double(std::bit_cast<float>(static_cast<uint32_t>(integer)));
    case Kind::kDouble:
      return Datum::Double(std::bit_cast<double>(integer));
    case Kind::kEnum: {
      const auto number = static_cast<int32_t>(integer);
      if (field.enumeration->FindNumber(number) != nullptr) return Datum::Int(number);
      return NoValue(message, field, std::to_string(number));
    }
    case Kind::kUint64:
    case Kind::kFixed64:
      if (integer <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) break;
      return NoValue(message, field, std::to_string(integer));
    default:
      break;
  }
  return Datum::Int(static_cast<int64_t>(integer));
}

absl::StatusOr<Datum> ValueOf(const MessageType& message, const MessageField& field, const WireField& read) {
  if (IsOfBytes(field.kind)) return Datum::Bytes(read.bytes);
  return FromInteger(message, field, read.integer);
}

Datum DefaultOf(const MessageField& field) {
  switch (field.kind) {
    case Kind::kMessage:
    case Kind::kGroup:
      return Datum::Missing();
    case Kind::kString:
    case Kind::kBytes:
      return Datum::Bytes(field.default_bytes);
    case Kind::kFloat:
    case Kind::kDouble:
      return Datum::Double(field.default_number);
    default:
      return Datum::Int(field.default_integer);
  }
}

absl::Status AppendPacked(const MessageType& message, const MessageField& field, std::string_view bytes,
                          std::vector<Datum>* values) {
  WireReader packed(bytes);
  while (!packed.rest().empty()) {
    uint64_t integer = 0;
    if (!NextPacked(field, &packed, &integer)) return NoMessage(message);
    const absl::StatusOr<Datum> value = FromInteger(message, field, integer);
    if (!value.ok()) return value.status();
    values->push_back(*value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Datum> ReadRepeated(const MessageType& message, const MessageField& field,
                                   std::string_view bytes, Arena* arena) {
  std::vector<Datum> values;
  WireReader reader(bytes);
  for (WireField read; reader.Next(&read);) {
    if (!IsValueOf(field, read)) continue;
    if (IsPacked(field, read)) {
      if (absl::Status status = AppendPacked(message, field, read.bytes, &values); !status.ok())
        return status;
      continue;
    }
    const absl::StatusOr<Datum> value = ValueOf(message, field, read);
    if (!value.ok()) return value.status();
    values.push_back(*value);
  }
  if (reader.has_failed()) return NoMessage(message);
  auto* const items = arena->New<Datum>(values.size());
  std::ranges::copy(values, items);
  return Datum::List({items, values.size()});
}

// Messages that are one: their bytes behind each other.
Datum Joined(const std::vector<std::string_view>& messages, Arena* arena) {
  if (messages.size() == 1) return Datum::Bytes(messages[0]);
  size_t size = 0;
  for (const std::string_view message : messages) size += message.size();
  auto* const bytes = arena->New<char>(size);
  size_t at = 0;
  for (const std::string_view message : messages) {
    std::ranges::copy(message, bytes + at);
    at += message.size();
  }
  return Datum::Bytes({bytes, size});
}

bool IsMessageAt(const MessageType& message, std::string_view bytes, int depth) {
  if (depth > WireReader::kDepthMax) return false;
  WireReader reader(bytes);
  for (WireField read; reader.Next(&read);) {
    const MessageField* const field = message.FindNumber(read.number);
    if (field == nullptr || !IsValueOf(*field, read)) continue;
    if (IsPacked(*field, read)) {
      WireReader packed(read.bytes);
      uint64_t integer = 0;
      while (!packed.rest().empty() && NextPacked(*field, &packed, &integer)) continue;
      if (packed.has_failed()) return false;
    } else if (IsOfMessage(field->kind) && !IsMessageAt(*field->message, read.bytes, depth + 1)) {
      return false;
    }
  }
  return !reader.has_failed();
}

}  // namespace

Type TypeOfField(const Type& message, const MessageField& field) {
  Type type = TypeKind::kInt64;
  switch (field.kind) {
    case Kind::kBool:
      type = TypeKind::kBool;
      break;
    case Kind::kFloat:
      type = TypeKind::kFloat32;
      break;
    case Kind::kDouble:
      type = TypeKind::kFloat64;
      break;
    case Kind::kString:
      type = TypeKind::kString;
      break;
    case Kind::kBytes:
      type = TypeKind::kBytes;
      break;
    case Kind::kEnum:
      type = Type::Enum(message.bundle(), field.enumeration->name,
                        std::shared_ptr<const EnumType>(message.message(), field.enumeration));
      break;
    case Kind::kMessage:
    case Kind::kGroup:
      type = Type::Proto(message.bundle(), field.message->name,
                         std::shared_ptr<const MessageType>(message.message(), field.message));
      break;
    default:
      break;
  }
  return field.is_repeated ? Type::Array(std::move(type)) : type;
}

bool IsMessage(const MessageType& message, std::string_view bytes) { return IsMessageAt(message, bytes, 0); }

absl::StatusOr<Datum> ReadMessageField(const MessageType& message, const MessageField& field,
                                       std::string_view bytes, Arena* arena) {
  if (field.is_repeated) return ReadRepeated(message, field, bytes, arena);
  std::optional<WireField> last;
  std::vector<std::string_view> messages;
  WireReader reader(bytes);
  for (WireField read; reader.Next(&read);) {
    if (!IsValueOf(field, read)) continue;
    last = read;
    if (IsOfMessage(field.kind)) messages.push_back(read.bytes);
  }
  if (reader.has_failed()) return NoMessage(message);
  if (!last.has_value()) return DefaultOf(field);
  return messages.empty() ? ValueOf(message, field, *last) : Joined(messages, arena);
}

absl::StatusOr<bool> HasMessageField(const MessageType& message, const MessageField& field,
                                     std::string_view bytes) {
  bool has_value = false;
  WireReader reader(bytes);
  for (WireField read; reader.Next(&read);) has_value = has_value || IsValueOf(field, read);
  if (reader.has_failed()) return NoMessage(message);
  return has_value;
}

}  // namespace sonde::sql
