// `sonde restore`: a data directory, or one table, of a backup in a repository.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "backup/copy/moment_restore.h"
#include "backup/copy/restored_store.h"
#include "backup/copy/send_table.h"
#include "backup/journal/journal_chain.h"
#include "backup/repository/restore_backup.h"
#include "cli/reach/access.h"
#include "cli/reach/admin_client.h"
#include "cli/store/backup_flags.h"
#include "cli/store/store_commands.h"
#include "model/names.h"
#include "server/local_store.h"
#include "server/temporary_directory.h"

namespace sonde {
namespace {

struct RestoreFlags {
  std::string from;
  std::string backup;
  std::string to_time;
  std::string data_dir;
  std::string address, ca_file, key_file;  // of a running server, as AccessFlags
  std::string table, as;
  bool resume = false;
  TransferFlags transfer;
};

// What is restored: a backup, and with `to_micros` the journal behind it up to that moment.
struct RestoreSource {
  Manifest manifest;
  std::optional<int64_t> to_micros;

  std::string Text() const {
    if (!to_micros.has_value())
      return fmt::format("backup {} of {}", manifest.id, MomentText(manifest.moment));
    return fmt::format("the moment {} by backup {}", MomentText(absl::FromUnixMicros(*to_micros)),
                       manifest.id);
  }
};

// Chooses the backup: the one that is named, or the newest one, with --to-time the newest one that reaches the moment.
absl::StatusOr<RestoreSource> FindSource(const RestoreFlags& flags, const Repository& repository) {
  if (flags.to_time.empty()) {
    absl::StatusOr<Manifest> manifest = repository.Find(flags.backup);
    if (!manifest.ok()) return manifest.status();
    return RestoreSource{.manifest = *std::move(manifest), .to_micros = std::nullopt};
  }
  absl::Time moment;
  std::string why;
  if (!absl::ParseTime(absl::RFC3339_full, flags.to_time, &moment, &why)) {
    return absl::InvalidArgumentError(fmt::format(
        "--to-time must be a moment such as 2026-01-02T03:04:05.678Z, but is '{}'", flags.to_time));
  }
  const int64_t to_micros = absl::ToUnixMicros(moment);
  absl::StatusOr<RestorableRange> range = FindBase(repository, absl::FromUnixMicros(to_micros), flags.backup);
  if (!range.ok()) return range.status();
  return RestoreSource{.manifest = std::move(range->manifest), .to_micros = to_micros};
}

void PrintRestored(const RestoreFlags& flags, const RestoreSource& source, nlohmann::json facts,
                   const std::string& text) {
  if (!flags.transfer.json) {
    fmt::print("restored {}: {}\n", source.Text(), text);
    return;
  }
  const Manifest& manifest = source.manifest;
  facts["id"] = manifest.id;
  facts["moment"] =
      MomentText(source.to_micros.has_value() ? absl::FromUnixMicros(*source.to_micros) : manifest.moment);
  facts["bytes"] = manifest.bytes();
  fmt::print("{}\n", facts.dump(2));
}

absl::Status RestoreStore(const RestoreFlags& flags, const Repository& repository,
                          const RestoreSource& source, const TransferOptions& options) {
  const Manifest& manifest = source.manifest;
  CheckedStore checked;
  ReplayReport replayed;
  const auto finish = [&](const std::string& restored) -> absl::Status {
    EndProgress();
    absl::StatusOr<CheckedStore> result = CheckRestored(
        restored, manifest, source.to_micros.has_value() ? JournalRecords::kKeep : JournalRecords::kForget);
    if (!result.ok()) return result.status();
    checked = *result;
    if (!source.to_micros.has_value()) return absl::OkStatus();
    absl::StatusOr<ReplayReport> report =
        ReplayInto(repository, *manifest.journal, restored, *source.to_micros);
    if (report.ok()) replayed = *std::move(report);
    return report.status();
  };
  if (absl::Status status = RestoreBackup(repository, manifest, flags.data_dir, finish, options);
      !status.ok()) {
    return status;
  }
  nlohmann::json facts = {{"data_dir", flags.data_dir}, {"api_backups_left_out", checked.backups_removed}};
  std::string text = fmt::format("{} tables, {} bytes", checked.tables_count, manifest.bytes());
  if (source.to_micros.has_value()) {
    facts["row_changes"] = replayed.row_changes;
    facts["schema_changes"] = replayed.schema_changes;
    facts["tables_of_the_backup"] = replayed.without_journal;
    text = fmt::format("{} changes of rows and {} of schemas", replayed.row_changes, replayed.schema_changes);
  } else {
    facts["tables"] = checked.tables_count;
  }
  PrintRestored(flags, source, std::move(facts),
                fmt::format("{}, in {}; all files were checked", text, flags.data_dir));
  if (checked.backups_removed != 0) {
    fmt::print(stderr, "sonde restore: {} backups that were made through the API are not part of it\n",
               checked.backups_removed);
  }
  for (const std::string& table : replayed.without_journal) {
    fmt::print(stderr, "sonde restore: {} has no journal: it is as the backup of {} has it\n", table,
               MomentText(manifest.moment));
  }
  return absl::OkStatus();
}

// Brings the files of the backup, which were copied to `directory`, to the moment.  FAILED_PRECONDITION: the table has no journal, so
// that it would be of another moment.
absl::Status BringTableToMoment(const Repository& repository, const RestoreSource& source,
                                const std::string& directory, const std::string& table) {
  const Manifest& manifest = source.manifest;
  if (!source.to_micros.has_value()) return absl::OkStatus();
  const absl::StatusOr<CheckedStore> checked = CheckRestored(directory, manifest, JournalRecords::kKeep);
  if (!checked.ok()) return checked.status();
  const absl::StatusOr<ReplayReport> replayed =
      ReplayInto(repository, *manifest.journal, directory, *source.to_micros);
  if (!replayed.ok()) return replayed.status();
  if (std::ranges::find(replayed->without_journal, table) == replayed->without_journal.end())
    return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "Table {} has no journal, so {} cannot be restored: --backup {} without --to-time restores it as "
      "it was at {}",
      table, MomentText(absl::FromUnixMicros(*source.to_micros)), manifest.id, MomentText(manifest.moment)));
}

// A table into the store of a directory that no server uses.
absl::Status AddToStopped(const RestoreFlags& flags, const std::string& copy, const std::string& table,
                          const std::string& as, const std::function<absl::Status()>& copy_files) {
  const absl::StatusOr<std::unique_ptr<LocalStore>> store =
      LocalStore::Open({.data_dir = flags.data_dir, .settles = false});
  if (!store.ok()) return store.status();
  if (absl::Status status = copy_files(); !status.ok()) return status;
  return AddTableOfCopy((*store)->rocks(), &(*store)->tables().catalog(), flags.data_dir, copy, table, as)
      .status();
}

absl::Status RestoreTable(const RestoreFlags& flags, LocalTools* local, const Repository& repository,
                          const RestoreSource& source, const TransferOptions& options) {
  const absl::StatusOr<std::string> table = TableNameOf(flags.table);
  if (!table.ok()) return table.status();
  const absl::StatusOr<std::string> as = TableNameOf(flags.as);
  if (!as.ok()) return as.status();
  if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  const std::string copy = fmt::format("backup-restore-{:016x}", local->random.Next());
  const std::string directory = CopyDirectory(flags.data_dir, copy);
  const absl::Cleanup remove = [&] {
    std::error_code ignored;  // the next start removes it
    std::filesystem::remove_all(directory, ignored);
  };
  const auto copy_files = [&] {
    absl::Status status = local->files.MakeDirectory(flags.data_dir + "/snapshots");
    if (status.ok()) status = local->files.MakeDirectory(directory);
    if (status.ok()) status = CopyBackupFiles(repository, source.manifest, directory, options);
    EndProgress();
    if (status.ok()) status = BringTableToMoment(repository, source, directory, *table);
    return status;
  };
  absl::StatusOr<std::unique_ptr<AdminClient>> server = AdminClient::Connect(flags.data_dir);
  absl::Status status = server.status();
  if (server.ok()) {
    server->reset();  // a connection waits five seconds for its line
    status = copy_files();
    if (status.ok()) server = AdminClient::Connect(flags.data_dir);
    if (status.ok()) status = server.status();
    if (status.ok()) {
      const nlohmann::json argument = {{"copy", copy}, {"table", *table}, {"as", *as}};
      status = (*server)->Call("restore-table " + argument.dump()).status();
    }
  } else if (absl::IsNotFound(status)) {
    status = AddToStopped(flags, copy, *table, *as, copy_files);
  }
  if (!status.ok()) return status;
  PrintRestored(flags, source, {{"table", *table}, {"as", *as}}, fmt::format("{} as {}", *table, *as));
  return absl::OkStatus();
}

// The tables of the server that --address names, in the instance of the table `as`: projects/P/instances/I/tables/T.
absl::StatusOr<std::unique_ptr<TableAccess>> Connect(const RestoreFlags& flags, std::string_view as) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(as.data(), as.size()), '/');
  return OpenAccess({.endpoint = flags.address,
                     .ca_file = flags.ca_file,
                     .key_file = flags.key_file,
                     .project = parts[1],
                     .instance = parts[3],
                     .program = "sonde restore"});
}

// A table into a running server, through its API.  The backup's files lie below TMPDIR meanwhile.
absl::Status SendToServer(const RestoreFlags& flags, const Repository& repository,
                          const RestoreSource& source, const TransferOptions& options) {
  const absl::StatusOr<std::string> table = TableNameOf(flags.table);
  if (!table.ok()) return table.status();
  const absl::StatusOr<std::string> as = TableNameOf(flags.as);
  if (!as.ok()) return as.status();
  const absl::StatusOr<std::unique_ptr<TableAccess>> server = Connect(flags, *as);
  if (!server.ok()) return server.status();
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> temporary =
      CopyBelowTmpdir(repository, source.manifest, options);
  EndProgress();
  if (!temporary.ok()) return temporary.status();
  if (absl::Status status = BringTableToMoment(repository, source, StoreBelow(**temporary), *table);
      !status.ok()) {
    return status;
  }
  const absl::StatusOr<std::unique_ptr<LocalStore>> store =
      LocalStore::Open({.data_dir = StoreBelow(**temporary), .settles = false});
  if (!store.ok()) return store.status();
  const absl::StatusOr<TransferOptions> sending = MakeTransferOptions({}, "sent", 0);
  if (!sending.ok()) return sending.status();
  const absl::StatusOr<SentTable> sent =
      SendTable(&(*store)->tables(), *table, server->get(), std::string(IdOfTable(*as)),
                {.resumes = flags.resume, .on_progress = sending->on_progress});
  EndProgress();
  if (!sent.ok()) return sent.status();
  PrintRestored(flags, source, {{"table", *table}, {"as", *as}, {"rows", sent->rows}, {"cells", sent->cells}},
                fmt::format("{} as {} at {}, {} rows and {} cells, which were read back", *table, *as,
                            flags.address, sent->rows, sent->cells));
  return absl::OkStatus();
}

absl::Status CheckFlags(const RestoreFlags& flags) {
  if (flags.table.empty() != flags.as.empty()) {
    return absl::InvalidArgumentError(
        "--table names the table in the backup, --as the new one: both or neither");
  }
  if (flags.data_dir.empty() == flags.address.empty()) {
    return absl::InvalidArgumentError(
        "--data-dir names a directory, --address a running server: one of them is needed");
  }
  if (!flags.address.empty() && flags.table.empty()) {
    return absl::InvalidArgumentError("--address takes one table, which --table and --as name");
  }
  if (flags.address.empty() && (!flags.ca_file.empty() || !flags.key_file.empty() || flags.resume)) {
    return absl::InvalidArgumentError(
        "--ca-file, --key-file and --resume are for --address, which is not given");
  }
  return absl::OkStatus();
}

absl::Status Restore(const RestoreFlags& flags) {
  if (absl::Status status = CheckFlags(flags); !status.ok()) return status;
  LocalTools local;
  const absl::StatusOr<std::unique_ptr<Repository>> repository = Repository::Open(local.tools(), flags.from);
  if (!repository.ok()) return repository.status();
  const absl::StatusOr<RestoreSource> source = FindSource(flags, **repository);
  if (!source.ok()) return source.status();
  const absl::StatusOr<TransferOptions> options =
      MakeTransferOptions(flags.transfer, "copied", source->manifest.bytes());
  if (!options.ok()) return options.status();
  if (!flags.address.empty()) return SendToServer(flags, **repository, *source, *options);
  return flags.table.empty() ? RestoreStore(flags, **repository, *source, *options)
                             : RestoreTable(flags, &local, **repository, *source, *options);
}

}  // namespace

void AddRestoreCommand(CLI::App& app, int* exit_status) {
  CLI::App* restore =
      app.add_subcommand("restore", "Make a data directory, or a table, of a backup in a repository");
  restore->footer(
      "Examples:\n"
      "  sonde restore --from REPOSITORY --data-dir NEW\n"
      "  sonde restore --from REPOSITORY --backup 20260102T030405.123456Z-0123abcd --data-dir NEW\n"
      "  sonde restore --from REPOSITORY --to-time 2026-01-02T03:04:05Z --data-dir NEW\n"
      "  sonde restore --from REPOSITORY --table t --as t-before --data-dir /var/lib/sonde\n"
      "  sonde restore --from REPOSITORY --to-time 2026-01-02T03:04:05Z --table t --as t-before \\\n"
      "    --data-dir /var/lib/sonde\n"
      "  sonde restore --from REPOSITORY --table t --as t-before --address db.example.com:8086 \\\n"
      "    --ca-file ca.pem --key-file key.json\n\n"
      "A whole backup goes to an empty directory.  A table goes into a store that is there, whether a server "
      "uses it or not, or through the API into any server, which is then read back and compared.\nEach file "
      "is compared with its SHA-256 while it is copied; then all tables are read and "
      "checked.  A "
      "restore that was broken off is begun anew by the same command.");
  const auto flags = std::make_shared<RestoreFlags>();
  restore->add_option("--from", flags->from, "the repository")->required();
  restore->add_option("--backup", flags->backup, "the id of the backup; the newest one if none is named");
  restore->add_option("--to-time", flags->to_time,
                      "the moment to restore, by the newest backup before it and the journal: RFC 3339");
  restore->add_option("--data-dir", flags->data_dir, "the data directory");
  restore->add_option(
      "--address", flags->address,
      "HOST:PORT of a running server, which the table is sent to; by TLS unless it is loopback");
  restore->add_option("--ca-file", flags->ca_file, "PEM: the CA of the server's certificate; means TLS");
  restore->add_option("--key-file", flags->key_file, "the key of an account, which is shown to the server");
  restore->add_flag("--resume", flags->resume,
                    "with --address: go on with a table that a restore before has left incomplete");
  restore->add_option("--table", flags->table,
                      "the only table to restore: its name in the backup, or its id");
  restore->add_option("--as", flags->as, "the name, or the id, of the new table");
  AddTransferFlags(*restore, &flags->transfer);
  restore->callback([flags, exit_status] { LeaveStatus("sonde restore", Restore(*flags), exit_status); });
}

}  // namespace sonde
