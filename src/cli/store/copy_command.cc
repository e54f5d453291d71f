// `sonde copy`: tables from one place to another.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text_table.h"
#include "cli/reach/command_end.h"
#include "cli/reach/place.h"
#include "cli/store/store_commands.h"
#include "copy/copy_tables.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

constexpr uint64_t kRangeBytesMax = uint64_t{1} << 40;

struct CopyFlags {
  std::string from_place;
  std::string to_place;
  AccessFlags from;
  AccessFlags to;  // empty names: those of `from`
  hbase::TlsToServers from_tls;
  hbase::TlsToServers to_tls;
  std::vector<std::string> tables;
  std::string resume;
  std::string range;  // bytes; empty: as CopyOptions has it
  bool is_json = false;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A line on a terminal's stderr; nothing elsewhere.
class Progress {
 public:
  void Show(const std::string& table, const CopiedTable& done) const {
    if (!is_shown_) return;
    fmt::print(stderr, "\r\x1b[K{}: {} rows, {} MiB, {:.0f} s", table, done.rows, done.bytes >> 20,
               SecondsSince(start_));
    std::fflush(stderr);
  }
  void Clear() const {
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  }
  double Seconds() const { return SecondsSince(start_); }

 private:
  const bool is_shown_ = isatty(STDERR_FILENO) == 1;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void Print(const std::vector<TableReport>& reports, bool is_json, double seconds) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  TextTable text({{"table"}, {"rows", true}, {"cells", true}, {"bytes", true}, {"left out"}}, &std::cout);
  for (const TableReport& report : reports) {
    const CopiedTable& done = report.done;
    if (is_json) {
      tables.push_back({{"table", report.table},
                        {"rows", done.rows},
                        {"cells", done.cells},
                        {"bytes", done.bytes},
                        {"left_out", report.left_out}});
    } else {
      text.Row({report.table, std::to_string(done.rows), std::to_string(done.cells),
                std::to_string(done.bytes), fmt::format("{}", fmt::join(report.left_out, ", "))});
    }
  }
  if (is_json) {
    const nlohmann::ordered_json all = {{"tables", std::move(tables)}, {"seconds", seconds}};
    std::cout << all.dump() << "\n";
  } else {
    text.End();
  }
  std::cout.flush();
}

absl::Status SetRange(const std::string& range, CopyOptions* options) {
  if (range.empty()) return absl::OkStatus();
  uint64_t bytes = 0;
  if (absl::Status status = ParseBytes(range, &bytes); !status.ok()) return status;
  if (bytes == 0 || bytes > kRangeBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("--range is {} bytes; allowed: 1 to {}", bytes, kRangeBytesMax));
  }
  options->range_bytes = bytes;
  return absl::OkStatus();
}

absl::Status Run(CopyFlags flags) {
  CopyOptions options;
  if (absl::Status status = SetRange(flags.range, &options); !status.ok()) return status;
  if (flags.to.project.empty()) flags.to.project = flags.from.project;
  if (flags.to.instance.empty()) flags.to.instance = flags.from.instance;
  if (flags.from_place == flags.to_place && InstanceOf(flags.from) == InstanceOf(flags.to))
    return absl::InvalidArgumentError(
        fmt::format("--from and --to are the same: '{}' and {}", flags.from_place, InstanceOf(flags.from)));
  if (flags.from_place == flags.to_place && KindOfPlace(flags.to_place) == PlaceKind::kDirectory) {
    return absl::InvalidArgumentError(
        fmt::format("--from and --to are one data directory, '{}': serve it, and copy by its endpoint",
                    flags.from_place));
  }
  const auto name_of = [](const std::string& place, const AccessFlags& access) {
    return fmt::format("{} {}", place, InstanceOf(access));
  };
  absl::StatusOr<CopyState> state =
      CopyState::Open(flags.resume, name_of(flags.from_place, flags.from), name_of(flags.to_place, flags.to));
  if (!state.ok()) return state.status();
  const absl::StatusOr<std::unique_ptr<CopyAccess>> from =
      OpenPlace("--from", flags.from_place, flags.from, flags.from_tls, DataDir::kIsThere);
  if (!from.ok()) return from.status();
  const absl::StatusOr<std::unique_ptr<CopyAccess>> to =
      OpenPlace("--to", flags.to_place, flags.to, flags.to_tls, DataDir::kMayBeMade);
  if (!to.ok()) return to.status();
  const Progress progress;
  options.on_progress = [&](const std::string& table, const CopiedTable& done) {
    progress.Show(table, done);
  };
  const SystemClock clock;
  const absl::StatusOr<std::vector<TableReport>> reports =
      CopyTables(from->get(), to->get(), flags.tables, options, &clock, &*state);
  progress.Clear();
  if (!reports.ok()) return reports.status();
  Print(*reports, flags.is_json, progress.Seconds());
  state->Remove();
  return absl::OkStatus();
}

void AddPlaceFlags(CLI::App* command, const std::string& flag, const std::string& what, std::string* place,
                   AccessFlags* access, hbase::TlsToServers* tls) {
  command
      ->add_option(flag, *place,
                   what + ": a data directory, hbase://HOST[:PORT]/NAMESPACE, or a Bigtable server")
      ->required();
  command->add_option(flag + "-ca-file", access->ca_file, "CA of that server's certificate, in PEM");
  command->add_option(flag + "-key-file", access->key_file, "Key of an account, shown to that server");
  AddStoreTlsFlags(command, flag + "-tls", "the cluster of " + flag, tls);
}

}  // namespace

void AddCopyCommand(CLI::App& app, int* exit_status) {
  CLI::App* command =
      app.add_subcommand("copy", "Copy tables between data directories, HBase clusters and Bigtable servers");
  const auto flags = std::make_shared<CopyFlags>();
  flags->from.program = flags->to.program = "sonde copy";
  flags->to.project.clear();
  flags->to.instance.clear();
  command->add_option("TABLE", flags->tables, "Tables, by their short names (default: all of the instance)");
  AddPlaceFlags(command, "--from", "Where the tables are", &flags->from_place, &flags->from,
                &flags->from_tls);
  AddPlaceFlags(command, "--to", "Where they shall be, too", &flags->to_place, &flags->to, &flags->to_tls);
  command->add_option("--project", flags->from.project, "Project that the tables are in")
      ->capture_default_str();
  command->add_option("--instance", flags->from.instance, "Instance that the tables are in")
      ->capture_default_str();
  command->add_option("--to-project", flags->to.project,
                      "Project of the copies (default: that of --project)");
  command->add_option("--to-instance", flags->to.instance,
                      "Instance of the copies (default: that of --instance)");
  command->add_option("--resume", flags->resume,
                      "File that keeps how far the copy is; one that was broken off goes on from there");
  command->add_option("--range", flags->range,
                      "Bytes of rows, such as 4MiB, after which they are compared and --resume is brought up "
                      "to date (default: 32MiB)");
  command->add_flag("--json", flags->is_json, "Print the result as JSON");
  command->footer(
      "Examples:\n"
      "  sonde copy --from /var/lib/sonde --to hbase://master.example.org/sonde --resume copy.json\n"
      "  sonde copy --from hbase://master.example.org/sonde --to /var/lib/sonde-copy\n"
      "  sonde copy weather --from 127.0.0.1:8086 --to https://bigtable.googleapis.com --to-key-file "
      "key.json \\\n"
      "    --to-project my-project --to-instance my-instance\n\n"
      "A table comes with its families, their rules and types, and all cells that its rules keep, at their "
      "times.\n"
      "Each range of rows is read again at both ends and compared: numbers of rows and cells, and a hash.\n"
      "No server may be using a data directory that is named, and nobody should write the tables meanwhile.\n"
      "Views, schema bundles, policies and backups are not copied; settings that a table loses are told.");
  command->callback([flags, exit_status] { *exit_status = EndOfCommand("sonde copy", Run(*flags)); });
}

}  // namespace sonde
