#include "catalog/record/view_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "catalog/record/hex.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kViewRecordVersion = 1;

json ToJson(const std::vector<std::string>& list) {
  json result = json::array();
  for (const std::string& bytes : list) result.push_back(ToHex(bytes));
  return result;
}

std::vector<std::string> FromJson(const json& list) {
  std::vector<std::string> result;
  for (const json& hex : list) result.push_back(FromHex(hex.get<std::string>()));
  return result;
}

}  // namespace

std::string EncodeViewRecord(const AuthorizedView& view) {
  json families = json::object();
  for (const auto& [name, subset] : view.families) {
    families[name] = {{"qualifiers", ToJson(subset.qualifiers)},
                      {"qualifier_prefixes", ToJson(subset.qualifier_prefixes)}};
  }
  return json{{"version", kViewRecordVersion},
              {"name", view.name},
              {"row_prefixes", ToJson(view.row_prefixes)},
              {"families", families},
              {"deletion_protection", view.deletion_protection}}
      .dump();
}

absl::StatusOr<AuthorizedView> DecodeViewRecord(std::string_view bytes) {
  try {
    const json j = json::parse(bytes);
    if (j.at("version").get<int>() != kViewRecordVersion) throw std::invalid_argument("unknown version");
    AuthorizedView view;
    view.name = j.at("name").get<std::string>();
    view.row_prefixes = FromJson(j.at("row_prefixes"));
    for (const auto& [name, subset] : j.at("families").items()) {
      view.families[name] = {FromJson(subset.at("qualifiers")), FromJson(subset.at("qualifier_prefixes"))};
    }
    view.deletion_protection = j.at("deletion_protection").get<bool>();
    return view;
  } catch (const std::exception& e) {
    return absl::DataLossError(
        fmt::format("The record of an authorized view is damaged ({}): {}", e.what(), Printable(bytes)));
  }
}

}  // namespace sonde
