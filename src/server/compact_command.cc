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
#include <string>

#include "engine/rocks/disk_guard.h"
#include "server/commands.h"
#include "server/local_store.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};

struct Flags {
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

// One line that is written over and over, on a terminal.
class Progress {
 public:
  explicit Progress(const RocksEngine* engine) : engine_(engine) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\n");
  }

  void AfterStep() {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < kProgressInterval) return;
    last_ = now;
    const SettlingCounts counts = engine_->settling_counts();
    fmt::print(stderr, "\rsettling: {} cells, {} pages", counts.cells_in, counts.pages);
    std::fflush(stderr);
    shown_ = true;
  }

 private:
  const RocksEngine* const engine_;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point last_;
  bool shown_ = false;
};

absl::Status Compact(RocksEngine* engine) {
  Progress progress(engine);
  absl::Status status = engine->SettleAll([&] { progress.AfterStep(); });
  if (status.ok()) status = engine->VisitPages();
  return status.ok() ? engine->CompactAll() : status;
}

absl::Status Run(const Flags& flags) {
  RocksOptions options{.data_dir = flags.data_dir, .settles = false};
  if (!flags.memory.empty()) {
    if (absl::Status status = ParseBytes(flags.memory, &options.memory_bytes); !status.ok()) {
      return absl::InvalidArgumentError("--memory: " + std::string(status.message()));
    }
  }
  if (!std::filesystem::exists(flags.data_dir + "/FORMAT")) {
    return absl::InvalidArgumentError(
        fmt::format("--data-dir: {} is no data directory of Sonde (it has no file FORMAT)", flags.data_dir));
  }
  const auto start = std::chrono::steady_clock::now();
  const uint64_t before = BytesOnDisk(flags.data_dir);
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open(options);
  if (absl::IsFailedPrecondition(store.status())) {
    return absl::FailedPreconditionError(std::string(store.status().message()) +
                                         ". If a server uses it: that settles by itself, as it gets cells; "
                                         "to have all settled now, stop it, run "
                                         "this, and start it again");
  }
  if (!store.ok()) return store.status();
  RocksEngine& engine = (*store)->engine();
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
      "that are to be copied, measured or read for long.  Tables share what is settled, so all of them are.");
  const auto flags = std::make_shared<Flags>();
  compact->add_option("--data-dir", flags->data_dir, "the data directory")->required();
  compact->add_option("--memory", flags->memory, "for cache and write buffers, such as 4GiB [1GiB]");
  compact->add_flag("--json", flags->json, "print the result as JSON");
  compact->callback([flags, exit_status] {
    const absl::Status status = Run(*flags);
    if (status.ok()) return;
    fmt::print(stderr, "sonde compact: {}\n", std::string(status.message()));
    *exit_status = absl::IsInvalidArgument(status) ? 2 : 1;
  });
}

}  // namespace sonde
