// `sonde compact`: settles what a data directory holds, drops what may be forgotten, and gives the space
// back.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/reach/access.h"
#include "cli/reach/command_end.h"
#include "cli/store/settling_progress.h"
#include "cli/store/store_commands.h"
#include "engine/rocks/files/disk_guard.h"
#include "metrics/figure.h"
#include "server/local_store.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

struct CompactFlags {
  std::string data_dir;
  std::string memory;
  bool json = false;
};

// Without the ballast, which is kept for when the disk is full.
uint64_t BytesOnDisk(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored)) {
    if (entry.is_regular_file(ignored) && entry.path().filename() != kBallastFile)
      bytes += entry.file_size(ignored);
  }
  return bytes;
}

void Tell(const std::string& text) {
  if (text.empty()) return;
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
}

// The size of the head that takes no writes.  An empty head has write buffers of some 100 kB.
uint64_t RestingBytes(const RocksEngine& engine) {
  constexpr double kEmptyBytes = 1 << 20;
  for (const Figure& figure : engine.Figures()) {
    if (figure.name != "sonde_settling_waiting_bytes") continue;
    for (const Figure::Sample& sample : figure.samples) {
      if (sample.labels == Figure::Labels{{"head", "resting"}} && sample.value > kEmptyBytes) {
        return static_cast<uint64_t>(sample.value);
      }
    }
  }
  return 0;
}

// About how many cells both heads have.  For a directory that was opened just now, the engine knows bytes,
// from which it estimates cells.
std::optional<uint64_t> CellsToSettle(const RocksEngine& engine) {
  const HeadLoad open = engine.open_head_load();
  if (open.cells == 0 || open.bytes == 0) return std::nullopt;
  const double cells_per_byte = static_cast<double>(open.cells) / static_cast<double>(open.bytes);
  return open.cells + static_cast<uint64_t>(cells_per_byte * static_cast<double>(RestingBytes(engine)));
}

absl::Status Compact(RocksEngine* engine) {
  SettlingProgress progress(isatty(STDERR_FILENO) == 1, CellsToSettle(*engine),
                            std::chrono::steady_clock::now());
  absl::Status status = engine->SettleAll([&] {
    Tell(progress.AfterStep(engine->settling_counts().cells_in, std::chrono::steady_clock::now()));
    return absl::OkStatus();
  });
  if (status.ok()) {
    Tell(progress.Begin("looking for what may be forgotten"));
    status = engine->VisitPages();
  }
  if (status.ok()) {
    Tell(progress.Begin("compacting files"));
    status = engine->CompactAll();
  }
  Tell(progress.End());
  return status;
}

absl::Status Run(const CompactFlags& flags) {
  RocksOptions options{.data_dir = flags.data_dir, .settles = false};
  if (!flags.memory.empty()) {
    if (absl::Status status = ParseBytes(flags.memory, &options.memory_bytes); !status.ok()) {
      return absl::InvalidArgumentError("--memory: " + std::string(status.message()));
    }
  }
  if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  const auto start = std::chrono::steady_clock::now();
  const uint64_t before = BytesOnDisk(flags.data_dir);
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open(options);
  if (absl::IsFailedPrecondition(store.status())) {
    return absl::FailedPreconditionError(
        std::string(store.status().message()) +
        ". Servers settle cells in the background. To settle all of them now, "
        "stop the server first");
  }
  if (!store.ok()) return store.status();
  RocksEngine& engine = *(*store)->rocks();
  if (absl::Status status = Compact(&engine); !status.ok()) return status;
  const SettlingCounts counts = engine.settling_counts();
  const PageTotals pages = engine.page_totals();
  store->reset();
  const uint64_t after = BytesOnDisk(flags.data_dir);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.json) {
    const nlohmann::json report = {{"cells_settled", counts.cells_in},
                                   {"cells_rewritten", counts.cells_old},
                                   {"cells_forgotten", counts.cells_forgotten},
                                   {"pages_expired", counts.pages_expired},
                                   {"pages", pages.pages},
                                   {"cells", pages.cells},
                                   {"page_bytes", pages.bytes},
                                   {"bytes_before", before},
                                   {"bytes_after", after},
                                   {"seconds", seconds}};
    fmt::print("{}\n", report.dump(2));
    return absl::OkStatus();
  }
  fmt::print(
      "settled {} cells; {} cells in {} pages, {} bytes ({:.3f} a cell)\n"
      "{} bytes on disk, were {}; {:.1f} s\n",
      counts.cells_in, pages.cells, pages.pages, pages.bytes,
      pages.cells == 0 ? 0.0 : static_cast<double>(pages.bytes) / static_cast<double>(pages.cells), after,
      before, seconds);
  return absl::OkStatus();
}

}  // namespace

void AddCompactCommand(CLI::App& app, int* exit_status) {
  CLI::App* compact = app.add_subcommand(
      "compact", "Settle all cells of a data directory now, and give back what is forgotten");
  compact->footer(
      "Examples:\n"
      "  sonde compact --data-dir /var/lib/sonde\n"
      "  sonde compact --data-dir /var/lib/sonde --json\n\n"
      "No server may be using the directory.  A server settles by itself, as it gets cells: this is for "
      "directories\n"
      "that are to be copied, measured or read for long.  Tables share what is settled, so all of them "
      "are.\n\n"
      "How far it is goes to stderr: on a terminal in one line, elsewhere in a line every 5 s.  The cells "
      "that\n"
      "are to settle are estimated from their bytes, within a factor of three or so; once more have settled, "
      "their\n"
      "number stands alone.  Stdout has the result alone, also with --json.");
  const auto flags = std::make_shared<CompactFlags>();
  compact->add_option("--data-dir", flags->data_dir, "the data directory")
      ->envname(kDataDirVariable)
      ->required();
  compact->add_option("--memory", flags->memory, "for cache and write buffers, such as 4GiB [1GiB]");
  compact->add_flag("--json", flags->json, "print the result as JSON");
  compact->callback([flags, exit_status] { *exit_status = EndOfCommand("sonde compact", Run(*flags)); });
}

}  // namespace sonde
