// Fields of serialized messages, of any bytes: what is read lies in them, is there as HasMessageField says, and what IsMessage
// lets through can be read but for values that SQL does not have.
//   the bytes of a message.
#include <memory>
#include <string>

#include "sql/proto/message_reader.h"
#include "target.h"

namespace sonde::sql {
namespace {

// A field of each kind, singular and repeated: kind k has the numbers 2k + 1 and 2k + 2.
std::shared_ptr<const MessageType> MakeMessage(const EnumType* enumeration) {
  auto message = std::make_shared<MessageType>();
  message->name = "M";
  for (int kind = 0; kind <= static_cast<int>(MessageField::Kind::kGroup); ++kind) {
    for (const bool is_repeated : {false, true}) {
      MessageField field{
          .name = "f", .kind = static_cast<MessageField::Kind>(kind), .is_repeated = is_repeated};
      field.number = static_cast<uint32_t>(message->fields.size() + 1);
      if (field.kind == MessageField::Kind::kEnum) field.enumeration = enumeration;
      field.message = message.get();
      message->fields.push_back(std::move(field));
    }
  }
  return message;
}

bool IsIn(std::string_view piece, std::string_view bytes) {
  return piece.data() >= bytes.data() && piece.data() + piece.size() <= bytes.data() + bytes.size();
}

void CheckField(const MessageType& message, const MessageField& field, std::string_view bytes,
                bool is_message) {
  Arena arena;
  const absl::StatusOr<Datum> value = ReadMessageField(message, field, bytes, &arena);
  const absl::StatusOr<bool> has = HasMessageField(message, field, bytes);
  Require(has.ok() || !is_message, "a message says which fields it has");
  if (!value.ok()) {
    Require(absl::IsOutOfRange(value.status()), "the code of an error");
    const bool may_not_fit = field.kind == MessageField::Kind::kEnum ||
                             field.kind == MessageField::Kind::kUint64 ||
                             field.kind == MessageField::Kind::kFixed64;
    Require(may_not_fit || !is_message, "the fields of a message can be read");
    return;
  }
  Require(has.ok(), "what can be read can be asked for");
  if (field.is_repeated) {
    for (const Datum& item : value->list()) {
      if (item.kind == Datum::Kind::kBytes) Require(IsIn(item.bytes(), bytes), "items lie in the message");
    }
    Require(value->size == 0 || *has, "a field with items is there");
  } else if (value->is_there && value->kind == Datum::Kind::kBytes) {
    Require(value->size <= bytes.size(), "a value is no longer than its message");
    Require(*has || value->size == 0, "a field with a value is there");
  }
}

}  // namespace
}  // namespace sonde::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;       // NOLINT: a main of sorts
  using namespace sonde::sql;  // NOLINT
  static const EnumType enumeration{.name = "E", .members = {{"ZERO", 0}, {"ONE", 1}}};
  static const std::shared_ptr<const MessageType> message = MakeMessage(&enumeration);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool is_message = IsMessage(*message, bytes);
  for (const MessageField& field : message->fields) CheckField(*message, field, bytes, is_message);
  return 0;
}
