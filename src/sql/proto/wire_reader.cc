#include "sql/proto/wire_reader.h"

namespace sonde::sql {
namespace {

constexpr size_t kVarintBytesMax = 10;
constexpr int kTagTypeBits = 3;
constexpr uint64_t kFieldNumberMax = (uint64_t{1} << 29) - 1;

}  // namespace

bool WireReader::Fail() {
  has_failed_ = true;
  rest_ = {};
  return false;
}

bool WireReader::NextVarint(uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < kVarintBytesMax && i < rest_.size(); ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    // What is beyond 64 bits is dropped, as all readers do.
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    rest_.remove_prefix(i + 1);
    return true;
  }
  return Fail();
}

bool WireReader::NextFixed(size_t bytes, uint64_t* value) {
  if (rest_.size() < bytes) return Fail();
  *value = 0;
  for (size_t i = bytes; i-- > 0;) *value = *value << 8 | static_cast<uint8_t>(rest_[i]);
  rest_.remove_prefix(bytes);
  return true;
}

bool WireReader::NextTag(WireField* field) {
  uint64_t tag = 0;
  if (!NextVarint(&tag)) return false;
  const uint64_t number = tag >> kTagTypeBits;
  const uint64_t type = tag & ((1 << kTagTypeBits) - 1);
  if (number == 0 || number > kFieldNumberMax || type > static_cast<uint64_t>(WireType::kFixed32))
    return Fail();
  field->number = static_cast<uint32_t>(number);
  field->type = static_cast<WireType>(type);
  return true;
}

bool WireReader::NextValue(WireField* field, int depth) {
  switch (field->type) {
    case WireType::kVarint:
      return NextVarint(&field->integer);
    case WireType::kFixed64:
      return NextFixed(8, &field->integer);
    case WireType::kFixed32:
      return NextFixed(4, &field->integer);
    case WireType::kBytes: {
      uint64_t size = 0;
      if (!NextVarint(&size)) return false;
      if (size > rest_.size()) return Fail();
      field->bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    case WireType::kGroup:
      return NextGroup(field->number, depth, &field->bytes);
    case WireType::kEndGroup:
      break;
  }
  return Fail();
}

bool WireReader::NextGroup(uint32_t number, int depth, std::string_view* bytes) {
  if (depth >= kDepthMax) return Fail();
  const std::string_view start = rest_;
  while (true) {
    const size_t end = start.size() - rest_.size();
    WireField field;
    if (!NextTag(&field)) return false;
    if (field.type == WireType::kEndGroup) {
      if (field.number != number) return Fail();
      *bytes = start.substr(0, end);
      return true;
    }
    if (!NextValue(&field, depth + 1)) return false;
  }
}

bool WireReader::Next(WireField* field) {
  if (rest_.empty()) return false;
  return NextTag(field) && NextValue(field, 0);
}

}  // namespace sonde::sql
