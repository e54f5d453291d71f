#include "cli/store/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/reach/access.h"
#include "cli/reach/command_end.h"
#include "cli/reach/place.h"
#include "cli/store/backup_flags.h"
#include "cli/store/check_cluster.h"
#include "cli/store/check_index.h"
#include "cli/store/store_commands.h"

namespace sonde {
namespace {

constexpr uint64_t kBytesPerSecondMax = uint64_t{4} << 30;  // as fast as the disk is

struct CheckFlags {
  std::string data_dir;
  std::string repository;
  std::string store;
  hbase::TlsToServers store_tls;
  TransferFlags transfer;
};

absl::StatusOr<bool> RunCluster(const CheckFlags& flags) {
  const absl::StatusOr<StoreCheck> check = CheckCluster(flags.store, flags.store_tls);
  if (!check.ok()) return check.status();
  const StoreFacts& facts = check->facts;
  if (flags.transfer.json) {
    const nlohmann::json out = {{"hbase", facts.hbase_version},  {"servers", facts.servers_count},
                                {"tables", facts.tables.size()}, {"bytes", check->bytes},
                                {"damage", facts.faults},        {"notices", facts.notices}};
    fmt::print("{}\n", out.dump(2));
    return facts.faults.empty();
  }
  for (const std::string& line : facts.faults) fmt::print("{}\n", line);
  for (const std::string& line : facts.notices) fmt::print("note: {}\n", line);
  if (facts.faults.empty()) {
    fmt::print("{} tables, about {} bytes, on {} servers of HBase {}: all are as Sonde made them\n",
               facts.tables.size(), check->bytes, facts.servers_count, facts.hbase_version);
  }
  return facts.faults.empty();
}

absl::StatusOr<IndexCheck> CheckIndexesOf(const std::string& data_dir) {
  AccessFlags access;
  access.data_dir = data_dir;
  const absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(access);
  if (!tables.ok()) return tables.status();
  return CheckIndexes(tables->get(), [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
}

absl::StatusOr<bool> Run(const CheckFlags& flags) {
  const int places =
      (flags.data_dir.empty() ? 0 : 1) + (flags.repository.empty() ? 0 : 1) + (flags.store.empty() ? 0 : 1);
  if (places != 1) {
    return absl::InvalidArgumentError("Give one of --data-dir, --repository and --store");
  }
  if (!flags.store.empty()) return RunCluster(flags);
  if (!(flags.store_tls == hbase::TlsToServers{}))
    return absl::InvalidArgumentError("--store-tls-ca and the flags beside it need --store");
  if (!flags.repository.empty()) {
    return RunVerification(flags.repository, {.reads_data = true}, /*opens_backups=*/true, flags.transfer);
  }
  if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  absl::StatusOr<CheckReport> report = CheckDirectory({.data_dir = flags.data_dir});
  if (!report.ok()) return report.status();
  IndexCheck index;
  if (report->damage.empty()) {
    absl::StatusOr<IndexCheck> checked = CheckIndexesOf(flags.data_dir);
    if (!checked.ok()) return checked.status();
    index = *std::move(checked);
  }
  const bool is_sound = report->damage.empty() && index.faults.empty();
  if (flags.transfer.json) {
    const nlohmann::json out = {{"tables", report->tables_count}, {"bytes", report->bytes},
                                {"damage", report->damage},       {"open_series", index.series_count},
                                {"index_faults", index.faults},   {"notices", index.notices}};
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return is_sound;
  }
  for (const std::string& line : report->damage) fmt::print("{}\n", line);
  for (const std::string& line : index.faults) fmt::print("{}\n", line);
  for (const std::string& line : index.notices) fmt::print("note: {}\n", line);
  if (report->damage.empty()) {
    fmt::print("{} tables, {} bytes: all are as they were written\n", report->tables_count, report->bytes);
  }
  if (is_sound && index.series_count > 0) {
    fmt::print("{} series with an index, {} rows: whatever their indexes say to be whole, is\n",
               index.series_count, index.rows_count);
  }
  return is_sound;
}

}  // namespace

absl::StatusOr<CheckReport> CheckDirectory(RocksOptions options) {
  CheckReport report;
  options.settles = false;
  options.scrub_bytes_per_second_max = kBytesPerSecondMax;
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(options);
  if (absl::IsDataLoss(engine.status())) {
    report.damage.emplace_back(engine.status().message());
    return report;
  }
  if (!engine.ok()) return engine.status();
  const absl::Status scrubbed = (*engine)->Scrub();
  if (!scrubbed.ok() && !absl::IsDataLoss(scrubbed)) return scrubbed;
  const ScrubProgress progress = (*engine)->scrub_progress();
  report.tables_count = progress.tables_count;
  report.bytes = progress.bytes_done;
  for (const std::string& file : progress.damaged_files) {
    report.damage.push_back(fmt::format("{} is not as it was written", file));
  }
  return report;
}

void AddCheckCommand(CLI::App& app, int* exit_status) {
  CLI::App* check = app.add_subcommand(
      "check", "Read all of a data directory, repository or cluster, and name what is not as it was written");
  check->footer(
      "Examples:\n"
      "  sonde check --data-dir /var/lib/sonde\n"
      "  sonde check --data-dir /var/lib/sonde --json\n"
      "  sonde check --repository /mnt/backups/sonde\n"
      "  sonde check --store hbase://master.example.org/sonde\n\n"
      "Exit status 0: all is as it was written.  1: something is damaged, and named.  2: the call was "
      "wrong.\n"
      "Nothing is repaired.  No server may be using the directory: one that does reads all of it once a "
      "day.\n"
      "The index of each series that has one is compared with its rows, too.\n"
      "In a cluster, servers may go on: tables are compared with the records, and all rows are read by "
      "HBase.\n"
      "A backup is opened in a directory below TMPDIR, which needs room for the largest one.");
  const auto flags = std::make_shared<CheckFlags>();
  check->add_option("--data-dir", flags->data_dir, "the data directory");
  check->add_option("--repository", flags->repository, "a repository of backups, each of which is opened");
  check->add_option("--store", flags->store, "a store in an HBase cluster, hbase://HOST[:PORT]/NAMESPACE");
  AddStoreTlsFlags(check, "--store-tls", "the cluster", &flags->store_tls);
  AddTransferFlags(*check, &flags->transfer);
  check->callback([flags, exit_status] {
    const absl::StatusOr<bool> sound = Run(*flags);
    if (sound.ok()) {
      if (!*sound) *exit_status = 1;
      return;
    }
    *exit_status = EndOfCommand("sonde check", sound.status());
  });
}

}  // namespace sonde
