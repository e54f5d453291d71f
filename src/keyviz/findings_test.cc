// Loads that make each pattern, over many seeds: the pattern is found and named, and the even load has none.
#include "keyviz/findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>

#include "base/clock.h"
#include "keyviz/key_visualizer.h"

namespace sonde {
namespace {

constexpr int64_t kStartSeconds = 1'700'000'000;
constexpr TableId kTable = 7;

// Every change makes sense, and says what it is.
std::optional<Cure> CureInName(CureKind kind) {
  static constexpr std::array<const char*, 7> kNames = {"promote tags",   "salt",          "salt by time",
                                                        "shorter bucket", "row per point", "latest table",
                                                        "second table"};
  const std::string name = kNames[static_cast<size_t>(kind)];
  return Cure{name, "declaration: " + name};
}

// A table under load, second by second.
class Load {
 public:
  explicit Load(uint64_t seed)
      : random_(seed),
        directory_(std::filesystem::path(testing::TempDir()) / fmt::format("findings-{}-{}", getpid(), seed)),
        clock_(kStartSeconds * 1'000'000) {
    std::filesystem::remove_all(directory_);
    Restart();
    users_ = 200 + random_.Uniform(20'000);
    rate_ = 100 + random_.Uniform(300);
  }
  ~Load() {
    visualizer_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Restart() {
    visualizer_.reset();
    KeyVisualizer::Options options;
    options.directory = directory_;
    options.seed = random_.Uniform(1'000'000);
    options.measure_row = [this](TableId, const std::string& row_key, uint64_t) -> absl::StatusOr<uint64_t> {
      return row_bytes_[row_key];
    };
    visualizer_ = *KeyVisualizer::Open(options, &clock_);
  }

  RandomSource& random() { return random_; }
  uint64_t users() const { return users_; }
  uint64_t rate() const { return rate_; }
  int64_t second() const { return seconds_; }
  KeyVisualizer& visualizer() { return *visualizer_; }

  std::string User(uint64_t user) const { return fmt::format("user#{:08}", user * 7919 % 100'000'007); }
  // By order of key, not of number.
  std::string RandomUser() { return User(random_.Uniform(users_)); }

  void Access(const std::string& key, AccessKind kind, uint64_t bytes = 100, int64_t latency_micros = 300) {
    row_bytes_[key] += kind == AccessKind::kWrite && bytes > 1'000'000 ? bytes : 0;
    const AccessedRow row{key, bytes, 1};
    visualizer_->OnAccess(
        kTable,
        {.kind = kind, .rows = absl::MakeSpan(&row, 1), .latency_micros = latency_micros, .errors = 0});
  }
  void Even(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Access(RandomUser(), random_.Uniform(2) == 0 ? AccessKind::kRead : AccessKind::kWrite);
    }
  }
  void EndSecond() {
    clock_.Advance(1'000'000);
    visualizer_->Tick();
    ++seconds_;
  }
  void Sleep(int64_t seconds) {
    clock_.Advance(seconds * 1'000'000);
    visualizer_->Tick();
    seconds_ += seconds;
  }
  std::vector<Finding> Findings() { return Findings(0, seconds_); }
  // The findings about [from, to), in seconds since the start.
  std::vector<Finding> Findings(int64_t from, int64_t to, bool is_read_whole = false) {
    return *visualizer_->Findings(kTable, "METRIC", kStartSeconds + from, kStartSeconds + to,
                                  DeclaredSeries{"metrics", is_read_whole, CureInName});
  }

 private:
  SeededRandom random_;
  const std::filesystem::path directory_;
  ManualClock clock_;
  std::map<std::string, uint64_t> row_bytes_;
  std::unique_ptr<KeyVisualizer> visualizer_;
  uint64_t users_ = 0, rate_ = 0;
  int64_t seconds_ = 0;
};

std::vector<std::string> Names(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.emplace_back(NameOf(finding.pattern));
  return names;
}

const Finding* Find(const std::vector<Finding>& findings, Pattern pattern) {
  for (const Finding& finding : findings) {
    if (finding.pattern == pattern) return &finding;
  }
  return nullptr;
}

class FindingsTest : public testing::TestWithParam<uint64_t> {
 protected:
  Load load_{GetParam()};
};

TEST_P(FindingsTest, AnEvenLoadRaisesNothing) {
  for (int second = 0; second < 90; ++second) {
    load_.Even(load_.rate());
    load_.EndSecond();
  }
  EXPECT_THAT(Names(load_.Findings()), testing::IsEmpty());
}

TEST_P(FindingsTest, AnEvenLoadThatWritesManySensorsInTimeRaisesNothing) {
  // sensor#time: the documents' own advice.
  for (int second = 0; second < 90; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      load_.Access(fmt::format("sensor{:03}#{:08}", i, second), AccessKind::kWrite);
    }
    load_.EndSecond();
  }
  EXPECT_THAT(Names(load_.Findings()), testing::IsEmpty());
}

TEST_P(FindingsTest, AHotRow) {
  const std::string hot = load_.RandomUser();
  const bool reads = load_.random().Uniform(2) == 0;
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    for (uint64_t i = 0; i < load_.rate(); ++i)
      load_.Access(hot, reads ? AccessKind::kRead : AccessKind::kWrite);
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  EXPECT_THAT(Names(findings), testing::ElementsAre("hot_row"));
  const Finding* found = Find(findings, Pattern::kHotRow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->start_key, hot);
  EXPECT_EQ(found->metric, reads ? HeatMetric::kReads : HeatMetric::kWrites);
  ASSERT_TRUE(found->cure.has_value());
  EXPECT_EQ(found->cure->change, "row per point");
}

TEST_P(FindingsTest, AHotRange) {
  // The keys of one prefix, a tenth of all at the most.
  const uint64_t hot_keys = 20 + load_.random().Uniform(load_.users() / 50 + 1);
  const AccessKind kind = load_.random().Uniform(2) == 0 ? AccessKind::kRead : AccessKind::kWrite;
  const std::string prefix = fmt::format("user#{:02}", load_.random().Uniform(90));
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      load_.Access(fmt::format("{}x{:05}", prefix, load_.random().Uniform(hot_keys)), kind);
    }
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  EXPECT_THAT(Names(findings), testing::ElementsAre("hot_range"));
  const Finding* found = Find(findings, Pattern::kHotRange);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->metric, kind == AccessKind::kRead ? HeatMetric::kReads : HeatMetric::kWrites);
  EXPECT_TRUE(found->start_key <= prefix + "x00010" &&
              (found->end_key.empty() || found->end_key > prefix + "x00010"))
      << found->text;
}

TEST_P(FindingsTest, ARangeThatMovesManyBytes) {
  const std::string prefix = fmt::format("user#{:02}", load_.random().Uniform(90));
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    for (uint64_t i = 0; i < load_.rate() / 10; ++i) {
      load_.Access(fmt::format("{}x{:02}", prefix, load_.random().Uniform(20)), AccessKind::kRead, 20'000);
    }
    load_.EndSecond();
  }
  const Finding* found = nullptr;
  const std::vector<Finding> findings = load_.Findings();
  ASSERT_NE(found = Find(findings, Pattern::kHotRange), nullptr);
  EXPECT_EQ(found->metric, HeatMetric::kBytes);
}

TEST_P(FindingsTest, ASlowRange) {
  const std::string slow = fmt::format("user#{:02}", load_.random().Uniform(90));
  for (int second = 0; second < 60; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      const std::string key = load_.RandomUser();
      load_.Access(key, AccessKind::kRead);
    }
    for (uint64_t i = 0; i < load_.rate() / 20; ++i) {
      load_.Access(fmt::format("{}x{:02}", slow, load_.random().Uniform(30)), AccessKind::kRead, 100, 40'000);
    }
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  const Finding* found = Find(findings, Pattern::kHotRange);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->metric, HeatMetric::kLatency);
}

TEST_P(FindingsTest, SequentialKeys) {
  const bool ascending = load_.random().Uniform(2) == 0;
  const uint64_t sensors = 1 + load_.random().Uniform(load_.rate());
  for (int second = 0; second < 60; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      const int64_t time = ascending ? second : 99'999'999 - second;
      load_.Access(fmt::format("{:08}#{:04}", time, load_.random().Uniform(sensors)), AccessKind::kWrite);
    }
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  EXPECT_THAT(Names(findings), testing::Contains("sequential_keys"));
  const Finding* found = Find(findings, Pattern::kSequentialKeys);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->cure.has_value());
  EXPECT_EQ(found->cure->change, "promote tags");
  EXPECT_EQ(found->cure->declaration, "declaration: promote tags");
  EXPECT_THAT(found->title, testing::HasSubstr(ascending ? "end of the table" : "front of the table"));
  EXPECT_EQ(Find(findings, Pattern::kHotRange), nullptr);
}

TEST_P(FindingsTest, SequentialKeysBehindManyOldOnes) {
  for (int second = 0; second < 20; ++second) {
    load_.Even(2'000);
    load_.EndSecond();
  }
  for (int second = 0; second < 100; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      load_.Access(fmt::format("{:08}-{:04}", 20'000'000 + second, i), AccessKind::kWrite);
      load_.Access(fmt::format("w{:08}-{:04}", 20'000'000 + second, i), AccessKind::kWrite);
    }
    load_.EndSecond();
  }
  // One of the two rows is behind all others, so half of the writes are: not enough to say so of the table.
  EXPECT_EQ(Find(load_.Findings(), Pattern::kSequentialKeys), nullptr);
}

TEST_P(FindingsTest, ASuddenIncrease) {
  const int64_t before = 20 + static_cast<int64_t>(load_.random().Uniform(40));
  const uint64_t times = 5 + load_.random().Uniform(10);
  for (int second = 0; second < 100; ++second) {
    load_.Even(second < before ? load_.rate() : times * load_.rate());
    load_.EndSecond();
  }
  EXPECT_THAT(Names(load_.Findings()), testing::ElementsAre("sudden_increase"));
}

TEST_P(FindingsTest, PeriodicUse) {
  const int64_t period = 6 + static_cast<int64_t>(load_.random().Uniform(15));
  const int64_t busy = 2 + static_cast<int64_t>(load_.random().Uniform(period / 2));
  for (int second = 0; second < 100; ++second) {
    load_.Even(second % period < busy ? 4 * load_.rate() : load_.rate() / 2);
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  EXPECT_THAT(Names(findings), testing::ElementsAre("periodic_use"));
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].text, testing::HasSubstr(fmt::format("every {} s", period)));
}

TEST_P(FindingsTest, AFewCommandsNowAndThenAreNoPeriod) {
  // As a person may give them: two minutes apart or so, some hundred rows each.
  for (int second = 0; second < 600; ++second) {
    if (second % 125 == 5) load_.Even(120);
    load_.EndSecond();
  }
  EXPECT_THAT(Names(load_.Findings()), testing::IsEmpty());
}

TEST_P(FindingsTest, ScansOfATableThatIsThereToBeReadWholeAreRight) {
  for (int second = 0; second < 20; ++second) {
    load_.visualizer().OnFullScan(kTable, {5'000, "the newest values"});
    load_.EndSecond();
  }
  EXPECT_THAT(Names(load_.Findings()), testing::ElementsAre("full_scan"));
  EXPECT_THAT(Names(load_.Findings(0, load_.second(), /*is_read_whole=*/true)), testing::IsEmpty());
}

TEST_P(FindingsTest, ALargeRow) {
  const std::string large = load_.RandomUser();
  const bool unreadable = load_.random().Uniform(2) == 0;
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    load_.Access(large, AccessKind::kWrite, unreadable ? 6'000'000 : 2'500'000);
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  const Finding* found = Find(findings, Pattern::kLargeRow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->start_key, large);
  EXPECT_EQ(found->severity, unreadable ? Severity::kCritical : Severity::kWarning);
}

TEST_P(FindingsTest, ARowThatComesToRestJustAboveTheLimit) {
  const std::string large = load_.RandomUser();
  for (const uint64_t bytes : {90'000'000, 15'000'000, 0, 0}) {
    if (bytes > 0) load_.Access(large, AccessKind::kWrite, bytes);
    load_.EndSecond();
  }
  EXPECT_THAT(load_.visualizer().LargeRows(kTable),
              testing::ElementsAre(testing::FieldsAre(large, uint64_t{105'000'000}, kStartSeconds + 2)));
}

TEST_P(FindingsTest, AFullScan) {
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    if (second % 20 == 5) load_.visualizer().OnFullScan(kTable, {5'000, "nightly-report from 10.0.0.7"});
    load_.visualizer().OnFullScan(kTable, {12, "a look into a small table"});
    load_.visualizer().OnFullScan(kTable, {12, "nightly-report from 10.0.0.7"});
    load_.EndSecond();
  }
  const std::vector<Finding> findings = load_.Findings();
  EXPECT_THAT(Names(findings), testing::ElementsAre("full_scan"));
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].text, testing::HasSubstr("nightly-report from 10.0.0.7 has read METRIC"));
  EXPECT_THAT(findings[0].text, testing::HasSubstr("3 times in this view, up to 5,000 rows each time"));
}

// An hour in which each of three patterns had some minutes of its own.
class PastFindingsTest : public FindingsTest {
 protected:
  void SetUp() override {
    load_.Sleep(400);  // the table is not there yet
    for (int second = 0; second < 60; ++second) {
      // Few keys: else those of the even load would be a small part of all that are in use.
      for (uint64_t i = 0; i < load_.rate(); ++i)
        load_.Access(fmt::format("{:08}#{}", 60 + second, i % 2), AccessKind::kWrite);
      load_.EndSecond();
    }
    load_.Sleep(140);
    hot_ = load_.RandomUser();
    for (int second = 0; second < 60; ++second) {
      load_.Even(load_.rate());
      for (uint64_t i = 0; i < load_.rate(); ++i) load_.Access(hot_, AccessKind::kRead);
      if (second == 30) load_.visualizer().OnFullScan(kTable, {5'000, "nightly-report from 10.0.0.7"});
      load_.EndSecond();
    }
    load_.Sleep(240);
    for (int second = 0; second < 60; ++second) {
      load_.Even(load_.rate());
      load_.EndSecond();
    }
    load_.Sleep(60);
  }
  void Look() {
    EXPECT_THAT(Names(load_.Findings(0, 400)), testing::IsEmpty());
    EXPECT_THAT(Names(load_.Findings(400, 500)), testing::Contains("sequential_keys"));
    EXPECT_THAT(Names(load_.Findings(400, 500)), testing::Not(testing::Contains("full_scan")));
    EXPECT_THAT(Names(load_.Findings(400, 500)), testing::Not(testing::Contains("hot_row")));
    const std::vector<Finding> second = load_.Findings(600, 700);
    EXPECT_THAT(Names(second), testing::UnorderedElementsAre("hot_row", "full_scan"));
    const Finding* found = Find(second, Pattern::kHotRow);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->start_key, hot_);
    EXPECT_THAT(Names(load_.Findings(900, 960)), testing::IsEmpty());
  }

  std::string hot_;
};

TEST_P(PastFindingsTest, AreThoseOfTheWindowThatIsAskedFor) { Look(); }

TEST_P(PastFindingsTest, OutliveTheProcess) {
  load_.Restart();
  Look();
}

TEST_P(PastFindingsTest, OutliveTheFinerTiers) {
  for (const int64_t age : {2 * 3'600, 30 * 3'600}) {
    load_.Sleep(age);
    load_.Restart();
    // Other keys are in use now, and there is a scan.
    for (int second = 0; second < 60; ++second) {
      for (uint64_t i = 0; i < load_.rate(); ++i)
        load_.Access(fmt::format("today#{:05}", load_.random().Uniform(500)), AccessKind::kRead);
      load_.EndSecond();
    }
    load_.visualizer().OnFullScan(kTable, {5'000, "somebody of today"});
    load_.EndSecond();
    const std::vector<Finding> then = load_.Findings(0, 1'000);
    EXPECT_THAT(Names(then), testing::Contains("full_scan")) << age;
    for (const Finding& finding : then)
      EXPECT_THAT(finding.text, testing::Not(testing::HasSubstr("today"))) << age;
  }
}

TEST_P(FindingsTest, AnEvenLoadOfDaysAgoRaisesNothingOnceItsKeysAreForgotten) {
  for (int second = 0; second < 60; ++second) {
    load_.Even(load_.rate());
    load_.EndSecond();
  }
  load_.Sleep(3 * 24 * 3'600);
  for (int second = 0; second < 1'300; second += 10) {
    for (int i = 0; i < 100; ++i) load_.Access(fmt::format("zone#{:03}", i), AccessKind::kRead);
    load_.EndSecond();
    load_.Sleep(9);
  }
  EXPECT_THAT(Names(load_.Findings(0, 900)), testing::IsEmpty());
}

TEST_P(FindingsTest, ALargeRowIsToldOfTimesAfterItWasFound) {
  const std::string large = load_.RandomUser();
  load_.Sleep(100);
  load_.Access(large, AccessKind::kWrite, 120'000'000);
  load_.EndSecond();
  load_.Restart();
  EXPECT_EQ(Find(load_.Findings(0, 90), Pattern::kLargeRow), nullptr);
  EXPECT_NE(Find(load_.Findings(90, 102), Pattern::kLargeRow), nullptr);
}

TEST_P(FindingsTest, WritesBehindAnOldEndAreNotSequentialAfterARestart) {
  load_.Access("zzz", AccessKind::kWrite);
  load_.EndSecond();
  load_.Restart();
  for (int second = 0; second < 60; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i)
      load_.Access(fmt::format("{:08}#{:04}", 60 + second, i), AccessKind::kWrite);
    load_.EndSecond();
  }
  EXPECT_EQ(Find(load_.Findings(), Pattern::kSequentialKeys), nullptr);
}

TEST_P(FindingsTest, TheMapIsBrightWhereTheLoadWas) {
  for (int second = 0; second < 30; ++second) {
    for (uint64_t i = 0; i < load_.rate(); ++i) {
      load_.Access(load_.RandomUser(), AccessKind::kRead);
      if (second >= 10) load_.Access(fmt::format("user#5x{}", i % 10), AccessKind::kWrite);
    }
    load_.EndSecond();
  }
  const HeatMap map = *load_.visualizer().Map(
      {.table = kTable, .start_seconds = kStartSeconds, .end_seconds = kStartSeconds + 30});
  uint64_t early = 0, inside = 0, outside_at_first = 0, outside = 0, reads = 0;
  for (size_t column = 0; column < map.columns; ++column) {
    for (size_t row = 0; row < map.rows(); ++row) {
      const uint64_t writes = map.at(column, row).writes;
      reads += map.at(column, row).reads;
      const bool hot = map.row_end(row) > "user#5x" && map.row_starts[row] < "user#5y";
      // It takes the map some seconds to divide a part that was quiet before.
      (column < 10 ? early : hot ? inside : column < 20 ? outside_at_first : outside) += writes;
    }
  }
  EXPECT_EQ(reads, 30 * load_.rate());
  EXPECT_EQ(early, 0);
  EXPECT_EQ(inside + outside + outside_at_first, 20 * load_.rate());
  EXPECT_GT(inside, 9 * outside);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FindingsTest, testing::Range<uint64_t>(1, 21));
INSTANTIATE_TEST_SUITE_P(Seeds, PastFindingsTest, testing::Range<uint64_t>(1, 7));

TEST(KeyVisualizer, TakesUpWhatAnEarlierRunHasLeft) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("key-visualizer-{}", getpid());
  std::filesystem::remove_all(directory);
  ManualClock clock(kStartSeconds * 1'000'000);
  std::vector<std::string> rows;
  for (int run = 0; run < 2; ++run) {
    KeyVisualizer::Options options;
    options.directory = directory;
    const std::unique_ptr<KeyVisualizer> visualizer = *KeyVisualizer::Open(options, &clock);
    for (int second = 0; second < (run == 0 ? 20 : 1); ++second) {
      for (int i = 0; i < 100; ++i) {
        const std::string key = fmt::format("{:03}", i);
        const AccessedRow row{key, 1, 1};
        visualizer->OnAccess(
            kTable,
            {.kind = AccessKind::kWrite, .rows = absl::MakeSpan(&row, 1), .latency_micros = 1, .errors = 0});
      }
      clock.Advance(1'000'000);
      visualizer->Tick();
    }
    const HeatMap map = *visualizer->Map(
        {.table = kTable, .start_seconds = kStartSeconds, .end_seconds = kStartSeconds + 21});
    uint64_t writes = 0;
    for (const AccessCounts& counts : map.counts) writes += counts.writes;
    EXPECT_EQ(writes, run == 0 ? 2'000 : 2'100);
    EXPECT_EQ(visualizer->KeyCount(kTable), 100);
    if (run == 0) rows = map.row_starts;
    EXPECT_EQ(map.row_starts, rows);
  }
  std::filesystem::remove_all(directory);
}

TEST(KeyVisualizer, ASuddenLoadDividesNothing) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("sudden-load-{}", getpid());
  std::filesystem::remove_all(directory);
  const int64_t start = kStartSeconds - kStartSeconds % 60;
  ManualClock clock((start + 58) * 1'000'000);
  KeyVisualizer::Options options;
  options.directory = directory;
  const std::unique_ptr<KeyVisualizer> visualizer = *KeyVisualizer::Open(options, &clock);
  std::vector<std::string> keys;
  for (int i = 0; i < 100'000; ++i) keys.push_back(fmt::format("{:06}", i));
  std::vector<AccessedRow> rows;
  for (const std::string& key : keys) rows.push_back({key, 1, 1});
  // For four seconds, over the end of a minute, and again ten minutes later.
  for (const int quiet_seconds : {600, 60}) {
    for (int second = 0; second < 4 + quiet_seconds; ++second) {
      if (second < 4) {
        visualizer->OnAccess(kTable,
                             {.kind = AccessKind::kWrite, .rows = rows, .latency_micros = 1, .errors = 0});
      }
      clock.Advance(1'000'000);
      visualizer->Tick();
      EXPECT_TRUE(visualizer->TabletStarts(kTable).empty()) << second;
    }
  }
  std::filesystem::remove_all(directory);
}

TEST(KeyVisualizer, TabletsFollowTheLoad) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("hot-tablets-{}", getpid());
  std::filesystem::remove_all(directory);
  const int64_t start = kStartSeconds - kStartSeconds % 60;
  ManualClock clock(start * 1'000'000);
  int64_t cpu_micros = 0;
  KeyVisualizer::Options options;
  options.directory = directory;
  options.cpu_micros = [&] { return cpu_micros; };
  const std::unique_ptr<KeyVisualizer> visualizer = *KeyVisualizer::Open(options, &clock);
  for (int second = 0; second < 150; ++second) {
    // Not for a load that has not lasted for minutes.
    if (second == 1 || second == 100) {
      EXPECT_TRUE(visualizer->TabletStarts(kTable).empty()) << second;
    }
    std::vector<std::string> keys;
    for (int i = 0; i < 5'000; ++i)
      keys.push_back(i % 10 == 0 ? fmt::format("a{:04}", i) : fmt::format("m{:04}", i));
    std::vector<AccessedRow> rows;
    for (const std::string& key : keys) rows.push_back({key, 1, 1});
    visualizer->OnAccess(kTable,
                         {.kind = AccessKind::kWrite, .rows = rows, .latency_micros = 1, .errors = 0});
    clock.Advance(1'000'000);
    cpu_micros += 500'000;
    visualizer->Tick();
  }
  EXPECT_GE(visualizer->TabletStarts(kTable).size(), 1);  // two tablets
  EXPECT_TRUE(visualizer->TabletStarts(kTable + 1).empty());
  const absl::StatusOr<std::vector<HotTablet>> hot =
      visualizer->HotTablets(kTable, {"", "m"}, start, start + 60, 10);
  ASSERT_TRUE(hot.ok());
  ASSERT_EQ(hot->size(), 1);
  EXPECT_EQ((*hot)[0].start_key, "m");
  EXPECT_NEAR((*hot)[0].cpu_percent, 45, 2);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace sonde
