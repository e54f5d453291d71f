// Protocol buffers as SQL sees them: the fields of messages, and the values of enums.
//
// Ownership: a bundle owns its messages and enums, which refer to each other.
// Threads: a bundle is immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::sql {

struct MessageType;

struct EnumType {
  struct Member {
    std::string name;
    int32_t number = 0;
  };

  std::string name;             // with its package
  std::vector<Member> members;  // in the order of their declaration; several names may have one number

  // Null: there is none.  Of several names the first.
  const Member* FindNumber(int64_t number) const;
  const Member* FindName(std::string_view name) const;
};

struct MessageField {
  enum class Kind : uint8_t {
    kBool,
    kInt32,
    kInt64,
    kUint32,
    kUint64,
    kSint32,
    kSint64,
    kFixed32,
    kFixed64,
    kSfixed32,
    kSfixed64,
    kFloat,
    kDouble,
    kString,
    kBytes,
    kEnum,
    kMessage,
    kGroup,
  };

  std::string name;
  uint32_t number = 0;
  Kind kind = Kind::kInt64;
  bool is_repeated = false;
  // What a message without the field has, unless it is repeated, or a message.
  int64_t default_integer = 0;  // of booleans, integers and enums
  double default_number = 0;
  std::string default_bytes = {};
  const MessageType* message = nullptr;   // of kMessage and kGroup
  const EnumType* enumeration = nullptr;  // of kEnum
};

struct MessageType {
  std::string name;                  // with its package
  std::vector<MessageField> fields;  // in the order of their numbers
  bool is_map_entry = false;

  // The number of the field of this name, which is compared without case.  Nothing: there is none.
  std::optional<size_t> FindField(std::string_view field) const;
  // Null: there is none.
  const MessageField* FindNumber(uint32_t number) const;
};

// The messages and enums of a schema bundle, by their names with package.
struct BundleTypes {
  std::string id;
  std::map<std::string, std::unique_ptr<MessageType>, std::less<>> messages;
  std::map<std::string, std::unique_ptr<EnumType>, std::less<>> enums;
};

}  // namespace sonde::sql
