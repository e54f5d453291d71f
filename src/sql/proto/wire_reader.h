// The fields of a serialized protocol buffer, one after the other, as views of its bytes.
//
//   WireReader reader(bytes);
//   for (WireField field; reader.Next(&field);) ...
//   if (reader.has_failed()) ...
//
// Source: the wire format as protobuf.dev describes it.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::sql {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t integer = 0;         // of kVarint, kFixed64, kFixed32
  std::string_view bytes = {};  // of kBytes; of kGroup what is in it
};

class WireReader {
 public:
  // How deep groups may lie in each other.
  static constexpr int kDepthMax = 100;

  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // Whether there was another field.
  bool Next(WireField* field);
  // The bytes are no protocol buffer.
  bool has_failed() const { return has_failed_; }
  std::string_view rest() const { return rest_; }

  // Values without tags, as packed fields have them.
  bool NextVarint(uint64_t* value);
  bool NextFixed(size_t bytes, uint64_t* value);

 private:
  bool Fail();
  bool NextTag(WireField* field);
  bool NextValue(WireField* field, int depth);
  // The bytes of a group up to its end, whose number is `number`.
  bool NextGroup(uint32_t number, int depth, std::string_view* bytes);

  std::string_view rest_;
  bool has_failed_ = false;
};

}  // namespace sonde::sql
