// Kills a writing process with SIGKILL, opens what it left, and compares that with what was acknowledged.
//
// SONDE_CRASH_CYCLES: how often, for SONDE_CRASH_SECONDS at most; SONDE_TEST_SEED: of the moments.  The
// moment of a kill is never quite the same again, so a failure keeps its data directory and names it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "crash_ledger.h"
#include "crash_phases.h"
#include "engine/rocks/rocks_engine.h"
#include "fmt/format.h"
#include "older_format.h"
#include "temporary_directory.h"
#include "writer_process.h"

namespace sonde {
namespace {

constexpr uint64_t kSequencesPerWriter = 1'000'000'000;
constexpr uint64_t kCyclesPerDirectory = 25;  // what there is to verify grows
constexpr uint64_t kCyclesPerUpgrade = 3;     // before one in so many, the directory is made an older format
constexpr uint64_t kUpgradeLifeMsMax = 60;

uint64_t NumberOfEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Runs the writer for `life`, kills it, and returns what it said.
absl::StatusOr<std::vector<uint64_t>> RunWriter(std::vector<std::string> arguments,
                                                std::chrono::milliseconds life) {
  auto writer = WriterProcess::Start(SONDE_CRASH_WRITER, std::move(arguments));
  if (!writer.ok()) return writer.status();
  std::this_thread::sleep_for(life);
  return (*writer)->Kill();
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
    phases_.Killed(*said);
    return absl::OkStatus();
  }

  // The next writer must upgrade the directory, and is killed early, so that some are while they do.
  absl::Status CrashInUpgrade() {
    if (!MakeOlderFormat(data_dir_, 1 + static_cast<int>(random_.Uniform(2)))) return absl::OkStatus();
    return Crash("honest", kUpgradeLifeMsMax);
  }

  absl::Status Verify() {
    auto engine = RocksEngine::Open({.data_dir = data_dir_, .memory_bytes = 32 << 20});
    if (!engine.ok()) return engine.status();
    return ledger_.Verify(engine->get());
  }

  void StartAnew() {
    acknowledged_count_ += ledger_.acknowledged_count();
    rows_count_ += ledger_.rows_count();
    std::filesystem::remove_all(data_dir_);
    ledger_ = {};
  }

  // Of a dishonest writer: what the verifier says, OK when nothing was noticed.  It lives longer each time:
  // on a busy machine one that is killed after a second may not have written anything.
  absl::Status CrashDishonestly(std::string_view honesty) {
    constexpr uint64_t kCyclesMax = 10;
    for (uint64_t cycle = 1; cycle <= kCyclesMax; ++cycle) {
      if (absl::Status status = Crash("honest", 300 * cycle); !status.ok()) return status;
      if (absl::Status status = Crash(honesty, 1500 * cycle); !status.ok()) return status;
      if (absl::Status status = Verify(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Kills mean something for a kind of work only if the writers come to it; of many, some must fall into
  // each.
  void ExpectPhases(uint64_t cycles_count) {
    constexpr uint64_t kManyCycles = 200;
    if (cycles_count < kCyclesPerUpgrade) return;
    for (int phase = 0; phase < kCrashPhases; ++phase) {
      EXPECT_GT(phases_.begun_count(static_cast<CrashPhase>(phase)), 0u) << "phase " << phase;
      if (cycles_count < kManyCycles) continue;
      EXPECT_GT(phases_.kills_count(static_cast<CrashPhase>(phase)), 0u) << "phase " << phase;
    }
  }

  const uint64_t seed_ =
      NumberOfEnvironment("SONDE_TEST_SEED", std::chrono::system_clock::now().time_since_epoch().count());
  SeededRandom random_{seed_};
  std::unique_ptr<TemporaryDirectory> directory_ = std::make_unique<TemporaryDirectory>();
  const std::string data_dir_ = directory_->path() + "/data";
  CrashLedger ledger_;
  uint64_t acknowledged_count_ = 0, rows_count_ = 0;  // of ledgers before
  uint64_t writers_count_ = 0;
  CrashPhaseCounts phases_;
};

TEST_F(CrashTest, WhatWasAcknowledgedSurvivesSigkill) {
  const uint64_t cycles_count = NumberOfEnvironment("SONDE_CRASH_CYCLES", 20);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(NumberOfEnvironment("SONDE_CRASH_SECONDS", 86'400));
  absl::Status status;
  uint64_t cycle = 0;
  for (; cycle < cycles_count && status.ok() && std::chrono::steady_clock::now() < end; ++cycle) {
    if (cycle % kCyclesPerDirectory == 0) StartAnew();
    if (cycle % kCyclesPerUpgrade == kCyclesPerUpgrade - 1) status = CrashInUpgrade();
    // Now and then the next crash comes while the one before is being repaired.
    if (status.ok() && random_.Uniform(3) == 0) status = Crash("honest", 150);
    if (status.ok()) status = Crash("honest", 800);
    if (status.ok()) status = Verify();
  }
  fmt::print("seed {}: {} cycles, {} kills, {} batches acknowledged, {} rows\n", seed_, cycle, writers_count_,
             acknowledged_count_ + ledger_.acknowledged_count(), rows_count_ + ledger_.rows_count());
  fmt::print("{}", phases_.Table());
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_GT(acknowledged_count_ + ledger_.acknowledged_count(), 0u) << "no writer lived long enough";
  ExpectPhases(cycle);
  if (HasFailure()) fmt::print("the data directory is kept: {}\n", directory_.release()->path());
}

TEST_F(CrashTest, AWriterThatLiesIsNoticed) {
  const std::string noticed(CrashDishonestly("lie").message());
  EXPECT_TRUE(noticed.find("acknowledged") != std::string::npos ||
              noticed.find("lost") != std::string::npos || noticed.find("should be in") != std::string::npos)
      << "seed " << seed_ << ": '" << noticed << "'";
}

TEST_F(CrashTest, ADroppedRangeThatIsThereIsNoticed) {
  auto opened = RocksEngine::Open({.data_dir = data_dir_, .memory_bytes = 32 << 20});
  ASSERT_EQ(opened.status(), absl::OkStatus());
  Engine* const engine = opened->get();
  ASSERT_EQ(engine->CreateTable({.id = kCrashRangeTable}), absl::OkStatus());
  const auto change = [&](int row, const FamilyDelta& family) {
    const std::string row_key = CrashRangeRowKey(1, row);
    ASSERT_EQ(engine->Apply(kCrashRangeTable, {{row_key, RowDelta{.families = {family}}}}), absl::OkStatus());
  };
  for (int row = 0; row < kCrashRangeRows; ++row) change(row, {.family = 1, .puts = {{"q", 0, "value"}}});
  ledger_.Acknowledged(kCrashRangeDropped | 1);
  EXPECT_EQ(ledger_.Verify(engine).message(), "row 000000000001/2 was dropped, but is not lost");
  ASSERT_EQ(engine->DropRange(kCrashRangeTable,
                              {CrashRangeRowKey(1, kCrashRangeStart), CrashRangeRowKey(1, kCrashRangeEnd)}),
            absl::OkStatus());
  EXPECT_EQ(ledger_.Verify(engine), absl::OkStatus());
  change(kCrashRangeEnd, {.family = 1, .delete_all = true});
  EXPECT_EQ(ledger_.Verify(engine).message(), "row 000000000001/7 is lost");
}

TEST(CrashPhaseCounts, AKillFallsIntoWhatHasBegunAndNotEnded) {
  CrashPhaseCounts counts;
  const uint64_t begins = PhaseWord(CrashPhase::kFlush, true), ends = PhaseWord(CrashPhase::kFlush, false);
  counts.Killed(
      {PhaseWord(CrashPhase::kOpen, true), PhaseWord(CrashPhase::kOpen, false), 7, begins, begins, ends});
  counts.Killed({begins, 8, ends});
  EXPECT_EQ(counts.kills_count(CrashPhase::kFlush), 1u);
  EXPECT_EQ(counts.begun_count(CrashPhase::kFlush), 3u);
  EXPECT_EQ(counts.kills_count(CrashPhase::kOpen), 0u);
  EXPECT_EQ(counts.begun_count(CrashPhase::kOpen), 1u);
}

TEST_F(CrashTest, ATornRowIsNoticed) {
  const std::string noticed(CrashDishonestly("tear").message());
  EXPECT_TRUE(noticed.find("a torn row") != std::string::npos) << "seed " << seed_ << ": '" << noticed << "'";
}

}  // namespace
}  // namespace sonde
