// Loses the power at every k-th call that changes the disk, in a fixed course of writes that also settles,
// and compares what is there after the restart with what was acknowledged.
//
//   sonde_crash_points_test [--every=K] [--seed=S] [--seconds=N] [--plant=BUG]
//
// Exit 0: nothing was lost (with --plant: the bug was caught).  1: otherwise.  2: wrong arguments.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "gc/gc_rule_evaluator.h"
#include "lossy_file_system.h"
#include "older_format.h"
#include "planted_bugs.h"
#include "reference_workload.h"
#include "rocksdb/env.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

constexpr uint64_t kRecoveryCallsMax = 80;

struct Totals {
  uint64_t trials = 0, calls = 0, acknowledged = 0, copies = 0, recoveries_cut = 0, upgrades = 0;
  LossyFileSystem::Counts disk;
};

class Trial {
 public:
  Trial(uint64_t seed, std::optional<PlantedBug> bug)
      : bug_(bug),
        random_(seed),
        disk_(std::make_shared<LossyFileSystem>(directory_.path(), seed, LiesOf(bug))),
        env_(rocksdb::NewCompositeEnv(disk_)),
        workload_(seed, {.rest = [this](Engine* engine) { return Rest(engine); },
                         .forget = [this](Engine*) { return Forget(); },
                         .checkpoint =
                             [this](Engine* engine, TableId table, const std::string& directory) {
                               return buggy_ != nullptr ? CheckpointWithBug(engine, table, directory)
                                                        : rocks_->Checkpoint(table, directory);
                             },
                         .copies_dir = directory_.path(),
                         .open_copy = [this](const std::string& copy) { return OpenCopy(copy); }}) {}

  // Crashes at this call; `finished` tells whether the writes were over before.  INTERNAL: what was lost.
  absl::Status Run(uint64_t crash_at_call, bool* finished) {
    disk_->CrashAtCall(crash_at_call);
    // Now and then, and always if that is the bug, a sync fails before: then nothing more may be
    // acknowledged.
    const bool fails_sync = bug_ == PlantedBug::kFailedSyncTakenForDone || random_.Uniform(8) == 0;
    if (fails_sync) disk_->FailSync(1 + random_.Uniform(100));
    const absl::Status ran = OpenAndRun();
    *finished = ran.ok() && !disk_->crashed();
    const bool failed = disk_->counts().syncs_failed > 0;
    if (!ran.ok() && (absl::IsInternal(ran) || (!disk_->crashed() && !failed))) return ran;
    Die();
    if (!bug_.has_value() && random_.Uniform(6) == 0) MakeFormat1();
    if (upgraded_ || random_.Uniform(3) == 0) {
      disk_->CrashAtCall(1 + random_.Uniform(kRecoveryCallsMax));
      const absl::Status again = OpenAndRun();
      if (!again.ok() && !disk_->crashed()) return Lost("in the second recovery", again);
      recovery_cut_ = true;
      Die();
    }
    if (absl::Status status = OpenAndVerify(); !status.ok()) return status;
    if (random_.Uniform(4) != 0) return absl::OkStatus();
    // Life goes on.
    if (absl::Status status = OpenAndRun(); !status.ok()) return Lost("after the recovery", status);
    Close();
    return OpenAndVerify();
  }

  void AddTo(Totals* totals) const {
    const LossyFileSystem::Counts counts = disk_->counts();
    ++totals->trials;
    totals->acknowledged += workload_.acknowledged_count();
    totals->copies += workload_.copies_verified_count();
    totals->recoveries_cut += recovery_cut_;
    totals->upgrades += upgraded_;
    totals->disk.calls += counts.calls;
    totals->disk.syncs_failed += counts.syncs_failed;
    totals->disk.crashes += counts.crashes;
    totals->disk.bytes_lost += counts.bytes_lost;
    totals->disk.names_lost += counts.names_lost;
    totals->disk.sectors_torn += counts.sectors_torn;
  }

 private:
  static absl::Status Lost(const std::string& when, const absl::Status& status) {
    return absl::InternalError(fmt::format("{}: {}", when, status.ToString()));
  }

  absl::Status Open() {
    auto opened = RocksEngine::Open(OptionsOf(directory_.path() + "/data"));
    if (!opened.ok()) return opened.status();
    rocks_ = *std::move(opened);
    if (bug_.has_value()) buggy_ = PlantAbove(*bug_, rocks_.get(), directory_.path());
    return absl::OkStatus();
  }
  RocksOptions OptionsOf(const std::string& data_dir) const {
    return {.data_dir = data_dir,
            .memory_bytes = 8 << 20,
            .inventory_interval = absl::Milliseconds(10),
            .env = env_.get(),
            .page = {.cells_max = 40},
            .settling_step_cells_max = 20,
            .settling_step_bytes_max = 200,
            .combined_bytes_max = 200};
  }
  absl::StatusOr<std::unique_ptr<Engine>> OpenCopy(const std::string& copy) const {
    auto opened = RocksEngine::Open(OptionsOf(copy));
    if (!opened.ok()) return opened.status();
    return *std::move(opened);
  }
  Engine* engine() { return buggy_ != nullptr ? buggy_.get() : rocks_.get(); }
  void Close() {
    buggy_.reset();
    rocks_.reset();
  }

  absl::Status Rest(Engine* engine) {
    if (bug_.has_value()) {
      if (absl::Status status = PlantInRest(*bug_, engine); !status.ok()) return status;
    }
    if (absl::Status status = rocks_->SwitchHeads(); !status.ok()) return status;
    if (absl::Status status = rocks_->CompactAll(); !status.ok()) return status;
    return rocks_->SwitchHeads();
  }

  absl::Status Forget() {
    const int versions_kept = PlantInRule(bug_, kVersionsKept);
    const GcRule rule{GcRule::MaxVersions{versions_kept}};
    const TableSpec spec{.id = kVersionsTable, .families = {{1, rule}, {2, rule}, {3, rule}}};
    if (absl::Status status = rocks_->AlterTable(spec); !status.ok()) return status;
    return rocks_->VisitPages();
  }

  absl::Status OpenAndRun() {
    absl::Status status = Open();
    return status.ok() ? workload_.Run(engine()) : status;
  }

  void Die() {
    disk_->CrashNow();
    Close();
    disk_->Restart();
    if (bug_.has_value()) PlantBeforeOpen(*bug_, directory_.path() + "/data");
  }

  // As an older version left it: without an inventory.  The next recovery upgrades it, and may be cut off.
  void MakeFormat1() {
    const std::string data_dir = directory_.path() + "/data";
    if (!MakeOlderFormat(data_dir, 1)) return;
    disk_->Restart();  // that is durable
    upgraded_ = true;
  }

  absl::Status OpenAndVerify() {
    if (absl::Status status = Open(); !status.ok()) return Lost("cannot be opened", status);
    const absl::Status status = workload_.Verify(rocks_.get());
    Close();
    return status.ok() ? status : Lost("wrong", status);
  }

  const std::optional<PlantedBug> bug_;
  SeededRandom random_;
  const TemporaryDirectory directory_;
  const std::shared_ptr<LossyFileSystem> disk_;
  const std::unique_ptr<rocksdb::Env> env_;
  ReferenceWorkload workload_;
  std::unique_ptr<RocksEngine> rocks_;
  std::unique_ptr<Engine> buggy_;
  bool recovery_cut_ = false;
  bool upgraded_ = false;
};

struct Settings {
  uint64_t every = 37;
  uint64_t seed = 1;
  double seconds = 300;
  std::string plant;
};

int Run(const Settings& settings) {
  std::optional<PlantedBug> bug;
  if (!settings.plant.empty()) {
    bug = PlantedBugOf(settings.plant);
    if (!bug.has_value()) {
      fmt::print(stderr, "crash_points: --plant={}: no such bug; there are:", settings.plant);
      for (const PlantedBugName& known : PlantedBugNames()) fmt::print(stderr, " {}", known.name);
      fmt::print(stderr, "\n");
      return 2;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Totals totals;
  absl::Status lost;
  uint64_t call = 1 + settings.seed % settings.every;
  // A bug is looked for at each call again and again, until it is caught.
  for (uint64_t round = 0; lost.ok() && seconds() < settings.seconds; call += settings.every) {
    const uint64_t seed = settings.seed * 1'000'003 + round * 10'007 + call;
    Trial trial(seed, bug);
    bool finished = false;
    lost = trial.Run(call, &finished);
    trial.AddTo(&totals);
    totals.calls = std::max(totals.calls, call);
    if (!lost.ok()) fmt::print("call {}, seed {}: {}\n", call, seed, std::string(lost.message()));
    if (!finished) continue;
    if (!bug.has_value()) break;
    call = 1 + ++round % settings.every;
  }
  fmt::print(
      "crash points{}: seed {}, every {}th of {} calls, {} trials in {:.0f} s: {} crashes, {} of them in a "
      "recovery, {} upgrades, {} writes "
      "acknowledged, {} copies looked at; {} bytes and {} names lost, {} sectors torn, {} syncs failed\n",
      bug.has_value() ? " with " + settings.plant : "", settings.seed, settings.every, totals.calls,
      totals.trials, seconds(), totals.disk.crashes, totals.recoveries_cut, totals.upgrades,
      totals.acknowledged, totals.copies, totals.disk.bytes_lost, totals.disk.names_lost,
      totals.disk.sectors_torn, totals.disk.syncs_failed);
  if (bug.has_value()) {
    fmt::print("{}\n", lost.ok() ? "NOT CAUGHT" : "caught");
    return lost.ok() ? 1 : 0;
  }
  return lost.ok() ? 0 : 1;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  CLI::App app(
      "Loses the power at every k-th call that changes the disk, and looks what is there after the restart.");
  sonde::Settings settings;
  app.add_option("--every", settings.every, "a trial for every k-th call")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "of what is lost at each")->capture_default_str();
  app.add_option("--seconds", settings.seconds, "at most")->capture_default_str();
  app.add_option("--plant", settings.plant, "a bug that must be caught");
  app.footer(
      "Examples:\n  sonde_crash_points_test --every=1 --seconds=3600\n  sonde_crash_points_test "
      "--plant=torn_row");
  CLI11_PARSE(app, argc, argv);
  return sonde::Run(settings);
}
