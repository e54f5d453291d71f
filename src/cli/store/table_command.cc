#include "cli/store/table_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/time/time.h"
#include "base/text_table.h"
#include "cli/reach/access.h"
#include "cli/reach/command_end.h"
#include "cli/store/store_commands.h"
#include "engine/engine.h"
#include "model/names.h"

namespace sonde {
namespace {

struct TableFlags {
  std::string data_dir;
  std::vector<std::string> names;
  bool is_all = false;
  bool json = false;
};

std::string DeletionTime(int64_t micros) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(micros), absl::UTCTimeZone());
}

absl::StatusOr<std::shared_ptr<Tables>> OpenStopped(const std::string& data_dir) {
  if (absl::Status status = CheckDataDir(data_dir); !status.ok()) return status;
  return OpenTables({.data_dir = data_dir, .program = "sonde table"});
}

absl::Status PrintDeleted(const TableFlags& flags) {
  const absl::StatusOr<std::shared_ptr<Tables>> tables = OpenStopped(flags.data_dir);
  if (!tables.ok()) return tables.status();
  const absl::StatusOr<std::vector<DeletedTableFacts>> deleted = ListDeletedTables(tables->get());
  if (!deleted.ok()) return deleted.status();
  if (flags.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const DeletedTableFacts& one : *deleted) {
      all.push_back({{"name", one.name},
                     {"id", one.id},
                     {"deleted", DeletionTime(one.deleted_micros)},
                     {"bytes", one.bytes}});
    }
    fmt::print("{}\n", all.dump(2));
    return absl::OkStatus();
  }
  TextTable table({{"table"}, {"deleted"}, {"bytes", true}}, &std::cout);
  for (const DeletedTableFacts& one : *deleted) {
    table.Row({one.name, DeletionTime(one.deleted_micros), std::to_string(one.bytes)});
  }
  table.End();
  return absl::OkStatus();
}

absl::Status Purge(const TableFlags& flags) {
  if (flags.is_all == !flags.names.empty()) {
    return absl::InvalidArgumentError("either the names of deleted tables are needed, or --all");
  }
  for (const std::string& name : flags.names) {
    if (absl::Status status = CheckTableName(name); !status.ok()) return status;
  }
  const absl::StatusOr<std::shared_ptr<Tables>> tables = OpenStopped(flags.data_dir);
  if (!tables.ok()) return tables.status();
  const absl::StatusOr<size_t> purged = PurgeDeletedTables(tables->get(), flags.names, flags.is_all);
  if (!purged.ok()) return purged.status();
  if (flags.json) {
    fmt::print("{}\n", nlohmann::json{{"dropped", *purged}}.dump());
    return absl::OkStatus();
  }
  fmt::print(
      "dropped {} deleted tables; `sonde compact` gives all of their space back now, the server bit by bit\n",
      *purged);
  return absl::OkStatus();
}

void AddTableSubcommand(CLI::App* of, const std::shared_ptr<TableFlags>& flags, int* exit_status,
                        absl::Status (*run)(const TableFlags&)) {
  of->add_option("--data-dir", flags->data_dir, "the data directory, which no server may be using")
      ->envname(kDataDirVariable)
      ->required();
  of->callback([flags, exit_status, run] { *exit_status = EndOfCommand("sonde table", run(*flags)); });
}

}  // namespace

absl::StatusOr<std::vector<DeletedTableFacts>> ListDeletedTables(Tables* tables) {
  std::vector<DeletedTableFacts> all;
  for (const DeletedTableRef& table : tables->catalog().ListDeleted()) {
    const TableSchema& schema = table->record.schema;
    DeletedTableFacts one{.name = schema.name, .id = schema.id, .deleted_micros = table->deleted_micros};
    const absl::StatusOr<std::vector<RangeStats>> ranges = tables->engine().Ranges(schema.id);
    if (!ranges.ok()) return ranges.status();
    for (const RangeStats& range : *ranges) one.bytes += range.bytes;
    all.push_back(std::move(one));
  }
  return all;
}

absl::StatusOr<size_t> PurgeDeletedTables(Tables* tables, const std::vector<std::string>& names,
                                          bool is_all) {
  std::vector<TableId> ids;
  for (const DeletedTableRef& table : tables->catalog().ListDeleted()) {
    const TableSchema& schema = table->record.schema;
    if (is_all || std::find(names.begin(), names.end(), schema.name) != names.end()) ids.push_back(schema.id);
  }
  if (ids.empty() && !is_all) {
    return absl::NotFoundError(
        fmt::format("no deleted table is kept of the name {}", fmt::join(names, ", ")));
  }
  for (const TableId id : ids) {
    if (absl::Status status = tables->catalog().Purge(id); !status.ok()) return status;
  }
  return ids.size();
}

void AddTableCommand(CLI::App& app, int* exit_status) {
  CLI::App* table = app.add_subcommand("table", "Deleted tables that are kept, and dropping them for good");
  table->require_subcommand(1);
  table->footer(
      "Examples:\n"
      "  sonde table deleted --data-dir /var/lib/sonde\n"
      "  sonde table purge projects/P/instances/I/tables/T --data-dir /var/lib/sonde\n\n"
      "A server keeps the rows of a deleted table for --undelete-days, so that UndeleteTable brings it "
      "back.\n"
      "Where rows must go at once while the server runs, call DropRowRange for all of them before "
      "DeleteTable.");
  auto flags = std::make_shared<TableFlags>();
  CLI::App* deleted =
      table->add_subcommand("deleted", "List the deleted tables, those deleted first in front");
  deleted->add_flag("--json", flags->json, "print the list as JSON");
  AddTableSubcommand(deleted, flags, exit_status, PrintDeleted);
  CLI::App* purge = table->add_subcommand("purge", "Drop deleted tables now: nothing brings them back");
  purge->add_option("name", flags->names, "Whole names of tables: every deleted table that has one of them");
  purge->add_flag("--all", flags->is_all, "every deleted table");
  purge->add_flag("--json", flags->json, "print the result as JSON");
  AddTableSubcommand(purge, flags, exit_status, Purge);
}

}  // namespace sonde
