// Loses the power at every k-th call that changes the disk, while new open series come and their index is sealed and folded, and looks whether
// the index has every point that was acknowledged.
//
//   sonde_index_power_cut_test         SONDE_INDEX_CUTS_EVERY=K, SONDE_TEST_SEED=S of the course and of what is lost
//
// The course is one thread's, so that each call has its place in it: requests with new entities, days and fields, upkeep of the index,
// settling.  What the power failure left is opened; then each acknowledged entity is found by each of its labels, the index is compared with
// the rows, and more entities come.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "lossy_file_system.h"
#include "promql/samples/labels.h"
#include "rocksdb/env.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_repair.h"
#include "series/index/write/index_writer.h"
#include "series/input/ingest_batch.h"
#include "series/known/declarations.h"
#include "series/metric/metric_reader.h"
#include "table/local_tables.h"
#include "table/tables.h"
#include "temporary_directory.h"

namespace sonde::series {
namespace {

constexpr int64_t kStartSeconds = 1'700'000'000;
constexpr int kOperations = 60;
constexpr int kLinesOfRequest = 40;

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// An entity of its number; questions by its second and third label need the index.
std::string LineOf(int number) {
  return fmt::format("flood{},aaa=x{},group=g{},id=i-{} {}={} {}\n", number % 3 == 0 ? "_2" : "", number % 2,
                     number % 7, number, number % 5 == 0 ? "used" : "value", number,
                     kStartSeconds + number % 4 * 86'400);
}

// The store and what writes series to it.
struct Server {
  Server(std::unique_ptr<RocksEngine> its_engine, const Clock* clock)
      : engine(std::move(its_engine)),
        catalog(*Catalog::Open(engine.get())),
        tables(engine.get(), catalog.get(), clock, /*seed=*/1),
        local(&tables, "projects/p/instances/i"),
        declarations(&local, clock),
        writer(&local, clock) {}

  absl::Status Write(const std::string& text) {
    IngestBatch batch(&declarations, &local, {}, nullptr, &writer);
    LineProtocolParser parser(text);
    LinePoint line;
    while (parser.Next(&line) == LineProtocolParser::Step::kPoint) {
      const absl::Status status = batch.Add({line.measurement, parser.line_text(), &line.tags, &line.fields,
                                             *line.timestamp * kMicrosPerSecond});
      if (!status.ok()) return status;
    }
    return batch.Flush();
  }

  std::unique_ptr<RocksEngine> engine;
  std::unique_ptr<Catalog> catalog;
  Tables tables;
  LocalTables local;
  Declarations declarations;
  IndexWriter writer;
  EntityIndex index;
};

class Course {
 public:
  explicit Course(uint64_t seed)
      : random_(seed),
        disk_(std::make_shared<LossyFileSystem>(directory_.path(), seed, LossyFileSystem::Lies{})),
        env_(rocksdb::NewCompositeEnv(disk_)) {}

  // Runs until the call with this number loses the power; false: the course was over before.
  bool RunTo(uint64_t call) {
    Open();
    disk_->CrashAtCall(call);
    for (int i = 0; i < kOperations && !disk_->crashed() && !testing::Test::HasFailure(); ++i) Operate();
    const bool crashed = disk_->crashed();
    disk_->CrashAtCall(0);
    return crashed;
  }

  void Recover() {
    disk_->CrashNow();
    server_.reset();
    disk_->Restart();
    Open();
    Verify();
    for (int i = 0; i < 5; ++i) Operate();
    Verify();
  }

  void Verify() {
    const uint64_t unanswered_before = server_->index.counts().unanswered;
    for (const char* const label : {"group", "id"}) {
      std::set<std::string> found;
      for (const char* const pattern : {"[ig].*[02468]", "[ig].*[13579]"}) {
        MetricRead read;
        read.matchers = {*promql::Matcher::Create(promql::MatchKind::kMatches, kNameLabel, "flood.*"),
                         *promql::Matcher::Create(promql::MatchKind::kMatches, label, pattern)};
        read.start_millis = (kStartSeconds - 86'400) * 1'000;
        read.end_millis = (kStartSeconds + 10 * 86'400) * 1'000;
        read.now_micros = clock_.NowMicros();
        read.samples_max = read.series_max = 1'000'000;
        read.index = &server_->index;
        const auto listed = ListMetrics(server_->declarations.List(), read, &server_->local);
        ASSERT_TRUE(listed.ok()) << listed.status();
        for (const promql::Labels& labels : *listed) found.emplace(promql::LabelOf(labels, "id"));
      }
      for (const int number : acknowledged_) {
        ASSERT_TRUE(found.contains(fmt::format("i-{}", number))) << label << " of " << LineOf(number);
      }
    }
    bool are_whole = true;
    for (const KnownSeriesRef& series : server_->declarations.List()) {
      const auto report = CheckIndex(*series, &server_->local);
      ASSERT_TRUE(report.ok()) << report.status();
      ASSERT_TRUE(report->is_sound()) << report->problems[0];
      ASSERT_TRUE(report->is_whole || report->rows == 0);
      are_whole = are_whole && report->is_whole;
    }
    // The power may go between a series' declaration and its first entity: the index does not say that it is whole then.
    if (are_whole) {
      EXPECT_EQ(server_->index.counts().unanswered, unanswered_before);
    }
  }

 private:
  void Open() {
    auto engine = RocksEngine::Open({.data_dir = directory_.path() + "/data",
                                     .memory_bytes = 8 << 20,
                                     .env = env_.get(),
                                     .page = {.cells_max = 40},
                                     .settling_step_cells_max = 20,
                                     .settling_step_bytes_max = 200});
    ASSERT_TRUE(engine.ok()) << engine.status();
    server_ = std::make_unique<Server>(*std::move(engine), &clock_);
    ASSERT_EQ(server_->declarations.Load(), absl::OkStatus());
  }

  // An error must be that of the disk.
  void Expect(const absl::Status& status) { EXPECT_TRUE(status.ok() || disk_->crashed()) << status; }

  void Operate() {
    switch (random_() % 8) {
      case 0:
        clock_.Advance(static_cast<int64_t>(random_() % 30) * kMicrosPerSecond);
        return;
      case 1:
        return Expect(server_->engine->SwitchHeads());
      case 2:
      case 3:
        return Expect(server_->writer.KeepUp());
      default:
        return Write();
    }
  }

  // Some that are known, most of them new.
  void Write() {
    std::vector<int> numbers;
    std::string text;
    for (int i = 0; i < kLinesOfRequest; ++i) {
      const bool is_known = next_ > 0 && random_() % 4 == 0;
      numbers.push_back(is_known ? static_cast<int>(random_() % static_cast<uint64_t>(next_)) : next_++);
      text += LineOf(numbers.back());
    }
    const absl::Status status = server_->Write(text);
    Expect(status);
    if (status.ok()) acknowledged_.insert(numbers.begin(), numbers.end());
  }

  std::mt19937_64 random_;
  ManualClock clock_{kStartSeconds * kMicrosPerSecond};
  const TemporaryDirectory directory_;
  const std::shared_ptr<LossyFileSystem> disk_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<Server> server_;
  int next_ = 0;
  std::set<int> acknowledged_;
};

TEST(IndexPowerCutTest, TheIndexHasWhatIsAcknowledgedWhereverThePowerIsCut) {
  const uint64_t every = std::max<uint64_t>(1, NumberFrom("SONDE_INDEX_CUTS_EVERY", 211));
  const uint64_t seed = NumberFrom("SONDE_TEST_SEED", std::random_device()());
  std::printf("SONDE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  uint64_t cuts = 0;
  for (uint64_t call = 1 + seed % every; !HasFailure(); call += every) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    Course course(seed);
    if (!course.RunTo(call)) {
      course.Verify();
      break;
    }
    ++cuts;
    course.Recover();
  }
  std::printf("%llu cuts\n", static_cast<unsigned long long>(cuts));
  EXPECT_GT(cuts, 0U);
}

}  // namespace
}  // namespace sonde::series
