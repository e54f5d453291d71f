// `sonde tables` and `sonde read`: which tables there are, and their rows, without a client.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/bytes.h"
#include "base/nearest_word.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/reach/access.h"
#include "cli/reach/command_end.h"
#include "model/limits.h"
#include "series/write/row_text.h"

namespace sonde {
namespace {

constexpr int64_t kRowsUsual = 20;
constexpr int64_t kRowsMax = 10'000;
constexpr int kVersionsMax = 10'000;

std::string DumpLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

struct TablesOptions {
  bool is_json = false;
  AccessFlags access;
};

absl::Status ListTables(const TablesOptions& options) {
  const absl::StatusOr<std::unique_ptr<TableAccess>> access = OpenAccess(options.access);
  if (!access.ok()) return access.status();
  absl::StatusOr<std::vector<std::string>> names = (*access)->ListTables();
  if (!names.ok()) return names.status();
  std::sort(names->begin(), names->end());
  TextTable text({{"table"}, {"families"}}, &std::cout);
  for (const std::string& name : *names) {
    const absl::StatusOr<std::vector<FamilyRequest>> families = (*access)->ListFamilies(name);
    if (absl::IsNotFound(families.status())) continue;  // dropped meanwhile
    if (!families.ok()) return families.status();
    std::vector<std::string> family_names;
    for (const FamilyRequest& family : *families) family_names.push_back(family.name);
    if (options.is_json) {
      std::cout << DumpLine({{"table", name}, {"families", family_names}});
    } else {
      text.Row({name, fmt::format("{}", fmt::join(family_names, ", "))});
    }
  }
  if (!options.is_json && !names->empty()) text.End();
  std::cout.flush();
  if (names->empty()) {
    fmt::print(stderr,
               "sonde tables: 0 tables in projects/{}/instances/{}; --project and --instance name another\n",
               options.access.project, options.access.instance);
  }
  return absl::OkStatus();
}

struct ReadOptions {
  std::string table, prefix, start, end, family;
  int64_t limit = kRowsUsual;
  int versions = 1;
  bool is_json = false;
  AccessFlags access;
};

// A key as it is typed: bytes that are not printable as \xNN.
absl::StatusOr<std::string> KeyOf(std::string_view flag, const std::string& text) {
  std::string key, error;
  if (!absl::CUnescape(text, &key, &error))
    return absl::InvalidArgumentError(fmt::format("{} '{}': {}", flag, Printable(text), error));
  if (key.size() <= kRowKeyBytesMax) return key;
  return absl::InvalidArgumentError(
      fmt::format("{} has {} bytes; row keys have at most {}", flag, key.size(), kRowKeyBytesMax));
}

absl::StatusOr<RowRange> RangeOf(const ReadOptions& options) {
  const absl::StatusOr<std::string> prefix = KeyOf("--prefix", options.prefix);
  if (!prefix.ok()) return prefix.status();
  const absl::StatusOr<std::string> start = KeyOf("--start", options.start);
  if (!start.ok()) return start.status();
  const absl::StatusOr<std::string> end = KeyOf("--end", options.end);
  if (!end.ok()) return end.status();
  RowRange range = RowRange::Prefix(*prefix);
  if (*start > range.start) range.start = *start;
  if (!end->empty() && (range.end.empty() || *end < range.end)) range.end = *end;
  if (!range.IsEmpty()) return range;
  return absl::InvalidArgumentError(
      fmt::format("no key is in the range of --start '{}', --end '{}' and --prefix '{}'", Printable(*start),
                  Printable(*end), Printable(*prefix)));
}

void PrintRow(const ReadRow& row) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const ReadCell& cell : row.cells) {
    cells.push_back({{"family", cell.family},
                     {"qualifier", Printable(cell.qualifier, std::string::npos)},
                     {"timestamp_micros", cell.timestamp_micros},
                     {"value", Printable(cell.value, std::string::npos)}});
  }
  std::cout << DumpLine({{"key", Printable(row.row_key, std::string::npos)}, {"cells", std::move(cells)}});
}

// The table is not there: the error, with the table that may have been meant.
absl::Status NoTable(const ReadOptions& options, TableAccess* tables) {
  const absl::StatusOr<std::vector<std::string>> names = tables->ListTables();
  const std::optional<std::string> nearest = names.ok() ? NearestWord(options.table, *names) : std::nullopt;
  return absl::NotFoundError(fmt::format(
      "no table '{}' in projects/{}/instances/{}{}", Printable(options.table), options.access.project,
      options.access.instance,
      nearest.has_value() ? fmt::format("; did you mean '{}'?", *nearest) : "; `sonde tables` lists them"));
}

// Nothing was found: says on stderr where the table's keys begin.
void TellFirstKey(const ReadOptions& options, TableAccess* tables) {
  RowRead first;
  first.ranges = {RowRange::All()};
  first.rows_max = 1;
  first.cells_per_column_max = 1;
  std::string text = "the table is empty";
  const absl::Status status = tables->ReadRows(options.table, first, [&](ReadRow&& row) {
    text = fmt::format("the first key of the table is '{}'", Printable(row.row_key));
    return false;
  });
  if (status.ok()) fmt::print(stderr, "sonde read: 0 rows; {}\n", text);
}

absl::Status Read(const ReadOptions& options) {
  const absl::StatusOr<RowRange> range = RangeOf(options);
  if (!range.ok()) return range.status();
  const absl::StatusOr<std::unique_ptr<TableAccess>> access = OpenAccess(options.access);
  if (!access.ok()) return access.status();
  RowRead read;
  read.ranges = {*range};
  read.cells_per_column_max = options.versions;
  read.rows_max = options.limit + 1;  // one more tells whether there are more
  if (!options.family.empty()) read.family = options.family;
  int64_t count = 0;
  bool has_more = false;
  std::vector<ReadRow> rows;
  const absl::Status status = (*access)->ReadRows(options.table, read, [&](ReadRow&& row) {
    has_more = ++count > options.limit;
    if (has_more) return false;
    if (options.is_json) {
      PrintRow(row);
    } else {
      rows.push_back(std::move(row));
    }
    return static_cast<bool>(std::cout);
  });
  if (absl::IsNotFound(status)) return NoTable(options, access->get());
  if (!status.ok()) return status;
  if (!options.is_json) std::cout << series::DrawRows(rows);
  std::cout.flush();
  if (count == 0) TellFirstKey(options, access->get());
  if (has_more)
    fmt::print(stderr, "{} rows shown, and there are more; --limit or --prefix choose\n", options.limit);
  return absl::OkStatus();
}

}  // namespace

void AddTablesCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("tables", "List the tables of an instance");
  auto options = std::make_shared<TablesOptions>();
  command->add_flag("--json", options->is_json, "Print a JSON object for each table");
  AddAccessFlags(*command, &options->access);
  command->footer(
      "Examples:\n  sonde tables\n  sonde tables --project p --instance i --endpoint 127.0.0.1:8086 --json");
  command->callback(
      [options, exit_status] { *exit_status = EndOfCommand("sonde tables", ListTables(*options)); });
}

void AddReadCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("read", "Show rows of a table");
  auto options = std::make_shared<ReadOptions>();
  command->add_option("TABLE", options->table, "Table, by its short name")->required();
  command->add_option("--prefix", options->prefix,
                      "Beginning of the keys; bytes that are not printable as \\xNN");
  command->add_option("--start", options->start, "First key");
  command->add_option("--end", options->end, "Key behind the last");
  command->add_option("--family", options->family, "Family of the cells (default: all)");
  command->add_option("--versions", options->versions, "Newest cells of each column")
      ->check(CLI::Range(1, kVersionsMax))
      ->capture_default_str();
  command->add_option("--limit", options->limit, "Rows to show")
      ->check(CLI::Range(int64_t{1}, kRowsMax))
      ->capture_default_str();
  command->add_flag("--json", options->is_json, "Print a JSON object for each row");
  AddAccessFlags(*command, &options->access);
  command->footer(
      "Examples:\n"
      "  sonde read balloon\n"
      "  sonde read balloon --prefix us-west2 --versions 3\n"
      "  sonde read balloon --limit 10000 --json --project p --instance i --endpoint 127.0.0.1:8086");
  command->callback([options, exit_status] { *exit_status = EndOfCommand("sonde read", Read(*options)); });
}

}  // namespace sonde
