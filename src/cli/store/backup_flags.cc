#include "cli/store/backup_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "backup/copy/restored_store.h"
#include "backup/journal/journal_upkeep.h"
#include "backup/repository/restore_backup.h"
#include "cli/reach/command_end.h"
#include "model/names.h"
#include "server/serve_settings.h"
#include "server/temporary_directory.h"

namespace sonde {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(200);

// Opens a backup's databases where it may write.
absl::Status TryToOpen(const Repository& repository, const std::string& id) {
  absl::StatusOr<Manifest> manifest = repository.Read(id);
  if (!manifest.ok()) return manifest.status();
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> temporary =
      CopyBelowTmpdir(repository, *manifest, {});
  if (!temporary.ok()) return temporary.status();
  return CheckRestored(StoreBelow(**temporary), *manifest).status();
}

absl::Status OpenBackups(const Repository& repository, const std::string& only, VerifyReport* report) {
  const absl::StatusOr<std::vector<std::string>> ids =
      only.empty() ? repository.BackupIds() : std::vector<std::string>{only};
  if (!ids.ok()) return ids.status();
  for (const std::string& id : *ids) {
    const absl::Status status = TryToOpen(repository, id);
    if (status.ok() || absl::IsNotFound(status)) continue;  // the second: it was removed meanwhile
    if (!absl::IsDataLoss(status)) return status;
    ++report->damage_count;
    report->damage.push_back(fmt::format("backup {}: {}", id, std::string(status.message())));
  }
  return absl::OkStatus();
}

void PrintReport(const VerifyReport& report, bool json) {
  if (json) {
    const nlohmann::json out = {{"backups", report.backups_count},
                                {"blobs", report.blobs_count},
                                {"bytes", report.bytes},
                                {"unnamed_blobs", report.unnamed_count},
                                {"segments", report.segments_count},
                                {"segment_bytes", report.segment_bytes},
                                {"damage_count", report.damage_count},
                                {"damage", report.damage}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  for (const std::string& line : report.damage) fmt::print("{}\n", line);
  if (report.damage_count > report.damage.size()) {
    fmt::print("and {} more\n", report.damage_count - report.damage.size());
  }
  if (report.damage_count != 0) return;
  const std::string segments =
      report.segments_count == 0
          ? ""
          : fmt::format(", {} segments of journals, {} bytes", report.segments_count, report.segment_bytes);
  fmt::print("{} backups, {} files, {} bytes{}: all are as they were written\n", report.backups_count,
             report.blobs_count, report.bytes, segments);
}

}  // namespace

void AddTransferFlags(CLI::App& app, TransferFlags* flags) {
  app.add_option("--limit-rate", flags->limit_rate, "bytes a second at most, such as 20MiB");
  app.add_flag("--json", flags->json, "print the result as JSON");
}

absl::StatusOr<TransferOptions> MakeTransferOptions(const TransferFlags& flags, const std::string& verb,
                                                    uint64_t bytes_in_all) {
  TransferOptions options;
  if (!flags.limit_rate.empty()) {
    uint64_t rate = 0;
    if (absl::Status status = ParseBytes(flags.limit_rate, &rate); !status.ok()) {
      return absl::InvalidArgumentError("--limit-rate: " + std::string(status.message()));
    }
    if (rate == 0) return absl::InvalidArgumentError("--limit-rate: it must be at least 1");
    options.bytes_per_second_max = rate;
  }
  if (isatty(STDERR_FILENO) != 1) return options;
  options.on_progress = [verb, bytes_in_all,
                         shown = std::chrono::steady_clock::time_point()](uint64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown < kProgressInterval) return;
    shown = now;
    if (bytes_in_all == 0) {
      fmt::print(stderr, "\r\033[K{} {} MB", verb, done / 1'000'000);
    } else {
      fmt::print(stderr, "\r\033[K{} {} of {} MB", verb, done / 1'000'000, bytes_in_all / 1'000'000);
    }
    std::fflush(stderr);
  };
  return options;
}

void EndProgress() {
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");
}

absl::StatusOr<std::unique_ptr<TemporaryDirectory>> CopyBelowTmpdir(const Repository& repository,
                                                                    const Manifest& manifest,
                                                                    const TransferOptions& options) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return absl::FailedPreconditionError("TMPDIR names no directory: " + error.message());
  absl::StatusOr<std::unique_ptr<TemporaryDirectory>> temporary = TemporaryDirectory::Create(parent);
  if (!temporary.ok()) return temporary.status();
  const std::string directory = StoreBelow(**temporary);
  absl::Status status = repository.files()->MakeDirectory(directory);
  if (status.ok()) status = CopyBackupFiles(repository, manifest, directory, options);
  if (!status.ok()) return status;
  return temporary;
}

std::string StoreBelow(const TemporaryDirectory& directory) { return directory.path().native() + "/store"; }

absl::StatusOr<std::string> TableNameOf(const std::string& text) {
  std::string name = text;
  if (text.find('/') == std::string::npos) {
    name = fmt::format("projects/{}/instances/{}/tables/{}", kProjectUsual, kInstanceUsual, text);
  }
  if (absl::Status status = CheckTableName(name); !status.ok()) return status;
  return name;
}

void LeaveStatus(std::string_view command, const absl::Status& status, int* exit_status) {
  if (status.ok()) return;
  EndProgress();
  *exit_status = EndOfCommand(command, status);
}

absl::StatusOr<bool> RunVerification(const std::string& directory, const VerifyOptions& options,
                                     bool opens_backups, const TransferFlags& flags) {
  LocalTools local;
  const absl::StatusOr<std::unique_ptr<Repository>> repository = Repository::Open(local.tools(), directory);
  VerifyReport report;
  if (absl::IsDataLoss(repository.status())) {
    report.damage_count = 1;
    report.damage.emplace_back(repository.status().message());
  } else if (!repository.ok()) {
    return repository.status();
  } else {
    VerifyOptions verify = options;
    absl::StatusOr<TransferOptions> transfer = MakeTransferOptions(flags, "read", 0);
    if (!transfer.ok()) return transfer.status();
    verify.transfer = *std::move(transfer);
    absl::StatusOr<VerifyReport> verified = VerifyRepository(**repository, verify);
    EndProgress();
    if (!verified.ok()) return verified.status();
    report = *std::move(verified);
    if (options.backup.empty()) {
      if (absl::Status status = VerifyJournals(**repository, verify, &report); !status.ok()) return status;
    }
    if (opens_backups && report.damage_count == 0) {
      if (absl::Status status = OpenBackups(**repository, options.backup, &report); !status.ok())
        return status;
    }
  }
  PrintReport(report, flags.json);
  return report.damage_count == 0;
}

}  // namespace sonde
