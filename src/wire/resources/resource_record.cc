#include "wire/resources/resource_record.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "base/hash.h"
#include "base/varint.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kResourceRecordVersion = 1;
constexpr char kVersionMember[] = "version";
constexpr char kResourceMember[] = "resource";

json ToJson(const google::protobuf::Message& resource) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  // A message that was parsed, or made here, can be printed.
  (void)google::protobuf::util::MessageToJsonString(resource, &text, options);
  return json::parse(text);
}

absl::Status Damaged(std::string_view why) {
  return absl::DataLossError(fmt::format("The record of a resource is damaged: {}", why));
}

// The members of a record's resource that this version does not know.
json UnknownMembers(const google::protobuf::Message& like, std::string_view record) {
  const json whole = json::parse(record, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object() || !whole.contains(kResourceMember)) return json::object();
  json members = whole.at(kResourceMember);
  const google::protobuf::Descriptor* const type = like.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) members.erase(type->field(i)->name());
  return members;
}

}  // namespace

std::string EncodeResource(const google::protobuf::Message& resource, std::string_view before) {
  json members = before.empty() ? json::object() : UnknownMembers(resource, before);
  members.update(ToJson(resource));
  return json{{kVersionMember, kResourceRecordVersion}, {kResourceMember, members}}.dump();
}

absl::Status DecodeResource(std::string_view bytes, google::protobuf::Message* resource) {
  const json whole = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return Damaged("it is no JSON object");
  const auto version = whole.find(kVersionMember);
  if (version == whole.end() || *version != kResourceRecordVersion) return Damaged("unknown version");
  const auto members = whole.find(kResourceMember);
  if (members == whole.end() || !members->is_object()) return Damaged("it has no resource");
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(members->dump(), resource, options);
  if (!status.ok()) return Damaged(std::string(status.message()));
  return absl::OkStatus();
}

std::string EtagOfRecord(std::string_view bytes) {
  std::string hash;
  PutFixed64(&hash, HashBytes(bytes));
  return absl::Base64Escape(hash);
}

}  // namespace sonde
