#include "wire/call/request_fields.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/strings/str_split.h"

namespace sonde {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

// A path from some depth on, and where its value goes.
struct Wanted {
  std::span<const int> path;
  std::string_view* value;
};

absl::Status NoMessage() {
  return absl::InvalidArgumentError("The bytes of the request are not a message of its type");
}

// `*left`: how many fields may still be looked at.
absl::Status Read(std::string_view bytes, const std::vector<Wanted>& wanted, size_t* left) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  std::vector<Wanted> inner;
  while (const uint32_t tag = in.ReadTag()) {
    if ((*left)-- == 0) {
      *left = 0;
      return absl::InvalidArgumentError(
          fmt::format("The request has too many fields; limit {}", kScannedFieldsMax));
    }
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return NoMessage();
      continue;
    }
    uint32_t length = 0;
    if (!in.ReadVarint32(&length)) return NoMessage();
    const auto at = static_cast<size_t>(in.CurrentPosition());
    if (length > bytes.size() - at || !in.Skip(static_cast<int>(length))) return NoMessage();
    const std::string_view value = bytes.substr(at, length);
    inner.clear();
    for (const Wanted& field : wanted) {
      if (field.path.front() != WireFormatLite::GetTagFieldNumber(tag)) continue;
      if (field.path.size() == 1) {
        *field.value = value;
      } else {
        inner.push_back({field.path.subspan(1), field.value});
      }
    }
    if (inner.empty()) continue;
    if (absl::Status status = Read(value, inner, left); !status.ok()) return status;
  }
  // A tag of zero is no end.
  return in.ConsumedEntireMessage() && static_cast<size_t>(in.CurrentPosition()) == bytes.size()
             ? absl::OkStatus()
             : NoMessage();
}

}  // namespace

absl::StatusOr<FieldPath> FindFieldPath(const google::protobuf::Descriptor& type, std::string_view field) {
  FieldPath path;
  const google::protobuf::Descriptor* at = &type;
  const std::vector<std::string> names = absl::StrSplit(absl::string_view(field.data(), field.size()), '.');
  for (size_t i = 0; i < names.size(); ++i) {
    const FieldDescriptor* const found = at == nullptr ? nullptr : at->FindFieldByName(names[i]);
    const bool is_last = i + 1 == names.size();
    const FieldDescriptor::Type wanted =
        is_last ? FieldDescriptor::TYPE_STRING : FieldDescriptor::TYPE_MESSAGE;
    if (found == nullptr || found->is_repeated() || found->type() != wanted ||
        (found->real_containing_oneof() != nullptr && found->real_containing_oneof()->field_count() > 1)) {
      return absl::InternalError(fmt::format(
          "{} has no field {} of type string, alone and in no oneof with others", type.full_name(), field));
    }
    path.push_back(found->number());
    at = found->message_type();
  }
  return path;
}

absl::Status ReadFields(std::string_view bytes, std::span<const FieldPath> paths,
                        std::span<std::string_view> values) {
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < paths.size(); ++i) {
    values[i] = {};
    wanted.push_back({paths[i], &values[i]});
  }
  size_t left = kScannedFieldsMax;
  return Read(bytes, wanted, &left);
}

}  // namespace sonde
