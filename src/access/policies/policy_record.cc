#include "access/policies/policy_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "catalog/record/hex.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kPolicyRecordVersion = 1;

json ToJson(const Binding& binding) {
  json j = {{"role", binding.role}, {"members", binding.members}};
  if (binding.condition.has_value()) {
    j["condition"] = {{"expression", binding.condition->expression},
                      {"title", binding.condition->title},
                      {"description", binding.condition->description},
                      {"location", binding.condition->location}};
  }
  return j;
}

Binding BindingOf(const json& j) {
  Binding binding{j.at("role").get<std::string>(), j.at("members").get<std::vector<std::string>>()};
  if (const auto condition = j.find("condition"); condition != j.end()) {
    binding.condition = {
        condition->at("expression").get<std::string>(), condition->at("title").get<std::string>(),
        condition->at("description").get<std::string>(), condition->at("location").get<std::string>()};
  }
  return binding;
}

}  // namespace

std::string EncodePolicyRecord(const Policy& policy) {
  json bindings = json::array();
  for (const Binding& binding : policy.bindings) bindings.push_back(ToJson(binding));
  return json{{"version", kPolicyRecordVersion},
              {"policy_version", policy.version},
              {"etag", ToHex(policy.etag)},
              {"bindings", bindings}}
      .dump();
}

absl::StatusOr<Policy> DecodePolicyRecord(std::string_view bytes) {
  try {
    const json j = json::parse(bytes);
    if (j.at("version").get<int>() != kPolicyRecordVersion) throw std::invalid_argument("unknown version");
    Policy policy{.version = j.at("policy_version").get<int>(),
                  .etag = FromHex(j.at("etag").get<std::string>())};
    for (const json& binding : j.at("bindings")) policy.bindings.push_back(BindingOf(binding));
    return policy;
  } catch (const std::exception& e) {
    return absl::DataLossError(
        fmt::format("The record of a policy is damaged ({}): {}", e.what(), Printable(bytes)));
  }
}

}  // namespace sonde
