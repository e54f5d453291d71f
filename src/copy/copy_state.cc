#include "copy/copy_state.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/escaping.h"

namespace sonde {
namespace {

constexpr int kVersion = 1;

CopiedTable TableOf(const nlohmann::json& json) {
  CopiedTable table;
  table.next_key = absl::HexStringToBytes(json.at("next_key").get<std::string>());
  table.is_done = json.at("is_done").get<bool>();
  table.rows = json.at("rows").get<int64_t>();
  table.cells = json.at("cells").get<int64_t>();
  table.bytes = json.at("bytes").get<int64_t>();
  return table;
}

}  // namespace

absl::StatusOr<CopyState> CopyState::Open(std::string file, std::string from, std::string to) {
  CopyState state(std::move(file), std::move(from), std::move(to));
  if (absl::Status status = state.Read(); !status.ok()) return status;
  // Whoever asks for a file is told now that there can be none, and not after an hour.
  if (absl::Status status = state.Save(); !status.ok()) return status;
  return state;
}

absl::Status CopyState::Read() {
  std::ifstream stream(file_);
  if (file_.empty() || !stream) return absl::OkStatus();
  const auto is_no_state = [&] {
    return absl::InvalidArgumentError(fmt::format("--resume '{}': not a file that a copy has left", file_));
  };
  try {
    const nlohmann::json json = nlohmann::json::parse(stream);
    if (json.at("copy_version").get<int>() != kVersion) return is_no_state();
    const auto from = json.at("from").get<std::string>();
    const auto to = json.at("to").get<std::string>();
    if (from != from_ || to != to_) {
      return absl::InvalidArgumentError(fmt::format(
          "--resume '{}': left by a copy from {} to {}, not from {} to {}", file_, from, to, from_, to_));
    }
    for (const auto& [name, table] : json.at("tables").items()) tables[name] = TableOf(table);
  } catch (const nlohmann::json::exception&) {
    return is_no_state();
  }
  return absl::OkStatus();
}

absl::Status CopyState::Save() const {
  if (file_.empty()) return absl::OkStatus();
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, table] : tables) {
    all[name] = {{"next_key", absl::BytesToHexString(table.next_key)},
                 {"is_done", table.is_done},
                 {"rows", table.rows},
                 {"cells", table.cells},
                 {"bytes", table.bytes}};
  }
  const nlohmann::json json = {{"copy_version", kVersion}, {"from", from_}, {"to", to_}, {"tables", all}};
  const std::string next = file_ + ".next";
  std::ofstream stream(next, std::ios::trunc);
  stream << json.dump() << "\n";
  stream.close();
  if (stream && std::rename(next.c_str(), file_.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(
      fmt::format("--resume '{}': can't be written: {}", file_, std::strerror(errno)));
}

void CopyState::Remove() const {
  if (!file_.empty()) std::remove(file_.c_str());
}

}  // namespace sonde
