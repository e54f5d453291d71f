// What the index chooses the rows of, compared with a scan of all rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_repair.h"
#include "series/index/write/index_writer.h"
#include "series/input/ingest_batch.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_counts.h"
#include "series/metric/metric_delete.h"
#include "series/metric/metric_reader.h"
#include "series/metric/metric_scan.h"
#include "series/query/query.h"
#include "series/query/tag_values.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::Matcher;
using promql::MatchKind;

constexpr int64_t kStartMicros = 1'700'000'000 * kMicrosPerSecond;
constexpr int64_t kDays = 4;

// Entities of two open series, in days that each of them has or has not.
class IndexedMetricsTest : public testing::Test {
 protected:
  struct Entity {
    std::string series;
    std::string labels;  // as in a line
  };

  void SetUp() override {
    ASSERT_TRUE(declarations_.Load().ok());
    for (int i = 0; i < 300; ++i) {
      std::string labels;
      if (i % 11 != 0) labels += fmt::format(",host=h{}", i);
      if (i % 3 != 0) labels += fmt::format(",zone=z-{}", i % 7);
      if (i % 5 == 0) labels += fmt::format(",pod=p\\ {}", i / 5);
      entities_.push_back({i % 4 == 0 ? "mem" : "cpu", std::move(labels)});
    }
  }

  std::string RandomLine() {
    const Entity& entity = entities_[random_.Uniform(entities_.size())];
    const char* const field = random_.Uniform(3) == 0 ? "used" : "value";
    const int64_t seconds =
        kStartMicros / kMicrosPerSecond + static_cast<int64_t>(random_.Uniform(kDays * 24 * 3'600));
    return fmt::format("{}{} {}={} {}\n", entity.series, entity.labels, field, random_.Uniform(100), seconds);
  }

  static absl::Status Write(const std::string& text, Declarations* declarations, TableAccess* tables,
                            IndexWriter* writer) {
    IngestBatch batch(declarations, tables, {}, nullptr, writer);
    LineProtocolParser parser(text);
    LinePoint line;
    while (parser.Next(&line) == LineProtocolParser::Step::kPoint) {
      const std::string_view whole = parser.line_text();
      absl::Status status = batch.Add({line.measurement, whole.substr(0, whole.find(" value=")), &line.tags,
                                       &line.fields, *line.timestamp * kMicrosPerSecond});
      if (!status.ok()) return status;
    }
    return batch.Flush();
  }
  absl::Status Write(const std::string& text, IndexWriter* writer) {
    return Write(text, &declarations_, &tables_, writer);
  }
  std::string RandomLines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += RandomLine();
    return text;
  }

  Matcher RandomMatcher() {
    constexpr const char* kNames[] = {"host", "zone", "pod", "none"};
    const std::string name = kNames[random_.Uniform(std::size(kNames))];
    const auto kind = static_cast<MatchKind>(random_.Uniform(4));
    std::string value;
    switch (random_.Uniform(6)) {
      case 0:
        break;
      case 1:
        value = fmt::format("h{}", random_.Uniform(300));
        break;
      case 2:
        value = fmt::format("z-{}", random_.Uniform(8));
        break;
      case 3:
        value = fmt::format("p {}|h{}|z-1", random_.Uniform(60), random_.Uniform(300));
        break;
      case 4:
        value = fmt::format("h{}.*", random_.Uniform(30));
        break;
      default:
        value = fmt::format(".*{}|", random_.Uniform(10));
        break;
    }
    return *Matcher::Create(kind, name, value);
  }

  MetricRead RandomRead() {
    MetricRead read;
    if (random_.Uniform(4) != 0) {
      const bool is_pattern = random_.Uniform(3) == 0;
      read.matchers.push_back(*Matcher::Create(is_pattern ? MatchKind::kMatches : MatchKind::kEqual,
                                               kNameLabel, is_pattern ? "(cpu|mem).*" : "cpu"));
    }
    for (uint64_t i = 0, count = 1 + random_.Uniform(3); i < count; ++i)
      read.matchers.push_back(RandomMatcher());
    const int64_t hour = 3'600'000;
    read.start_millis = kStartMicros / 1'000 + static_cast<int64_t>(random_.Uniform(kDays * 24)) * hour;
    read.end_millis = read.start_millis + static_cast<int64_t>(1 + random_.Uniform(30)) * hour;
    read.now_micros = kStartMicros;
    read.samples_max = 1'000'000;
    read.series_max = 1'000'000;
    return read;
  }

  static std::vector<std::string> Texts(const MetricSamples& samples) {
    std::vector<std::string> texts;
    for (const promql::SampleSeries& series : samples.series) {
      std::string text = promql::LabelsText(series.labels);
      for (size_t i = 0; i < series.times.size(); ++i)
        text += fmt::format(" {}@{}", series.values[i], series.times[i]);
      texts.push_back(std::move(text));
    }
    return texts;
  }

  // What is listed has all series with samples in the time, where the index lists also all with samples of its days, and none that never had
  // a sample.
  void ExpectListed(MetricRead read) {
    const auto list = [&](EntityIndex* index) {
      read.index = index;
      const auto listed = ListMetrics(declarations_.List(), read, &tables_);
      EXPECT_TRUE(listed.ok()) << listed.status();
      return listed.ok() ? *listed : std::vector<promql::Labels>();
    };
    const uint64_t answered = index_.counts().answered;
    const std::vector<promql::Labels> listed = list(&index_);
    const bool is_by_index = index_.counts().answered > answered;
    EXPECT_TRUE(std::ranges::includes(listed, list(nullptr)));
    if (!is_by_index) return;
    constexpr int64_t kMillisPerDay = 86'400'000;
    read.start_millis -= read.start_millis % kMillisPerDay;
    read.end_millis += kMillisPerDay - 1 - read.end_millis % kMillisPerDay;
    if (declarations_.List().size() == 1) {
      EXPECT_TRUE(std::ranges::includes(listed, list(nullptr)));
    }
    read.start_millis = 0;
    read.end_millis = kStartMicros / 1'000 + 2 * kDays * kMillisPerDay;
    if (is_index_exact_) {
      EXPECT_TRUE(std::ranges::includes(list(nullptr), listed));
    }
    listed_by_index_ += static_cast<int64_t>(listed.size());
  }

  // Returns the rows that were read with the index, and without.
  std::pair<int64_t, int64_t> ExpectSame(MetricRead read) {
    std::string text;
    for (const Matcher& matcher : read.matchers) text += matcher.Text() + " ";
    const auto rows_before = tables_.rows_read;
    const auto scanned = ReadMetrics(declarations_.List(), read, &tables_);
    const auto rows_scanned = tables_.rows_read - rows_before;
    read.index = &index_;
    const auto rows_then = tables_.rows_read;
    const auto indexed = ReadMetrics(declarations_.List(), read, &tables_);
    const auto rows_indexed = tables_.rows_read - rows_then;
    EXPECT_TRUE(scanned.ok() && indexed.ok()) << text;
    if (!scanned.ok() || !indexed.ok()) return {0, 0};
    EXPECT_EQ(Texts(*indexed), Texts(*scanned)) << text;
    ExpectListed(read);
    samples_ += static_cast<int64_t>(indexed->series.size());
    return {rows_indexed, rows_scanned};
  }

  // How many rows of series lie in the ranges that are read.
  int64_t Visited(const MetricRead& read) {
    int64_t rows = 0;
    const absl::Status status = ForEachMetricScan(declarations_.List(), read.matchers, [&](MetricScan scan) {
      PrepareQuery(read, &scan.query);
      const auto stats = RunQueryInBatches(scan.series, scan.query, &tables_,
                                           [](const rows::Batch&) -> absl::StatusOr<bool> { return true; });
      if (!stats.ok()) return stats.status();
      for (const auto& [key, row] : tables_.tables[kOpenSeriesTable].rows) {
        rows += std::any_of(stats->ranges.begin(), stats->ranges.end(),
                            [&key = key](const RowRange& range) { return range.Contains(key); });
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  void ExpectSound() {
    for (const KnownSeriesRef& series : declarations_.List()) {
      const auto report = CheckIndex(*series, &tables_);
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_TRUE(report->is_whole && report->is_sound())
          << (report->problems.empty() ? series->schema.name : report->problems[0]);
    }
  }

  SeededRandom random_{11};
  MemoryTables tables_;
  SystemClock clock_;
  Declarations declarations_{&tables_, &clock_};
  EntityIndex index_;
  std::vector<Entity> entities_;
  int64_t samples_ = 0;
  int64_t listed_by_index_ = 0;
  bool is_index_exact_ = true;  // all that it has came to be points, and its series are told of deletions
};

TEST_F(IndexedMetricsTest, AnswersAreThoseOfAScan) {
  IndexWriter writer(&tables_, &clock_);
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(Write(RandomLines(60), &writer).ok());
    if (round % 10 == 9) {
      ASSERT_TRUE(writer.KeepUp().ok());
    }
    for (int i = 0; i < 10; ++i) ExpectSame(RandomRead());
  }
  ExpectSound();
  EXPECT_GT(samples_, 1'000);
  EXPECT_GT(listed_by_index_, 1'000);
  EXPECT_GT(index_.counts().answered, 400U);
  EXPECT_EQ(index_.counts().unanswered, 0U);
}

TEST_F(IndexedMetricsTest, OneEntityOfManyIsReadAlone) {
  IndexWriter writer(&tables_, &clock_);
  const std::string text = RandomLines(2'000);
  ASSERT_TRUE(Write(text, &writer).ok());
  MetricRead read = RandomRead();
  read.matchers = {*Matcher::Create(MatchKind::kEqual, kNameLabel, "cpu"),
                   *Matcher::Create(MatchKind::kEqual, "pod", "p 1")};
  read.start_millis = kStartMicros / 1'000;
  read.end_millis = read.start_millis + kDays * 24 * 3'600'000;
  const auto [indexed, scanned] = ExpectSame(read);
  EXPECT_GT(samples_, 0);
  EXPECT_LT(indexed, scanned / 10);
}

TEST_F(IndexedMetricsTest, DeletedPointsAreGoneAndTheRestIsFound) {
  is_index_exact_ = false;
  IndexWriter writer(&tables_, &clock_);
  const std::string text = RandomLines(1'500);
  ASSERT_TRUE(Write(text, &writer).ok());
  for (int round = 0; round < 12; ++round) {
    const MetricRead read = RandomRead();
    MetricDelete what;
    what.sets = {read.matchers};
    what.start_millis = read.start_millis;
    what.end_millis = read.end_millis;
    if (round % 2 == 0) what.index = &index_;
    ASSERT_TRUE(DeleteMetrics(declarations_.List(), what, &tables_).ok());
    const auto left = ReadMetrics(declarations_.List(), read, &tables_);
    ASSERT_TRUE(left.ok());
    EXPECT_TRUE(left->series.empty());
    for (int i = 0; i < 10; ++i) ExpectSame(RandomRead());
  }
  ExpectSound();
  // What was deleted comes again.
  ASSERT_TRUE(Write(text, &writer).ok());
  for (int i = 0; i < 20; ++i) ExpectSame(RandomRead());
  ExpectSound();
}

// Whichever write a process dies before, what is there is in the index.
TEST_F(IndexedMetricsTest, EachDeathLeavesTheIndexSound) {
  is_index_exact_ = false;
  for (int writes_left = 0; writes_left < 24; ++writes_left) {
    tables_.tables.clear();
    ASSERT_TRUE(declarations_.Load().ok());
    DyingTables dying(&tables_, writes_left);
    Declarations declarations(&dying, &clock_);
    IndexWriter writer(&dying, &clock_);
    for (int round = 0; round < 8; ++round) (void)Write(RandomLines(20), &declarations, &dying, &writer);
    ASSERT_TRUE(declarations_.Load().ok());
    for (const KnownSeriesRef& series : declarations_.List()) {
      const auto report = CheckIndex(*series, &tables_);
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_TRUE(report->is_sound()) << report->problems[0];
      EXPECT_TRUE(report->is_whole || report->rows == 0);
    }
    for (int i = 0; i < 5; ++i) ExpectSame(RandomRead());
  }
}

TEST_F(IndexedMetricsTest, AnIndexThatIsNotWholeIsPassedOver) {
  ASSERT_TRUE(Write(RandomLines(500), nullptr).ok());  // a build that had no index
  IndexWriter writer(&tables_, &clock_);
  ASSERT_TRUE(Write(RandomLines(500), &writer).ok());
  for (int i = 0; i < 20; ++i) ExpectSame(RandomRead());
  EXPECT_EQ(index_.counts().answered, 0U);
  EXPECT_GT(index_.counts().unanswered, 0U);
  for (const KnownSeriesRef& series : declarations_.List())
    ASSERT_TRUE(RebuildIndex(*series, &tables_, clock_, true).ok());
  ExpectSound();
  for (int i = 0; i < 20; ++i) ExpectSame(RandomRead());
  EXPECT_GT(index_.counts().answered, 0U);
}

// Entities that ended long before the time of a question are not visited, whatever its conditions.
TEST_F(IndexedMetricsTest, OldEntitiesAreNotVisited) {
  IndexWriter writer(&tables_, &clock_);
  const int64_t now = kStartMicros / kMicrosPerSecond;
  std::string text;
  for (int pod = 0; pod < 400; ++pod) {
    const int64_t ended = now - (60 - pod % 40) * 86'400;
    for (int hour = 0; hour < 3; ++hour)
      text += fmt::format("up,job=a,pod=old{},zone=z{} value=1 {}\n", pod, pod % 2, ended - hour * 3'600);
  }
  for (int pod = 0; pod < 8; ++pod) {
    for (int hour = 0; hour < 24 * 60; hour += 12)
      text += fmt::format("up,job=a,pod=new{},zone=z{} value=2 {}\n", pod, pod % 2, now - hour * 3'600);
  }
  ASSERT_TRUE(Write(text, &writer).ok());
  ASSERT_TRUE(writer.KeepUp().ok());
  const std::vector<std::vector<Matcher>> all = {
      {},
      {*Matcher::Create(MatchKind::kEqual, "job", "a")},
      {*Matcher::Create(MatchKind::kEqual, "zone", "z1")},
      {*Matcher::Create(MatchKind::kNotEqual, "zone", "none")},
      {*Matcher::Create(MatchKind::kMatches, "pod", ".+")},
  };
  for (const std::vector<Matcher>& matchers : all) {
    MetricRead read = RandomRead();
    read.matchers = matchers;
    read.matchers.push_back(*Matcher::Create(MatchKind::kEqual, kNameLabel, "up"));
    read.end_millis = now * 1'000;
    read.start_millis = read.end_millis - 3'600'000 - 300'000;  // of an hour, with the lookback
    ExpectSame(read);
    EXPECT_GT(Visited(read), 1'000);
    read.index = &index_;
    EXPECT_GE(Visited(read), 4);
    EXPECT_LE(Visited(read), 16);  // two rows of eight
    // An hour of a day that is long over, as by an offset: ten ended then, and eight are there still.
    read.end_millis = (now - 30 * 86'400) * 1'000;
    read.start_millis = read.end_millis - 3'600'000;
    EXPECT_GE(Visited(read), 4);
    EXPECT_LE(Visited(read), 2 * 18);
    read.index = nullptr;
    ExpectSame(read);
  }
}

// Entities that never had the field of a metric are not visited for it.
TEST_F(IndexedMetricsTest, EntitiesOfOtherFieldsAreNotVisited) {
  IndexWriter writer(&tables_, &clock_);
  const int64_t now = kStartMicros / kMicrosPerSecond;
  std::string text;
  for (int i = 0; i < 500; ++i) text += fmt::format("disk,host=h{} used=1 {}\n", i, now);
  for (int i = 0; i < 5; ++i) text += fmt::format("disk,host=h{} value=1 {}\n", 100 * i, now);
  ASSERT_TRUE(Write(text, &writer).ok());
  MetricRead read = RandomRead();
  read.matchers = {*Matcher::Create(MatchKind::kEqual, kNameLabel, "disk")};
  read.start_millis = 0;
  read.end_millis = now * 1'000;
  ExpectSame(read);
  EXPECT_EQ(samples_, 5);
  EXPECT_EQ(Visited(read), 500);
  read.index = &index_;
  EXPECT_EQ(Visited(read), 5);
}

// Counts of the index are those of the points, where each entity has all fields that it ever had.
TEST_F(IndexedMetricsTest, CountsAreThoseOfThePoints) {
  IndexWriter writer(&tables_, &clock_);
  ASSERT_TRUE(Write(RandomLines(1'500), &writer).ok());
  ASSERT_TRUE(writer.KeepUp().ok());
  ASSERT_TRUE(Write(RandomLines(200), &writer).ok());
  MetricRead read = RandomRead();
  read.matchers.clear();
  read.start_millis = 0;
  read.end_millis = kStartMicros / 1'000 + kDays * 24 * 3'600'000;
  std::map<std::string, uint64_t> counts[2];
  uint64_t all[2] = {0, 0};
  for (const int is_indexed : {0, 1}) {
    read.index = is_indexed != 0 ? &index_ : nullptr;
    const TakeCounts take = {.value =
                                 [&](std::string_view label, std::string_view value, uint64_t series) {
                                   counts[is_indexed][fmt::format("{}={}", label, value)] += series;
                                   return absl::OkStatus();
                                 },
                             .series =
                                 [&](uint64_t series) {
                                   all[is_indexed] += series;
                                   return absl::OkStatus();
                                 }};
    const int64_t before = tables_.rows_read;
    ASSERT_TRUE(CountMetrics(declarations_.List(), read, &tables_, take).ok());
    const int64_t rows = tables_.rows_read - before;
    EXPECT_TRUE(is_indexed == 0 || rows < 100) << rows;
  }
  EXPECT_GT(all[0], 300U);
  EXPECT_EQ(all[1], all[0]);
  EXPECT_EQ(counts[1], counts[0]);
}

TEST_F(IndexedMetricsTest, ValuesOfATagAreThoseOfAScan) {
  IndexWriter writer(&tables_, &clock_);
  const std::string text = RandomLines(1'000);
  ASSERT_TRUE(Write(text, &writer).ok());
  const KnownSeriesRef cpu = declarations_.Find("cpu");
  const SeriesSchema view = LabelsAsTags(*cpu);
  for (int zone = 0; zone < 8; ++zone) {
    Query query;
    query.selection.tags.resize(view.tags.size());
    query.selection.tags[*view.FindTag("zone")].values = {fmt::format("z-{}", zone)};
    const auto scanned = ListTagValues(*cpu, query, *view.FindTag("host"), "h", 1'000, &tables_);
    query.index = &index_;
    const auto indexed = ListTagValues(*cpu, query, *view.FindTag("host"), "h", 1'000, &tables_);
    ASSERT_TRUE(scanned.ok() && indexed.ok());
    EXPECT_EQ(indexed->values, scanned->values);
  }
  EXPECT_EQ(index_.counts().answered, 8U);
}

}  // namespace
}  // namespace sonde::series
