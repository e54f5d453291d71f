// Fields of serialized messages as values of SQL, without making the messages.
//
// Types: integers and enums of all widths are INT64 and ENUM, float is FLOAT32; a repeated field is an ARRAY.  Of a field that
//   is not repeated the last value counts; messages that come several times are one message.
// Threads: all functions may be called at once.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "model/datum.h"
#include "sql/value/message_type.h"
#include "sql/value/type.h"

namespace sonde::sql {

// The type of a field of `message`, which is a PROTO with a description.
Type TypeOfField(const Type& message, const MessageField& field);

// Whether the bytes can be read as a message, with all messages in it, up to a depth of 100.  Texts are not looked at.
bool IsMessage(const MessageType& message, std::string_view bytes);

// The value of a field.  Without one: an empty array; NULL of a message; else the field's default.  The value views the bytes and
// the arena.  OUT_OF_RANGE, in GoogleSQL's words: the bytes are no message, a value of an enum is none of its members, or an
// unsigned integer does not fit INT64.
absl::StatusOr<Datum> ReadMessageField(const MessageType& message, const MessageField& field,
                                       std::string_view bytes, Arena* arena);
// Whether a message has a field.  OUT_OF_RANGE: the bytes are no message.
absl::StatusOr<bool> HasMessageField(const MessageType& message, const MessageField& field,
                                     std::string_view bytes);

}  // namespace sonde::sql
