// How long keys stand still when a process of HBase's is killed, beside how long HBase itself needs: of a cluster of level 2, in which each
// region server and each master are killed in turn and started again.  Of level 3 each link is cut, too.
//
//   SONDE_HBASE_LEVEL=2 tests/hbase/run build/release/bin/sonde_hbase_recovery_test
//
// Each region has a key, which two threads write through the engine.  A third thread is the probe: ten times a second it looks the key's region up in
// hbase:meta anew, and writes and reads there, by calls that wait for a moment only.  A gap is the longest time between two answers, of each thread.
// HBase's own recovery of a key is the probe's gap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/random.h"
#include "base/varint.h"
#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"

namespace sonde {
namespace {

constexpr TableId kTable = 5;
constexpr FamilyId kFamily = 1;
constexpr absl::Duration kBeyondRecoveryMax = absl::Seconds(2);
constexpr absl::Duration kProbeMax = absl::Milliseconds(250);
constexpr absl::Duration kBetweenCalls = absl::Milliseconds(20);
constexpr absl::Duration kBetweenProbes = absl::Milliseconds(100);
constexpr absl::Duration kFaultMax = absl::Minutes(5);

// The answers that one thread gets.
class Gaps {
 public:
  void OnAnswer() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    const absl::Time now = absl::Now();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
  }
  void Begin() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    longest_ = absl::ZeroDuration();
  }
  // That which goes on counts, too.
  absl::Duration longest() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return std::max(longest_, absl::Now() - last_);
  }
  absl::Time last() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return last_;
  }

 private:
  mutable absl::Mutex mutex_;
  absl::Time last_ ABSL_GUARDED_BY(mutex_) = absl::Now();
  absl::Duration longest_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

struct Key {
  std::string row;
  std::string sum_row;          // incremented; blind writes would refuse the increments of their own row
  Gaps written;                 // through the engine, blindly
  Gaps incremented;             // through the engine, after a look at the row
  Gaps probed;                  // through HBase's client alone
  hbase::Regions::Place place;  // where the probe found the region
  std::atomic<int64_t> increments = 0;  // that were acknowledged
  std::atomic<int64_t> unknown = 0;
};

class HBaseRecovery : public testing::Test {
 protected:
  void SetUp() override {
    const char* const masters = std::getenv("SONDE_HBASE_MASTER");
    const char* const directory = std::getenv("SONDE_HBASE_DIRECTORY");
    ASSERT_TRUE(masters != nullptr && directory != nullptr &&
                std::string(masters).find(',') != std::string::npos)
        << "run this by tests/hbase/run with SONDE_HBASE_LEVEL=2";
    directory_ = directory;
    SystemRandom random;
    address_ = *ParseHBaseStore(fmt::format("hbase://{}/sonde_recovery_{:016x}", masters, random.Next()));
    engine_ = *HBaseEngine::Open({.address = address_, .open_timeout = absl::Minutes(2)});
    probe_ = *hbase::Client::Create(
        {.roots = address_.masters, .connect_timeout = kProbeMax, .timeout = kProbeMax});
    std::vector<std::string> splits;
    for (char c = 'b'; c <= 'i'; ++c) splits.emplace_back(1, c);
    ASSERT_EQ(engine_->CreateTable({.id = kTable, .split_keys = splits}, hbase::InAMinute()),
              absl::OkStatus());
    for (char c = 'a'; c <= 'i'; ++c) {
      keys_.push_back(std::make_unique<Key>());
      keys_.back()->row = std::string(1, c) + "-row";
      keys_.back()->sum_row = std::string(1, c) + "-sum";
    }
    for (const std::unique_ptr<Key>& key : keys_) {
      threads_.emplace_back(
          [this, key = key.get()] { Repeat([&] { return Write(key); }, kBetweenCalls, &key->written); });
      threads_.emplace_back([this, key = key.get()] {
        Repeat([&] { return Increment(key); }, kBetweenCalls, &key->incremented);
      });
      threads_.emplace_back(
          [this, key = key.get()] { Repeat([&] { return Probe(key); }, kBetweenProbes, &key->probed); });
    }
  }
  void TearDown() override {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  template <typename Call>
  void Repeat(const Call& call, absl::Duration pause, Gaps* gaps) {
    while (!is_over_) {
      if (call()) gaps->OnAnswer();
      absl::SleepFor(pause);
    }
  }
  bool Write(Key* key) {
    const RowChange put{key->row, {.families = {{.family = kFamily, .puts = {{"q", 1, "v"}}}}}};
    return engine_->Apply(kTable, {put}, {.deadline = absl::Now() + kFaultMax}).ok();
  }
  bool Increment(Key* key) {
    const RowDelta one{
        .families = {{.family = kFamily + 1, .aggregate = AggregateKind::kSum, .adds = {{"n", 0, 1}}}}};
    const absl::Status status =
        engine_->Apply(kTable, {RowChange{key->sum_row, one}}, {.deadline = absl::Now() + kFaultMax});
    key->increments += status.ok() ? 1 : 0;
    key->unknown += absl::IsUnknown(status) ? 1 : 0;
    return status.ok();
  }
  bool Probe(Key* key) {
    // HBase writes elsewhere than it reads: both count.
    hbase::RowChange put{.row = key->row + "-probe"};
    put.puts.push_back({{}, kVersionFamily, kVersionQualifier, kVersionTime, hbase::CellType::kPut, "v"});
    const hbase::TableName table = engine_->NameOf(kTable);
    if (key->place != nullptr) probe_->regions()->Forget(*key->place);
    const absl::StatusOr<hbase::Regions::Place> place =
        probe_->regions()->Find(table, key->row, absl::Now() + kProbeMax);
    if (!place.ok()) return false;
    key->place = *place;
    if (!probe_->rows()->Apply(table, {&put, 1}, absl::Now() + kProbeMax)[0].ok()) return false;
    return probe_->rows()->Get(table, key->row, {.families = {kVersionFamily}}, absl::Now() + kProbeMax).ok();
  }

  void Cluster(const std::string& command) const {
    const std::string line = fmt::format("{} {} --directory {}", SONDE_CLUSTER_SCRIPT, command, directory_);
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }
  std::vector<std::string> Processes(const std::string& kind) const {
    std::ifstream file(directory_ + "/processes");
    std::vector<std::string> names;
    for (std::string name; std::getline(file, name);) {
      if (name.starts_with(kind)) names.push_back(name);
    }
    return names;
  }
  // Waits until all threads have had an answer that was asked for after now.
  void AwaitAnswers() const {
    const absl::Time begun = absl::Now();
    const auto is_late = [&](const Gaps& gaps) { return gaps.last() < begun + 2 * kBetweenProbes; };
    while (std::any_of(keys_.begin(), keys_.end(), [&](const auto& key) {
      return is_late(key->written) || is_late(key->incremented) || is_late(key->probed);
    })) {
      ASSERT_LT(absl::Now(), begun + kFaultMax) << "a key has not come back";
      absl::SleepFor(kBetweenCalls);
    }
  }
  // The longest gaps of a fault (`scripts/cluster FAULT PROCESS`; no process: none): of HBase itself, and of what the engine took beyond that.
  void Measure(const std::string& process, const std::string& fault, const std::string& repair) {
    for (const std::unique_ptr<Key>& key : keys_) {
      for (Gaps* const gaps : {&key->written, &key->incremented, &key->probed}) gaps->Begin();
    }
    if (!process.empty()) Cluster(fault + " " + process);
    absl::SleepFor(absl::Seconds(2));  // calls may be answered for a moment more
    AwaitAnswers();
    absl::SleepFor(absl::Seconds(8));  // by then HBase has missed it, whatever was asked
    AwaitAnswers();
    absl::Duration own, written, incremented, beyond = -kFaultMax;
    for (const std::unique_ptr<Key>& key : keys_) {
      const absl::Duration gap = std::max(key->written.longest(), key->incremented.longest());
      own = std::max(own, key->probed.longest());
      written = std::max(written, key->written.longest());
      incremented = std::max(incremented, key->incremented.longest());
      beyond = std::max(beyond, gap - key->probed.longest());
      EXPECT_LE(gap, key->probed.longest() + kBeyondRecoveryMax)
          << fault << " " << process << "; key " << key->row;
    }
    fmt::print(
        "{} {}: HBase's own recovery took {:.1f} s at most; a key was not written for {:.1f} s, and not "
        "incremented for {:.1f} s at most, "
        "which is {:.1f} s beyond HBase's\n",
        fault, process, absl::ToDoubleSeconds(own), absl::ToDoubleSeconds(written),
        absl::ToDoubleSeconds(incremented), absl::ToDoubleSeconds(beyond));
    std::fflush(stdout);
    if (process.empty()) return;
    Cluster(repair + " " + process);
    absl::SleepFor(absl::Seconds(15));  // regions come back to it
    AwaitAnswers();
  }
  // Each acknowledged increment is there, once.
  void CheckIncrements() {
    for (const std::unique_ptr<Key>& key : keys_) {
      int64_t sum = 0;
      const auto decide =
          [&](const std::vector<RowFamily>& families) -> absl::StatusOr<std::optional<RowDelta>> {
        sum = 0;
        for (const RowFamily& family : families) {
          for (const CellView& cell : family.cells) {
            if (family.family != kFamily + 1) continue;
            std::string_view bytes = cell.value;
            uint64_t number = 0;
            if (GetFixed64(&bytes, &number)) sum = static_cast<int64_t>(number);
          }
        }
        return std::nullopt;
      };
      ASSERT_EQ(engine_->Update(kTable, key->sum_row, {}, decide, {.deadline = hbase::InAMinute()}),
                absl::OkStatus());
      EXPECT_GE(sum, key->increments) << key->row;
      EXPECT_LE(sum, key->increments + key->unknown) << key->row;
    }
  }

  std::string directory_;
  HBaseStoreAddress address_;
  std::unique_ptr<HBaseEngine> engine_;
  std::unique_ptr<hbase::Client> probe_;
  std::vector<std::unique_ptr<Key>> keys_;
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

TEST_F(HBaseRecovery, NoKeyStandsStillMuchLongerThanHBaseNeeds) {
  AwaitAnswers();
  Measure("", "no fault", "");  // what the machine's load alone makes of it
  std::vector<std::string> processes = Processes("server");
  for (const std::string& master : Processes("master")) processes.push_back(master);
  for (const std::string& process : processes) {
    Measure(process, "kill", "start");
    if (HasFatalFailure()) break;
  }
  const bool has_links = std::ifstream(directory_ + "/network").good();  // level 3
  for (const std::string& server : has_links ? Processes("server") : std::vector<std::string>()) {
    if (HasFatalFailure()) break;
    Measure(server, "cut", "join");
    std::ignore = std::system(
        fmt::format("{} start {} --directory {} 2> /dev/null", SONDE_CLUSTER_SCRIPT, server, directory_)
            .c_str());
  }
  is_over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  CheckIncrements();
}

}  // namespace
}  // namespace sonde
