// Cuts the power of an ext4 file system while a process writes to a data directory on it, and compares what
// is there afterwards with what was acknowledged.
//
//   sonde_power_cut_test [--cycles=N] [--seconds=T] [--seed=S] [--unsynced]
//
// The disk is sonde_volatile_disk behind a loop device: sectors that were not flushed are lost, kept, or some
// of each.  With
// --unsynced the writer does not sync: the negative control, which must lose something.  Exit 0: nothing was
// lost (with
// --unsynced: something was).  1: otherwise.  2: wrong arguments.  77: this machine cannot (root, FUSE and
// loop devices are needed).
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/random.h"
#include "crash_ledger.h"
#include "engine/rocks/rocks_engine.h"
#include "temporary_directory.h"
#include "writer_process.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr int kNotRun = 77;
constexpr uint64_t kSequencesPerWriter = 1'000'000'000;
constexpr uint64_t kCyclesPerDirectory = 25;  // what there is to verify grows

// Runs a command of the shell; what it printed, without the last newline.
absl::StatusOr<std::string> Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return absl::InternalError("popen failed");
  std::string printed;
  char buffer[512];
  while (const size_t got = fread(buffer, 1, sizeof(buffer), pipe)) printed.append(buffer, got);
  const int exit_status = pclose(pipe);
  while (!printed.empty() && printed.back() == '\n') printed.pop_back();
  if (exit_status == 0) return printed;
  return absl::InternalError(fmt::format("{}: exit {}: {}", command, exit_status, printed));
}

// An ext4 file system on a loop device on the volatile disk.
class Rig {
 public:
  absl::Status Start(uint64_t megabytes) {
    fs::create_directories(device_dir_);
    fs::create_directories(mounted_);
    const std::string background =
        fmt::format("{} {} {} > /dev/null 2>&1 &", SONDE_VOLATILE_DISK, device_dir_, megabytes);
    if (std::system(background.c_str()) != 0) return absl::InternalError("cannot start " SONDE_VOLATILE_DISK);
    for (int i = 0; i < 400 && !fs::exists(device_dir_ + "/disk"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (absl::Status status = AttachLoop(); !status.ok()) return status;
    if (auto made = Shell("mkfs.ext4 -F -q " + loop_); !made.ok()) return made.status();
    return Mount();
  }

  ~Rig() {
    Detach();
    Shell("umount " + device_dir_).IgnoreError();
  }

  void Cut(uint64_t seed, uint64_t keep_percent) { Control(fmt::format("cut {} {}", seed, keep_percent)); }

  // After the cut, when nobody uses it any more: the power comes back.
  absl::Status Recover() {
    Detach();
    Control("thaw");
    if (absl::Status status = AttachLoop(); !status.ok()) return status;
    return Mount();
  }

  std::string Counts() const {
    std::string line;
    std::getline(std::ifstream(device_dir_ + "/control"), line);
    return line;
  }
  std::string data_dir() const { return mounted_ + "/data"; }
  // For good: a removal that is not synced is undone by the next cut.
  absl::Status ForgetData() const {
    fs::remove_all(data_dir());
    return Shell("sync -f " + mounted_).status();
  }

 private:
  void Control(const std::string& command) const {
    std::ofstream(device_dir_ + "/control") << command << std::flush;
  }

  absl::Status AttachLoop() {
    auto loop = Shell(fmt::format("losetup --direct-io=on -f --show {}/disk", device_dir_));
    if (!loop.ok()) return loop.status();
    loop_ = *loop;
    return absl::OkStatus();
  }
  absl::Status Mount() { return Shell(fmt::format("mount -o noatime {} {}", loop_, mounted_)).status(); }
  void Detach() {
    for (int i = 0; i < 50 && !Shell("umount " + mounted_).ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!Shell("mountpoint -q " + mounted_).ok()) break;
    }
    if (!loop_.empty()) Shell("losetup -d " + loop_).IgnoreError();
    loop_.clear();
  }

  const TemporaryDirectory directory_;
  const std::string device_dir_ = directory_.path() + "/device", mounted_ = directory_.path() + "/mounted";
  std::string loop_;
};

struct Settings {
  uint64_t cycles = 20;
  double seconds = 0;
  uint64_t seed = 1;
  bool unsynced = false;
};

// One life of a writer, one cut, one look.
absl::Status Cycle(const Settings& settings, uint64_t writer_number, SeededRandom* random, Rig* rig,
                   CrashLedger* ledger) {
  ledger->WriterStarted();
  auto writer = WriterProcess::Start(SONDE_CRASH_WRITER,
                                     {rig->data_dir(), std::to_string(writer_number * kSequencesPerWriter),
                                      settings.unsynced ? "nosync" : "sync", "honest"});
  if (!writer.ok()) return writer.status();
  std::this_thread::sleep_for(std::chrono::milliseconds(100 + random->Uniform(1100)));
  constexpr uint64_t kKeepPercents[] = {0, 50, 100};
  rig->Cut(random->Next(), kKeepPercents[random->Uniform(3)]);
  const auto said = (*writer)->Kill(/*may_have_ended=*/true);
  if (!said.ok()) return said.status();
  for (const uint64_t sequence : *said) ledger->Acknowledged(sequence);
  if (absl::Status status = rig->Recover(); !status.ok()) return status;
  auto engine = RocksEngine::Open({.data_dir = rig->data_dir(), .memory_bytes = 32 << 20});
  if (!engine.ok()) return absl::InternalError("cannot be opened: " + engine.status().ToString());
  return ledger->Verify(engine->get());
}

int Run(const Settings& settings) {
  Rig rig;
  if (geteuid() != 0) {
    fmt::print("not run: it takes root to mount\n");
    return kNotRun;
  }
  if (absl::Status status = rig.Start(512); !status.ok()) {
    fmt::print("not run: {}\n", std::string(status.message()));
    return kNotRun;
  }
  const auto start = std::chrono::steady_clock::now();
  SeededRandom random(settings.seed);
  CrashLedger ledger;
  uint64_t acknowledged_count = 0, rows_count = 0;
  absl::Status lost;
  uint64_t cycle = 0;
  const auto in_time = [&] {
    return settings.seconds <= 0 ||
           std::chrono::steady_clock::now() - start < std::chrono::duration<double>(settings.seconds);
  };
  for (; cycle < settings.cycles && in_time() && lost.ok(); ++cycle) {
    if (cycle % kCyclesPerDirectory == 0) {
      lost = rig.ForgetData();
      if (!lost.ok()) break;
      ledger = {};
    }
    acknowledged_count -= ledger.acknowledged_count();
    rows_count -= ledger.rows_count();
    lost = Cycle(settings, cycle + 1, &random, &rig, &ledger);
    acknowledged_count += ledger.acknowledged_count();
    rows_count += ledger.rows_count();
  }
  fmt::print("power cuts{}: seed {}, {} cycles in {:.0f} s, {} batches acknowledged, {} rows; {}\n",
             settings.unsynced ? " without syncs" : "", settings.seed, cycle,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
             acknowledged_count, rows_count, rig.Counts());
  if (!lost.ok()) fmt::print("cycle {}: {}\n", cycle, std::string(lost.message()));
  return lost.ok() == settings.unsynced ? 1 : 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  CLI::App app(
      "Cuts the power of an ext4 file system under a writing process, and looks what is there afterwards.");
  sonde::Settings settings;
  app.add_option("--cycles", settings.cycles, "how often")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seconds", settings.seconds, "at most; 0: no limit")->capture_default_str();
  app.add_option("--seed", settings.seed, "of the moments and of what is lost")->capture_default_str();
  app.add_flag("--unsynced", settings.unsynced, "the writer does not sync: something must be lost");
  app.footer("Examples:\n  sonde_power_cut_test --cycles=1000 --seed=7\n  sonde_power_cut_test --unsynced");
  CLI11_PARSE(app, argc, argv);
  return sonde::Run(settings);
}
