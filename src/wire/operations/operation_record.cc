#include "wire/operations/operation_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "absl/strings/escaping.h"

namespace sonde {
namespace {

using google::protobuf::Any;
using nlohmann::json;

constexpr int kOperationRecordVersion = 1;

json AnyToJson(const Any& any) {
  if (any.type_url().empty()) return nullptr;
  return {{"type", any.type_url()}, {"bytes", absl::Base64Escape(any.value())}};
}

Any AnyFromJson(const json& message) {
  Any any;
  if (message.is_null()) return any;
  any.set_type_url(message.at("type").get<std::string>());
  if (!absl::Base64Unescape(message.at("bytes").get<std::string>(), any.mutable_value())) {
    throw std::invalid_argument("a message that is no base64");
  }
  return any;
}

json ErrorToJson(const google::longrunning::Operation& operation) {
  if (!operation.has_error()) return nullptr;
  return {{"code", operation.error().code()}, {"message", operation.error().message()}};
}

json MembersOf(const OperationRecord& record) {
  return {
      {"version", kOperationRecordVersion},
      {"name", record.operation.name()},
      {"kind", record.kind},
      {"number", record.number},
      {"request", AnyToJson(record.request)},
      {"metadata", AnyToJson(record.operation.metadata())},
      {"start_micros", record.start_micros},
      {"end_micros", record.end_micros.has_value() ? json(*record.end_micros) : json(nullptr)},
      {"is_cancelled", record.is_cancelled},
      {"response", record.operation.has_response() ? AnyToJson(record.operation.response()) : json(nullptr)},
      {"error", ErrorToJson(record.operation)}};
}

void ReadResult(const json& all, google::longrunning::Operation* operation) {
  const json& error = all.at("error");
  if (error.is_null()) {
    *operation->mutable_response() = AnyFromJson(all.at("response"));
    return;
  }
  operation->mutable_error()->set_code(error.at("code").get<int>());
  operation->mutable_error()->set_message(error.at("message").get<std::string>());
}

}  // namespace

std::string EncodeOperationRecord(const OperationRecord& record) {
  json all = record.unknown_members.empty() ? json::object() : json::parse(record.unknown_members);
  all.update(MembersOf(record));
  // The text of an error may have bytes of a request that are no UTF-8.
  return all.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

absl::StatusOr<OperationRecord> DecodeOperationRecord(std::string_view bytes) {
  try {
    json all = json::parse(bytes);
    if (all.at("version").get<int>() != kOperationRecordVersion) {
      throw std::invalid_argument("unknown version");
    }
    OperationRecord record;
    record.operation.set_name(all.at("name").get<std::string>());
    record.kind = all.at("kind").get<std::string>();
    record.number = all.at("number").get<uint64_t>();
    record.request = AnyFromJson(all.at("request"));
    *record.operation.mutable_metadata() = AnyFromJson(all.at("metadata"));
    record.start_micros = all.at("start_micros").get<int64_t>();
    record.is_cancelled = all.at("is_cancelled").get<bool>();
    if (!all.at("end_micros").is_null()) {
      record.end_micros = all.at("end_micros").get<int64_t>();
      record.operation.set_done(true);
      ReadResult(all, &record.operation);
    }
    const json known = MembersOf(OperationRecord());
    for (auto at = known.begin(); at != known.end(); ++at) all.erase(at.key());
    if (!all.empty()) record.unknown_members = all.dump();
    return record;
  } catch (const std::exception& error) {
    return absl::DataLossError(fmt::format("The record of an operation is damaged: {}", error.what()));
  }
}

}  // namespace sonde
