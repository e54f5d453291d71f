// `sonde backup create | list | verify | prune`: copies of a store in a repository, which may lie on another machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "backup/copy/store_copy.h"
#include "backup/journal/journal_chain.h"
#include "backup/journal/journal_upkeep.h"
#include "backup/repository/create_backup.h"
#include "backup/repository/prune_repository.h"
#include "cli/reach/access.h"
#include "cli/reach/admin_client.h"
#include "cli/store/backup_flags.h"
#include "cli/store/backup_follow.h"
#include "cli/store/store_commands.h"

namespace sonde {
namespace {

constexpr char kDataDirDefault[] = "/var/lib/sonde";

struct CreateFlags {
  std::string to;
  std::string data_dir = kDataDirDefault;
  std::string table;
  bool follows = false;
  TransferFlags transfer;
};

// A checkpoint, and what keeps it: the connection to a server, or the directory itself.
class HeldCheckpoint {
 public:
  // Asks the server that uses the directory; if there is none, opens the directory.
  static absl::StatusOr<std::unique_ptr<HeldCheckpoint>> Make(const std::string& data_dir,
                                                              RandomSource* random) {
    std::unique_ptr<HeldCheckpoint> held(new HeldCheckpoint());
    absl::StatusOr<std::unique_ptr<AdminClient>> server = AdminClient::Connect(data_dir);
    absl::Status status = server.status();
    if (server.ok()) {
      held->server_ = *std::move(server);
      status = held->Ask();
    } else if (absl::IsNotFound(status)) {
      status = held->MakeOfStopped(data_dir, random);
    }
    if (!status.ok()) return status;
    return held;
  }
  ~HeldCheckpoint() {
    if (server_ != nullptr || checkpoint_.directory.empty()) return;
    std::error_code ignored;  // the next start removes it
    std::filesystem::remove_all(checkpoint_.directory, ignored);
  }
  HeldCheckpoint(const HeldCheckpoint&) = delete;

  const Checkpointed& checkpoint() const { return checkpoint_; }

 private:
  HeldCheckpoint() = default;

  absl::Status Ask() {
    const absl::StatusOr<nlohmann::json> answer = server_->Call("checkpoint");
    if (!answer.ok()) return answer.status();
    try {
      checkpoint_ = {.directory = answer->at("directory").get<std::string>(),
                     .moment = absl::FromUnixMicros(answer->at("moment_micros").get<int64_t>()),
                     .tables = answer->at("tables").get<std::vector<std::string>>()};
      if (const auto journal = answer->find("journal"); journal != answer->end()) {
        checkpoint_.journal = {.id = journal->at("id").get<std::string>(),
                               .from_micros = journal->at("from_micros").get<int64_t>(),
                               .through_micros = journal->at("through_micros").get<int64_t>()};
      }
    } catch (const nlohmann::json::exception& e) {
      return absl::UnavailableError(fmt::format("The server's answer is of another version: {}", e.what()));
    }
    return absl::OkStatus();
  }

  absl::Status MakeOfStopped(const std::string& data_dir, RandomSource* random) {
    const absl::StatusOr<std::unique_ptr<RocksEngine>> engine =
        RocksEngine::Open({.data_dir = data_dir, .settles = false});
    if (!engine.ok()) return engine.status();
    absl::StatusOr<Checkpointed> made = CheckpointStore(engine->get(), data_dir, random);
    if (!made.ok()) return made.status();
    checkpoint_ = *std::move(made);
    return absl::OkStatus();
  }

  std::unique_ptr<AdminClient> server_;
  Checkpointed checkpoint_;
};

absl::StatusOr<CreatedBackup> CopyToRepository(const Repository& repository, const CopiedStore& copy,
                                               const TransferFlags& flags) {
  uint64_t bytes = 0;
  for (const CopiedFile& file : copy.files) bytes += file.bytes;
  const absl::StatusOr<TransferOptions> options = MakeTransferOptions(flags, "copied", bytes);
  if (!options.ok()) return options.status();
  absl::StatusOr<CreatedBackup> created = CreateBackup(repository, copy, *options);
  EndProgress();
  return created;
}

// A backup of one table; its files are written anew beside the checkpoint.
absl::StatusOr<CreatedBackup> BackUpTable(LocalTools* local, const Repository& repository,
                                          const CreateFlags& flags, const Checkpointed& checkpoint,
                                          const std::string& table) {
  // As the checkpoint, it goes at the next start if this process is killed.
  const std::string work =
      fmt::format("{}/snapshots/table-{:016x}.part", flags.data_dir, local->random.Next());
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(work, ignored);
  };
  const absl::StatusOr<CopiedStore> copy =
      ExtractTable(&local->files, checkpoint, table, work, SONDE_VERSION);
  if (!copy.ok()) return copy.status();
  return CopyToRepository(repository, *copy, flags.transfer);
}

void PrintCreated(const CreatedBackup& created, double seconds, bool json) {
  const Manifest& manifest = created.manifest;
  if (json) {
    const nlohmann::json out = {{"id", manifest.id},
                                {"moment", MomentText(manifest.moment)},
                                {"table", manifest.table},
                                {"tables", manifest.tables},
                                {"files", manifest.files.size()},
                                {"files_copied", created.files_copied},
                                {"bytes_copied", created.bytes_copied},
                                {"bytes_found", created.bytes_found},
                                {"seconds", seconds}};
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("backup {} of {}: {} tables, {} files; {} bytes copied, {} bytes found; {:.1f} s\n",
               manifest.id, MomentText(manifest.moment), manifest.tables.size(), manifest.files.size(),
               created.bytes_copied, created.bytes_found, seconds);
  }
  std::fflush(stdout);
}

absl::StatusOr<Manifest> CreateOne(LocalTools* local, const Repository& repository, const CreateFlags& flags,
                                   const std::string& table) {
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<std::unique_ptr<HeldCheckpoint>> held =
      HeldCheckpoint::Make(flags.data_dir, &local->random);
  if (!held.ok()) return held.status();
  const Checkpointed& checkpoint = (*held)->checkpoint();
  if (flags.follows && !checkpoint.journal.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("There is no journal to follow: a server must run on {}, with the setting pitr_tables",
                    flags.data_dir));
  }
  absl::StatusOr<CreatedBackup> created;
  if (table.empty()) {
    const absl::StatusOr<CopiedStore> copy =
        DescribeCheckpoint(&local->files, checkpoint, flags.data_dir, SONDE_VERSION);
    created = copy.ok() ? CopyToRepository(repository, *copy, flags.transfer) : copy.status();
  } else {
    created = BackUpTable(local, repository, flags, checkpoint, table);
  }
  if (!created.ok()) return created.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  PrintCreated(*created, seconds, flags.transfer.json);
  return std::move(created->manifest);
}

absl::Status Create(const CreateFlags& flags) {
  std::string table;
  if (!flags.table.empty()) {
    if (flags.follows) {
      return absl::InvalidArgumentError("--follow is for the whole store: it does not go with --table");
    }
    absl::StatusOr<std::string> name = TableNameOf(flags.table);
    if (!name.ok()) return name.status();
    table = *std::move(name);
  }
  if (absl::StatusOr<TransferOptions> options = MakeTransferOptions(flags.transfer, "", 0); !options.ok()) {
    return options.status();
  }
  if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  LocalTools local;
  const absl::StatusOr<std::unique_ptr<Repository>> repository =
      Repository::Open(local.tools(), flags.to, Repository::IfNone::kMake);
  if (!repository.ok()) return repository.status();
  const auto make_base = [&] { return CreateOne(&local, **repository, flags, table); };
  return flags.follows ? FollowJournal(**repository, flags.data_dir, make_base) : make_base().status();
}

// -- list

absl::StatusOr<bool> List(const std::string& directory, bool json) {
  LocalTools local;
  const absl::StatusOr<std::unique_ptr<Repository>> repository = Repository::Open(local.tools(), directory);
  if (!repository.ok()) return repository.status();
  const absl::StatusOr<std::vector<std::string>> ids = (*repository)->BackupIds();
  if (!ids.ok()) return ids.status();
  nlohmann::json out = nlohmann::json::array();
  std::vector<std::string> damage;
  for (const std::string& id : *ids) {
    const absl::StatusOr<Manifest> manifest = (*repository)->Read(id);
    if (absl::IsNotFound(manifest.status())) continue;  // it was removed meanwhile
    if (absl::IsDataLoss(manifest.status())) {
      damage.emplace_back(manifest.status().message());
      continue;
    }
    if (!manifest.ok()) return manifest.status();
    out.push_back({{"id", id},
                   {"moment", MomentText(manifest->moment)},
                   {"server", manifest->server},
                   {"table", manifest->table},
                   {"tables", manifest->tables},
                   {"files", manifest->files.size()},
                   {"bytes", manifest->bytes()}});
    const absl::StatusOr<std::optional<RestorableRange>> range = FindRestorable(**repository, *manifest);
    if (!range.ok()) return range.status();
    std::string reach;
    if (range->has_value()) {
      const std::string earliest = MomentText((*range)->earliest), latest = MomentText((*range)->latest);
      out.back()["earliest"] = earliest;
      out.back()["latest"] = latest;
      reach = fmt::format("  and any moment from {} to {}", earliest, latest);
    }
    if (json) continue;
    fmt::print("{}  {}  {} bytes  {}{}\n", id, MomentText(manifest->moment), manifest->bytes(),
               manifest->table.empty() ? fmt::format("{} tables", manifest->tables.size()) : manifest->table,
               reach);
  }
  if (json) fmt::print("{}\n", out.dump(2));
  for (const std::string& line : damage) fmt::print(stderr, "sonde backup list: {}\n", line);
  return damage.empty();
}

// -- prune

struct PruneFlags {
  std::string in;
  int keep_daily = 0, keep_weekly = 0;
  bool is_dry_run = false;
  bool json = false;
};

absl::Status Prune(const PruneFlags& flags) {
  LocalTools local;
  const absl::StatusOr<std::unique_ptr<Repository>> repository = Repository::Open(local.tools(), flags.in);
  if (!repository.ok()) return repository.status();
  const absl::StatusOr<PruneReport> report = PruneRepository(
      **repository,
      {.keep = {.daily = flags.keep_daily, .weekly = flags.keep_weekly}, .is_dry_run = flags.is_dry_run});
  if (!report.ok()) return report.status();
  const absl::StatusOr<PrunedSegments> segments = PruneJournals(**repository, report->kept, flags.is_dry_run);
  if (!segments.ok()) return segments.status();
  if (flags.json) {
    const nlohmann::json out = {{"kept", report->kept},
                                {"removed", report->removed},
                                {"blobs_removed", report->blobs_removed},
                                {"bytes_removed", report->bytes_removed},
                                {"segments_removed", segments->count},
                                {"segment_bytes_removed", segments->bytes},
                                {"dry_run", flags.is_dry_run}};
    fmt::print("{}\n", out.dump(2));
    return absl::OkStatus();
  }
  const char* const verb = flags.is_dry_run ? "would remove" : "removed";
  for (const std::string& id : report->removed) fmt::print("{} backup {}\n", verb, id);
  fmt::print("{} {} backups, {} files, {} bytes; {} backups are kept\n", verb, report->removed.size(),
             report->blobs_removed, report->bytes_removed, report->kept.size());
  if (segments->count > 0) {
    fmt::print("{} {} segments of journals, {} bytes\n", verb, segments->count, segments->bytes);
  }
  return absl::OkStatus();
}

// For commands that look: 1 for damage, 2 if they could not look.
void LeaveFindings(const char* command, const absl::StatusOr<bool>& sound, int* exit_status) {
  if (sound.ok()) {
    if (!*sound) *exit_status = 1;
    return;
  }
  LeaveStatus(command, sound.status(), exit_status);
  *exit_status = 2;
}

void AddCreate(CLI::App& backup, int* exit_status) {
  CLI::App* create = backup.add_subcommand("create", "Copy a store, or one of its tables, into a repository");
  create->footer(
      "Examples:\n"
      "  sonde backup create --to /mnt/backups/sonde\n"
      "  sonde backup create --to REPOSITORY --data-dir DIRECTORY --limit-rate 20MiB\n"
      "  sonde backup create --to REPOSITORY --table projects/p/instances/i/tables/t\n"
      "  sonde backup create --to REPOSITORY --follow\n\n"
      "--follow goes on after the backup, until it is stopped: it copies the changes of the tables that the "
      "server's setting pitr_tables names, each within a second, so that `sonde restore --to-time` reaches "
      "any "
      "moment.\n"
      "A server that uses the directory goes on; it is asked through admin.sock, so run this as its user, or "
      "as "
      "root.");
  const auto flags = std::make_shared<CreateFlags>();
  create->add_option("--to", flags->to, "the repository; it is made if it is not there")->required();
  create->add_option("--data-dir", flags->data_dir, "the data directory")->capture_default_str();
  create->add_option("--table", flags->table, "the only table to copy: its name, or its id");
  create->add_flag("--follow", flags->follows, "then copy all changes, until this command is stopped");
  AddTransferFlags(*create, &flags->transfer);
  create->callback([flags, exit_status] { LeaveStatus("sonde backup create", Create(*flags), exit_status); });
}

void AddList(CLI::App& backup, int* exit_status) {
  CLI::App* list = backup.add_subcommand("list", "List the backups of a repository, the oldest first");
  list->footer("Example:\n  sonde backup list --in REPOSITORY --json");
  const auto in = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  list->add_option("--in", *in, "the repository")->required();
  list->add_flag("--json", *json, "print the result as JSON");
  list->callback(
      [in, json, exit_status] { LeaveFindings("sonde backup list", List(*in, *json), exit_status); });
}

void AddVerify(CLI::App& backup, int* exit_status) {
  CLI::App* verify = backup.add_subcommand("verify", "Look whether a repository is as it was written");
  verify->footer(
      "Examples:\n"
      "  sonde backup verify --in REPOSITORY\n"
      "  sonde backup verify --in REPOSITORY --read-data\n\n"
      "Exit status 0: all is as it was written.  1: something is damaged, and named.  2: it could not be "
      "looked at.");
  struct VerifyFlags {
    std::string in;
    VerifyOptions options;
    TransferFlags transfer;
  };
  const auto flags = std::make_shared<VerifyFlags>();
  verify->add_option("--in", flags->in, "the repository")->required();
  verify->add_option("--backup", flags->options.backup, "the id of the only backup to look at");
  verify->add_flag("--read-data", flags->options.reads_data, "read all files, and compare their SHA-256");
  AddTransferFlags(*verify, &flags->transfer);
  verify->callback([flags, exit_status] {
    LeaveFindings("sonde backup verify",
                  RunVerification(flags->in, flags->options, /*opens_backups=*/false, flags->transfer),
                  exit_status);
  });
}

void AddPrune(CLI::App& backup, int* exit_status) {
  CLI::App* prune = backup.add_subcommand("prune", "Remove old backups, and the files that only they needed");
  prune->footer(
      "Examples:\n"
      "  sonde backup prune --in REPOSITORY --keep-daily 7 --keep-weekly 4 --dry-run\n"
      "  sonde backup prune --in REPOSITORY --keep-daily 7 --keep-weekly 4\n\n"
      "Kept: the newest backup of each of the last days and weeks that have one, in UTC.  Backups of one "
      "table are "
      "counted by themselves.\nFiles go when no backup names them and they are older than a day.");
  const auto flags = std::make_shared<PruneFlags>();
  prune->add_option("--in", flags->in, "the repository")->required();
  prune->add_option("--keep-daily", flags->keep_daily, "how many days");
  prune->add_option("--keep-weekly", flags->keep_weekly, "how many weeks");
  prune->add_flag("--dry-run", flags->is_dry_run, "say only what would be removed");
  prune->add_flag("--json", flags->json, "print the result as JSON");
  prune->callback([flags, exit_status] { LeaveStatus("sonde backup prune", Prune(*flags), exit_status); });
}

}  // namespace

void AddBackupCommand(CLI::App& app, int* exit_status) {
  CLI::App* backup =
      app.add_subcommand("backup", "Copies of a store in a repository, for another disk or machine");
  backup->require_subcommand(1);
  AddCreate(*backup, exit_status);
  AddList(*backup, exit_status);
  AddVerify(*backup, exit_status);
  AddPrune(*backup, exit_status);
}

}  // namespace sonde
