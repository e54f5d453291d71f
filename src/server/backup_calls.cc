#include "server/backup_calls.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "backup/copy/restored_store.h"
#include "backup/copy/store_copy.h"
#include "base/format.h"
#include "base/random.h"

namespace sonde {
namespace {

absl::StatusOr<AdminAnswer> MakeCheckpoint(LocalStore* store, const std::string& data_dir) {
  SystemRandom random;
  const absl::StatusOr<Checkpointed> made = CheckpointStore(&store->engine(), data_dir, &random);
  if (!made.ok()) return made.status();
  spdlog::info("backup: a checkpoint is lent directory={}", made->directory);
  const nlohmann::json answer = {{"ok",
                                  {{"directory", std::filesystem::absolute(made->directory).native()},
                                   {"moment_micros", absl::ToUnixMicros(made->moment)},
                                   {"tables", made->tables}}}};
  return AdminAnswer{.json = answer.dump(), .release = [directory = made->directory] {
                       std::error_code error;
                       std::filesystem::remove_all(directory, error);
                       if (error) spdlog::warn("backup: {} stays: {}", directory, error.message());
                     }};
}

struct RestoreArgument {
  std::string copy, table, as;
};

std::optional<RestoreArgument> ParseRestoreArgument(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return RestoreArgument{.copy = json.at("copy").get<std::string>(),
                           .table = json.at("table").get<std::string>(),
                           .as = json.at("as").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

absl::StatusOr<AdminAnswer> RestoreOneTable(LocalStore* store, const std::string& data_dir,
                                            std::string_view argument) {
  const std::optional<RestoreArgument> parsed = ParseRestoreArgument(argument);
  if (!parsed.has_value()) {
    return absl::InvalidArgumentError("restore-table takes {\"copy\": ..., \"table\": ..., \"as\": ...}");
  }
  const absl::StatusOr<TableSchemaRef> made = AddTableOfCopy(
      &store->engine(), &store->tables().catalog(), data_dir, parsed->copy, parsed->table, parsed->as);
  if (!made.ok()) return made.status();
  spdlog::info("backup: restored table={} from={}", parsed->as, parsed->table);
  const nlohmann::json answer = {{"ok", {{"table", parsed->as}}}};
  return AdminAnswer{.json = answer.dump()};
}

}  // namespace

std::map<std::string, AdminCall, std::less<>> BackupCalls(LocalStore* store, const std::string& data_dir) {
  return {{"checkpoint", [store, data_dir](std::string_view) { return MakeCheckpoint(store, data_dir); }},
          {"restore-table", [store, data_dir](std::string_view argument) {
             return RestoreOneTable(store, data_dir, argument);
           }}};
}

}  // namespace sonde
