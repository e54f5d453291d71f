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

absl::StatusOr<Checkpointed> CheckpointInJournal(LocalStore* store, Journal* journal,
                                                 const std::string& data_dir) {
  SystemRandom random;
  absl::StatusOr<Checkpointed> made;
  const auto copy = [&] {
    made = CheckpointStore(store->rocks(), data_dir, &random);
    return made.status();
  };
  if (journal == nullptr) {
    copy().IgnoreError();  // `made` has it
    return made;
  }
  absl::StatusOr<JournalPlace> place = journal->Surround(copy);
  if (place.ok()) made->journal = *std::move(place);
  if (!place.ok() && made.ok()) {
    std::error_code ignored;  // the next start removes it
    std::filesystem::remove_all(made->directory, ignored);
    return place.status();
  }
  return made;
}

absl::Status CheckIsEmbedded(LocalStore* store) {
  if (store->rocks() != nullptr) return absl::OkStatus();
  return absl::UnimplementedError(
      "Copies of a store on HBase are not built; HBase's own snapshots and exports copy its tables");
}

absl::StatusOr<AdminAnswer> MakeCheckpoint(LocalStore* store, Journal* journal, const std::string& data_dir) {
  if (absl::Status status = CheckIsEmbedded(store); !status.ok()) return status;
  const absl::StatusOr<Checkpointed> made = CheckpointInJournal(store, journal, data_dir);
  if (!made.ok()) return made.status();
  spdlog::info("backup: a checkpoint is lent directory={}", made->directory);
  nlohmann::json answer = {{"ok",
                            {{"directory", std::filesystem::absolute(made->directory).native()},
                             {"moment_micros", absl::ToUnixMicros(made->moment)},
                             {"tables", made->tables}}}};
  if (made->journal.has_value()) {
    answer["ok"]["journal"] = {{"id", made->journal->id},
                               {"from_micros", made->journal->from_micros},
                               {"through_micros", made->journal->through_micros}};
  }
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
  if (absl::Status status = CheckIsEmbedded(store); !status.ok()) return status;
  const std::optional<RestoreArgument> parsed = ParseRestoreArgument(argument);
  if (!parsed.has_value()) {
    return absl::InvalidArgumentError("restore-table takes {\"copy\": ..., \"table\": ..., \"as\": ...}");
  }
  const absl::StatusOr<TableSchemaRef> made = AddTableOfCopy(
      store->rocks(), &store->tables().catalog(), data_dir, parsed->copy, parsed->table, parsed->as);
  if (!made.ok()) return made.status();
  spdlog::info("backup: restored table={} from={}", parsed->as, parsed->table);
  const nlohmann::json answer = {{"ok", {{"table", parsed->as}}}};
  return AdminAnswer{.json = answer.dump()};
}

struct CutArgument {
  std::string journal;
  int64_t after = 0;
  bool starts = false;
};

std::optional<CutArgument> ParseCutArgument(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return CutArgument{.journal = json.at("journal").get<std::string>(),
                       .after = json.at("after").get<int64_t>(),
                       .starts = json.at("starts").get<bool>()};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

absl::StatusOr<AdminAnswer> CutJournal(Journal* journal, const std::string& data_dir,
                                       std::string_view argument) {
  const std::optional<CutArgument> parsed = ParseCutArgument(argument);
  if (!parsed.has_value()) {
    return absl::InvalidArgumentError(
        "journal-cut takes {\"journal\": ..., \"after\": ..., \"starts\": ...}");
  }
  if (journal == nullptr) {
    return absl::FailedPreconditionError("The server keeps no journal: pitr_tables names the tables");
  }
  LocalFileSystem files;
  const std::string snapshots = std::filesystem::absolute(data_dir + "/snapshots").native();
  if (absl::Status status = files.MakeDirectory(snapshots); !status.ok()) return status;
  const std::string path = fmt::format("{}/journal-{:016x}.part", snapshots, SystemRandom().Next());
  const absl::StatusOr<CutSegment> cut =
      journal->Cut(&files, path, parsed->journal, parsed->after, parsed->starts);
  if (!cut.ok()) return cut.status();
  const nlohmann::json answer = {{"ok",
                                  {{"file", cut->path},
                                   {"first", cut->place.first},
                                   {"last", cut->place.last},
                                   {"records", cut->records},
                                   {"more", cut->is_cut_short}}}};
  return AdminAnswer{.json = answer.dump(), .release = [path] {
                       std::error_code error;
                       std::filesystem::remove(path, error);
                       if (error) spdlog::warn("backup: {} stays: {}", path, error.message());
                     }};
}

}  // namespace

std::map<std::string, AdminCall, std::less<>> BackupCalls(LocalStore* store, Journal* journal,
                                                          const std::string& data_dir) {
  return {
      {"checkpoint",
       [store, journal, data_dir](std::string_view) { return MakeCheckpoint(store, journal, data_dir); }},
      {"journal-cut",
       [journal, data_dir](std::string_view argument) { return CutJournal(journal, data_dir, argument); }},
      {"restore-table",
       [store, data_dir](std::string_view argument) { return RestoreOneTable(store, data_dir, argument); }}};
}

}  // namespace sonde
