// Positions of several servers over one board, in an HBase in this process that loses calls and answers.
#include "engine/hbase/log/positions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using hbase::FakeHBase;

absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

// A clock that differs from the system's.
class OffClock final : public Clock {
 public:
  explicit OffClock(int64_t off_micros) : off_micros_(off_micros) {}
  int64_t NowMicros() const override { return SystemClock().NowMicros() + off_micros_; }

 private:
  const int64_t off_micros_;
};

class PositionsTest : public testing::Test {
 protected:
  static LogPositionsOptions Options(const Clock* clock = nullptr) {
    return {.beat = absl::Milliseconds(30),
            .send_time = absl::Milliseconds(400),
            .call_time = absl::Milliseconds(400),
            .bytes_a_second_min = 1e12,
            .clock = clock};
  }
  std::unique_ptr<LogPositions> Open(const Clock* clock = nullptr) {
    return std::make_unique<LogPositions>(client_.get(), FakeHBase::kTableName, Options(clock));
  }
  // Waits until the server knows that records are complete up to there.
  static bool ComesTo(LogPositions* positions, int64_t position, absl::Duration within) {
    const absl::Time end = absl::Now() + within;
    while (absl::Now() < end) {
      const absl::StatusOr<int64_t> frontier = positions->Frontier(Soon());
      if (frontier.ok() && *frontier >= position) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }

  FakeHBase hbase_;
  std::unique_ptr<hbase::Client> client_ =
      *hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Milliseconds(400)});
};

TEST_F(PositionsTest, AscendAndAreOfOneServerOnly) {
  const std::unique_ptr<LogPositions> one = Open(), other = Open();
  std::set<int64_t> given;
  int64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    LogPositions* const positions = i % 3 == 0 ? other.get() : one.get();
    const int64_t min = i == 100 ? SystemClock().NowMicros() + 5'000'000 : 0;
    const absl::StatusOr<int64_t> position = positions->Begin(last, min, 10, Soon());
    ASSERT_TRUE(position.ok()) << position.status();
    EXPECT_GT(*position, last) << "it is one row";
    EXPECT_GE(*position, min);
    EXPECT_TRUE(given.insert(*position).second);
    last = *position;
    positions->End(*position, true);
  }
  std::set<int64_t> slots;
  for (const int64_t position : given) slots.insert(position % kSlotsMax);
  EXPECT_EQ(slots.size(), 2u);
}

TEST_F(PositionsTest, TheFrontierWaitsForWhatIsUnderWay) {
  const std::unique_ptr<LogPositions> writer = Open(), reader = Open();
  const int64_t first = *writer->Begin(0, 0, 10, Soon());
  const int64_t second = *writer->Begin(0, 0, 10, Soon());
  EXPECT_FALSE(ComesTo(reader.get(), first, absl::Milliseconds(300)));
  EXPECT_GT(writer->TimeToSend(first), absl::ZeroDuration());
  writer->End(first, true);
  EXPECT_LE(writer->TimeToSend(first), absl::ZeroDuration());
  EXPECT_TRUE(ComesTo(reader.get(), first, absl::Seconds(10)));
  EXPECT_FALSE(ComesTo(reader.get(), second, absl::Milliseconds(300)));
  // Nobody knows what became of it: only time tells.
  writer->End(second, false);
  EXPECT_FALSE(ComesTo(reader.get(), second, absl::Milliseconds(300)));
  EXPECT_TRUE(ComesTo(reader.get(), second, absl::Seconds(10)));
}

TEST_F(PositionsTest, AServerThatIsGoneIsWaitedForNoLongerThanItsLease) {
  std::unique_ptr<LogPositions> killed = Open();
  const std::unique_ptr<LogPositions> reader = Open();
  const int64_t position = *killed->Begin(0, 0, 10, Soon());
  ASSERT_TRUE(reader->Frontier(Soon()).ok());
  killed->AbandonForTest();
  killed.reset();
  EXPECT_FALSE(ComesTo(reader.get(), position, absl::Milliseconds(500)));
  EXPECT_TRUE(ComesTo(reader.get(), position, absl::Seconds(10)));
  EXPECT_EQ(reader->ended_slots(), 1u);
  // A server that ends gives its slot back, and nobody waits.
  std::unique_ptr<LogPositions> ended = Open();
  ended->End(*ended->Begin(0, 0, 10, Soon()), true);
  ended.reset();
  EXPECT_TRUE(ComesTo(reader.get(), SystemClock().NowMicros(), absl::Milliseconds(500)));
}

TEST_F(PositionsTest, AServerThatIsCutOffGivesNoPosition) {
  const std::unique_ptr<LogPositions> positions = Open();
  const int64_t position = *positions->Begin(0, 0, 10, Soon());
  hbase_.SetInterceptor([](const hbase::FakeCall&) -> std::optional<hbase::FakeAnswer> {
    return hbase::FakeAnswer{.deed = hbase::FakeAnswer::Deed::kCloseConnection};
  });
  absl::SleepFor(absl::Milliseconds(600));
  EXPECT_LE(positions->TimeToSend(position), absl::ZeroDuration());
  const absl::Status refused = positions->Begin(0, 0, 10, absl::Now() + absl::Milliseconds(300)).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  hbase_.SetInterceptor(nullptr);
  const absl::StatusOr<int64_t> again = positions->Begin(0, 0, 10, Soon());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(*again, position);
}

// A frontier that was told by a server whose clock is ahead holds for one that comes later, whose clock is behind.
TEST_F(PositionsTest, ClocksMayDiffer) {
  const OffClock ahead(3'600'000'000), behind(-3'600'000'000);
  const std::unique_ptr<LogPositions> first = Open(&ahead);
  ASSERT_TRUE(ComesTo(first.get(), SystemClock().NowMicros() + 3'000'000'000, absl::Seconds(10)));
  const int64_t frontier = *first->Frontier(Soon());
  const std::unique_ptr<LogPositions> second = Open(&behind);
  EXPECT_GT(*second->Begin(0, 0, 10, Soon()), frontier);
}

// Servers come, write, and go, with and without a word; calls and answers are lost.  A record appears while its server may send it, and
// must be above all frontiers that anybody was told until then.
TEST_F(PositionsTest, NothingAppearsBelowAFrontier) {
  hbase_.SetFaults({.lost_calls = 10, .lost_answers = 10, .refusals = 20});
  const OffClock clocks[] = {OffClock(0), OffClock(700'000), OffClock(-2'000'000)};
  absl::Mutex mutex;
  int64_t frontier_max = 0;
  int appeared = 0, too_late = 0, refused = 0;
  std::atomic<bool> ends = false;
  std::vector<std::thread> servers;
  for (int i = 0; i < 4; ++i) {
    servers.emplace_back([&, i] {
      SeededRandom random(i + 1);
      while (!ends) {
        std::unique_ptr<LogPositions> server = Open(&clocks[random.Uniform(3)]);
        for (uint64_t steps = 5 + random.Uniform(80); steps > 0 && !ends; --steps) {
          const absl::StatusOr<int64_t> frontier = server->Frontier(absl::Now() + absl::Seconds(1));
          if (frontier.ok()) {
            const absl::MutexLock lock(&mutex);
            frontier_max = std::max(frontier_max, *frontier);
          }
          const absl::StatusOr<int64_t> position =
              server->Begin(0, 0, 10, absl::Now() + absl::Milliseconds(500));
          if (!position.ok()) {
            const absl::MutexLock lock(&mutex);
            ++refused;
            continue;
          }
          absl::SleepFor(
              absl::Milliseconds(random.Uniform(10) == 0 ? random.Uniform(600) : random.Uniform(20)));
          {
            const absl::MutexLock lock(&mutex);
            if (server->TimeToSend(*position) > absl::ZeroDuration()) {
              EXPECT_GT(*position, frontier_max);
              ++appeared;
            } else {
              ++too_late;
            }
          }
          server->End(*position, true);
        }
        if (random.Uniform(2) == 0) server->AbandonForTest();
      }
    });
  }
  absl::SleepFor(absl::Seconds(8));
  ends = true;
  for (std::thread& server : servers) server.join();
  EXPECT_GT(appeared, 100) << too_late << " were too late, " << refused << " refused";
  EXPECT_GT(frontier_max, 0);
}

}  // namespace
}  // namespace sonde
