// The parts that `sonde backup`, `sonde restore` and `sonde check --repository` share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/repository.h"
#include "backup/repository/transfer.h"
#include "backup/repository/verify_repository.h"
#include "base/clock.h"
#include "base/random.h"
#include "server/temporary_directory.h"

namespace sonde {

// The machine's tools for a repository.
struct LocalTools {
  LocalFileSystem files;
  SystemClock clock;
  SystemRandom random;

  RepositoryTools tools() { return {.files = &files, .clock = &clock, .random = &random}; }
};

struct TransferFlags {
  std::string limit_rate;
  bool json = false;
};

// --limit-rate, --json.
void AddTransferFlags(CLI::App& app, TransferFlags* flags);
// Progress goes to stderr if that is a terminal; `bytes_in_all` may be 0, if nobody knows.  INVALID_ARGUMENT: no rate.
absl::StatusOr<TransferOptions> MakeTransferOptions(const TransferFlags& flags, const std::string& verb,
                                                    uint64_t bytes_in_all);
// Ends the line of progress, if there is one.
void EndProgress();

// Copies the files of a backup to StoreBelow a new directory below TMPDIR, where databases may be opened.
absl::StatusOr<std::unique_ptr<TemporaryDirectory>> CopyBelowTmpdir(const Repository& repository,
                                                                    const Manifest& manifest,
                                                                    const TransferOptions& options);
std::string StoreBelow(const TemporaryDirectory& directory);

// projects/P/instances/I/tables/T of such a name, or of an id T of a table of Sonde's own instance.  INVALID_ARGUMENT: it is neither.
absl::StatusOr<std::string> TableNameOf(const std::string& text);

// Sets *exit_status, and tells of an error: 2 for a wrong call, 1 for all others.
void LeaveStatus(std::string_view command, const absl::Status& status, int* exit_status);

// Reads the repository and says what is damaged; with `opens_backups` it also opens each backup's databases.  Prints the report, and
// returns whether all is as it was written.
absl::StatusOr<bool> RunVerification(const std::string& directory, const VerifyOptions& options,
                                     bool opens_backups, const TransferFlags& flags);

}  // namespace sonde
