// Kills a writing process with SIGKILL, opens what it left, and compares that with what was acknowledged.
//
// SONDE_CRASH_CYCLES: how often; SONDE_TEST_SEED: of the moments.  The moment of a kill is never quite the
// same again, so a failure keeps its data directory and names it.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "crash_ledger.h"
#include "engine/rocks/rocks_engine.h"
#include "fmt/format.h"
#include "temporary_directory.h"

extern char** environ;

namespace sonde {
namespace {

constexpr uint64_t kSequencesPerWriter = 1'000'000'000;

uint64_t NumberOfEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Runs the writer for `life`, kills it, and returns what it said.
absl::StatusOr<std::vector<uint64_t>> RunWriter(std::vector<std::string> arguments,
                                                std::chrono::milliseconds life) {
  int ends[2];
  if (pipe(ends) != 0) return absl::InternalError("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  arguments.insert(arguments.begin(), SONDE_CRASH_WRITER);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, SONDE_CRASH_WRITER, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  std::vector<uint64_t> said;
  std::thread listener([&] {
    uint64_t sequence = 0;
    while (read(ends[0], &sequence, sizeof(sequence)) == sizeof(sequence)) said.push_back(sequence);
  });
  int exit_status = 0;
  if (spawned == 0) {
    std::this_thread::sleep_for(life);
    kill(pid, SIGKILL);
    waitpid(pid, &exit_status, 0);
  }
  listener.join();
  close(ends[0]);
  if (spawned != 0) return absl::InternalError(fmt::format("cannot start {}", SONDE_CRASH_WRITER));
  if (!WIFSIGNALED(exit_status)) {
    return absl::InternalError(fmt::format("the writer ended by itself: {}", exit_status));
  }
  return said;
}

class CrashTest : public testing::Test {
 protected:
  // Lets one writer live for a while, then dies.
  absl::Status Crash(std::string_view honesty, uint64_t life_ms_max) {
    const uint64_t first_sequence = ++writers_count_ * kSequencesPerWriter;
    const std::string sync = random_.Uniform(2) == 0 ? "sync" : "nosync";
    ledger_.WriterStarted();
    const auto said = RunWriter({data_dir_, std::to_string(first_sequence), sync, std::string(honesty)},
                                std::chrono::milliseconds(random_.Uniform(life_ms_max)));
    if (!said.ok()) return said.status();
    for (const uint64_t sequence : *said) ledger_.Acknowledged(sequence);
    return absl::OkStatus();
  }

  absl::Status Verify() {
    auto engine = RocksEngine::Open({.data_dir = data_dir_, .memory_bytes = 32 << 20});
    if (!engine.ok()) return engine.status();
    return ledger_.Verify(engine->get());
  }

  // Of a dishonest writer: what the verifier says, OK when nothing was noticed.
  absl::Status CrashDishonestly(std::string_view honesty) {
    constexpr int kCyclesMax = 10;
    for (int cycle = 0; cycle < kCyclesMax; ++cycle) {
      if (absl::Status status = Crash("honest", 300); !status.ok()) return status;
      if (absl::Status status = Crash(honesty, 1500); !status.ok()) return status;
      if (absl::Status status = Verify(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const uint64_t seed_ =
      NumberOfEnvironment("SONDE_TEST_SEED", std::chrono::system_clock::now().time_since_epoch().count());
  SeededRandom random_{seed_};
  std::unique_ptr<TemporaryDirectory> directory_ = std::make_unique<TemporaryDirectory>();
  const std::string data_dir_ = directory_->path() + "/data";
  CrashLedger ledger_;
  uint64_t writers_count_ = 0;
};

TEST_F(CrashTest, WhatWasAcknowledgedSurvivesSigkill) {
  const uint64_t cycles_count = NumberOfEnvironment("SONDE_CRASH_CYCLES", 5);
  absl::Status status;
  for (uint64_t cycle = 0; cycle < cycles_count && status.ok(); ++cycle) {
    // Now and then the next crash comes while the one before is being repaired.
    if (random_.Uniform(3) == 0) status = Crash("honest", 150);
    if (status.ok()) status = Crash("honest", 2500);
    if (status.ok()) status = Verify();
  }
  fmt::print("seed {}: {} cycles, {} kills, {} batches acknowledged, {} rows\n", seed_, cycles_count,
             writers_count_, ledger_.acknowledged_count(), ledger_.rows_count());
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_GT(ledger_.acknowledged_count(), 0u) << "no writer lived long enough";
  if (HasFailure()) fmt::print("the data directory is kept: {}\n", directory_.release()->path());
}

TEST_F(CrashTest, AWriterThatLiesIsNoticed) {
  const std::string noticed(CrashDishonestly("lie").message());
  EXPECT_TRUE(noticed.find("acknowledged") != std::string::npos ||
              noticed.find("lost") != std::string::npos || noticed.find("should be in") != std::string::npos)
      << "seed " << seed_ << ": '" << noticed << "'";
}

TEST_F(CrashTest, ATornRowIsNoticed) {
  const std::string noticed(CrashDishonestly("tear").message());
  EXPECT_TRUE(noticed.find("a torn row") != std::string::npos) << "seed " << seed_ << ": '" << noticed << "'";
}

}  // namespace
}  // namespace sonde
