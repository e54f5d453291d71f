// Change logs of a store that several servers write at once, some of which are killed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/log/stored_log.h"

namespace sonde {
namespace {

using hbase::InAMinute;

constexpr TableId kTable = 3;

// Short times: a server that is killed is missed after some seconds.
constexpr LogPositionsOptions kQuick{.beat = absl::Milliseconds(100),
                                     .send_time = absl::Milliseconds(1'500),
                                     .call_time = absl::Milliseconds(1'500),
                                     .bytes_a_second_min = 1e9};

class HBaseLogTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const master = std::getenv("SONDE_HBASE_MASTER");
    ASSERT_NE(master, nullptr) << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
    address_ = *ParseHBaseStore(fmt::format("hbase://{}/sonde_log_test", master));
    client_ = *hbase::Client::Create({.roots = address_.masters, .tls = hbase::TlsOfCluster()});
    DropAll();
  }
  void TearDown() override {
    if (client_ != nullptr) DropAll();
  }
  void DropAll() {
    const auto tables = client_->tables()->List(address_.space, InAMinute());
    if (!tables.ok()) return;  // there is no such namespace yet
    for (const hbase::TableSchema& table : *tables)
      EXPECT_TRUE(client_->tables()->Drop(table.table, InAMinute()).ok());
  }
  std::unique_ptr<HBaseEngine> Open(const LogPositionsOptions& log = kQuick) {
    absl::StatusOr<std::unique_ptr<HBaseEngine>> engine =
        HBaseEngine::Open({.address = address_, .tls = hbase::TlsOfCluster(), .log = log});
    EXPECT_TRUE(engine.ok()) << engine.status();
    return engine.ok() ? *std::move(engine) : nullptr;
  }
  std::string TtlOfLog() {
    const auto schema = client_->tables()->Describe(CellsTable(address_.space, kTable), InAMinute());
    EXPECT_TRUE(schema.ok()) << schema.status();
    for (const hbase::FamilySchema& family : schema->families) {
      if (family.name == kLogFamily) return family.attributes.at("TTL");
    }
    return "no family";
  }
  static absl::Status Put(Engine* engine, const std::string& row, const std::string& value,
                          const std::vector<std::string>& pieces) {
    RowChange change{row, {.families = {{.family = 1, .puts = {{"q", 0, value}}}}}};
    change.delta.log.pieces = pieces;
    return engine->Apply(kTable, {change}, {.deadline = InAMinute()});
  }
  static std::map<int64_t, std::string> Read(Engine* engine, int64_t start, int64_t through) {
    std::map<int64_t, std::string> records;
    const absl::Status status = engine->log()->Read(
        kTable, RowRange::All(), start, 0, through,
        [&](const RowLog::Piece& piece) {
          EXPECT_TRUE(records.empty() || records.rbegin()->first < piece.position);
          records[piece.position] = std::string(piece.bytes);
          return true;
        },
        InAMinute());
    EXPECT_TRUE(status.ok()) << status;
    return records;
  }
  static int64_t Frontier(Engine* engine) {
    const auto end = engine->log()->FindEnd(kTable, RowRange::All(), 0, InAMinute());
    EXPECT_TRUE(end.ok()) << end.status();
    return end.ok() ? end->frontier : 0;
  }

  HBaseStoreAddress address_;
  std::unique_ptr<hbase::Client> client_;
};

TEST_F(HBaseLogTest, ATableGetsItsFamilyWhenItIsFirstLogged) {
  const std::unique_ptr<HBaseEngine> one = Open(), other = Open();
  ASSERT_EQ(one->CreateTable({.id = kTable}, InAMinute()), absl::OkStatus());
  EXPECT_EQ(TtlOfLog(), "no family");
  EXPECT_THAT(Read(one.get(), 0, INT64_MAX), testing::IsEmpty());
  // Nobody has told the store, and two servers find that out at once.
  const std::vector<std::string> pieces = {"record"};
  std::thread first([&] { EXPECT_EQ(Put(one.get(), "a", "1", pieces), absl::OkStatus()); });
  EXPECT_EQ(Put(other.get(), "b", "1", pieces), absl::OkStatus());
  first.join();
  EXPECT_EQ(Read(one.get(), 0, INT64_MAX).size(), 2u);
  EXPECT_EQ(TtlOfLog(), std::to_string((8 * 24 + 1) * 3'600));
  // Whoever knows for how long records are read alters it.
  const int64_t day = int64_t{24} * 3'600 * 1'000'000;
  ASSERT_EQ(one->AlterTable({.id = kTable, .log_kept_micros = 2 * day}, InAMinute()), absl::OkStatus());
  EXPECT_EQ(TtlOfLog(), std::to_string(49 * 3'600));
  EXPECT_EQ(Read(other.get(), 0, INT64_MAX).size(), 2u);
  // And a store with logs is found again.
  EXPECT_NE(Open(), nullptr);
}

TEST_F(HBaseLogTest, ADroppedRangeLeavesTheLog) {
  const std::unique_ptr<HBaseEngine> engine = Open();
  ASSERT_EQ(engine->CreateTable({.id = kTable, .log_kept_micros = 1}, InAMinute()), absl::OkStatus());
  const std::vector<std::string> pieces = {"record"};
  ASSERT_EQ(Put(engine.get(), "a", "1", pieces), absl::OkStatus());
  std::vector<RowChange> changes;
  std::vector<std::string> rows;
  for (int i = 0; i < 11'000; ++i) rows.push_back(fmt::format("b{:05}", i));
  for (const std::string& row : rows)
    changes.push_back({row, {.families = {{.family = 1, .puts = {{"q", 0, "v"}}}}}});
  ASSERT_EQ(engine->Apply(kTable, changes, {.deadline = InAMinute()}), absl::OkStatus());
  ASSERT_EQ(engine->DropRange(kTable, RowRange::All(), InAMinute()), absl::OkStatus());
  EXPECT_EQ(Read(engine.get(), 0, INT64_MAX).size(), 1u);
}

// What a reading of the newest records costs beside older ones, in files by time and in one; SONDE_HBASE_LOG_RECORDS says how many older
// ones there are.
TEST_F(HBaseLogTest, TheNewestRecordsAreReadWithoutTheOldOnes) {
  const char* const asked = std::getenv("SONDE_HBASE_LOG_RECORDS");
  const int records = asked == nullptr ? 20'000 : std::atoi(asked);
  constexpr int kFiles = 5, kBatch = 1'000, kNewest = 1'000;
  const std::unique_ptr<HBaseEngine> engine = Open();
  ASSERT_EQ(
      engine->CreateTable({.id = kTable, .log_kept_micros = int64_t{24} * 3'600 * 1'000'000}, InAMinute()),
      absl::OkStatus());
  const hbase::TableName name = CellsTable(address_.space, kTable);
  const std::vector<std::string> pieces = {std::string(100, 'r')};
  int64_t position = SystemClock().NowMicros() - int64_t{3'600} * 1'000'000;
  const int64_t step = int64_t{3'500} * 1'000'000 / (records + kNewest);
  std::deque<std::string> bytes;
  const auto put = [&](int count) {
    for (int done = 0; done < count; done += kBatch) {
      bytes.clear();
      std::vector<hbase::RowChange> changes(std::min(kBatch, count - done));
      for (size_t i = 0; i < changes.size(); ++i) {
        changes[i].row = fmt::format("row{:05}", (done + i) % 5'000);
        PutRecord({.pieces = pieces}, position += step, &changes[i], &bytes);
      }
      for (const absl::Status& status : client_->rows()->Apply(name, changes, InAMinute()))
        ASSERT_TRUE(status.ok()) << status;
    }
  };
  for (int file = 0; file < kFiles; ++file) {
    put(records / kFiles);
    ASSERT_TRUE(client_->tables()->Flush(name, InAMinute()).ok());
  }
  const int64_t newest = position + 1;
  put(kNewest);
  ASSERT_TRUE(client_->tables()->Flush(name, InAMinute()).ok());
  const auto time = [&](const char* what, int64_t start, size_t wanted) {
    const absl::Time began = absl::Now();
    EXPECT_EQ(Read(engine.get(), start, position).size(), wanted);
    fmt::print("{}: {:.3f} s for {} records of {}\n", what, absl::ToDoubleSeconds(absl::Now() - began),
               wanted, records + kNewest);
  };
  time("the newest, in a file of its own", newest, kNewest);
  time("all, in files by time", 0, records + kNewest);
  ASSERT_TRUE(client_->tables()->Compact(name, true, InAMinute()).ok());
  const auto is_compacting = [&] {
    const auto place = client_->regions()->Find(name, {}, InAMinute());
    const auto state = client_->tables()->StateOf(**place, InAMinute());
    return state.ok() && state->is_compacting;
  };
  do absl::SleepFor(absl::Seconds(1));
  while (is_compacting());
  time("the newest, in one file with the others", newest, kNewest);
  time("all, in one file", 0, records + kNewest);
}

// Three servers change the same rows, by requests of one row and of several; now and then one of them is gone, without a word.  Another
// one follows the frontier, and is told every record once, in the order of its row.
TEST_F(HBaseLogTest, ServersThatAreKilledLoseNothingAndTellNothingTwice) {
  constexpr int kRows = 6;
  const char* const seconds = std::getenv("SONDE_HBASE_LOG_SECONDS");
  const absl::Duration time = absl::Seconds(seconds == nullptr ? 20 : std::atoi(seconds));
  const std::unique_ptr<HBaseEngine> reader = Open();
  ASSERT_EQ(reader->CreateTable({.id = kTable, .split_keys = {"row3"}, .log_kept_micros = 1}, InAMinute()),
            absl::OkStatus());
  std::atomic<bool> ends = false;
  std::atomic<int> writes = 0, kills = 0, refused = 0;
  std::vector<std::thread> servers;
  for (int i = 0; i < 3; ++i) {
    servers.emplace_back([&, i] {
      SeededRandom random(i + 1);
      int number = 0;
      while (!ends) {
        const std::unique_ptr<HBaseEngine> engine = Open();
        ASSERT_NE(engine, nullptr);
        for (uint64_t steps = 50 + random.Uniform(300); steps > 0 && !ends; --steps) {
          std::vector<std::string> rows, values;
          std::vector<std::vector<std::string>> records;
          for (uint64_t n = 1 + random.Uniform(3); n > 0; --n) {
            rows.push_back(fmt::format("row{}", random.Uniform(kRows)));
            values.push_back(fmt::format("{}.{}", i, number++));
            records.push_back({rows.back() + "=" + values.back()});
          }
          std::vector<RowChange> changes;
          for (size_t k = 0; k < rows.size(); ++k) {
            changes.push_back({rows[k], {.families = {{.family = 1, .puts = {{"q", 0, values[k]}}}}}});
            changes.back().delta.log.pieces = records[k];
          }
          absl::Status status;
          if (changes.size() == 1) {
            const auto decide = [&](const auto&) -> absl::StatusOr<std::optional<RowDelta>> {
              return changes[0].delta;
            };
            status = engine->Update(kTable, rows[0], {}, decide, {.deadline = InAMinute()});
          } else {
            status = engine->Apply(kTable, changes, {.deadline = InAMinute()});
          }
          if (status.ok()) writes += static_cast<int>(changes.size());
          if (!status.ok()) ++refused;
        }
        if (random.Uniform(2) == 0) continue;
        engine->positions()->AbandonForTest();
        ++kills;
      }
    });
  }
  std::map<int64_t, std::string> followed;
  int64_t frontier = 0, longest_lag = 0;
  const auto follow = [&] {
    const int64_t next = Frontier(reader.get());
    EXPECT_GE(next, frontier);
    for (auto& [position, record] : Read(reader.get(), frontier + 1, next))
      EXPECT_TRUE(followed.emplace(position, std::move(record)).second);
    frontier = next;
    if (frontier > 0) longest_lag = std::max(longest_lag, SystemClock().NowMicros() - frontier);
    absl::SleepFor(absl::Milliseconds(100));
  };
  for (const absl::Time end = absl::Now() + time; absl::Now() < end && !HasFailure();) follow();
  ends = true;
  for (std::thread& server : servers) server.join();
  std::map<int64_t, std::string> all = Read(reader.get(), 0, INT64_MAX);
  ASSERT_FALSE(all.empty());
  for (const absl::Time end = InAMinute(); frontier < all.rbegin()->first && absl::Now() < end;) follow();
  EXPECT_EQ(followed, all);
  EXPECT_GE(all.size(), static_cast<size_t>(writes));
  std::map<std::string, std::string> last;
  for (const auto& [position, record] : all) last[record.substr(0, record.find('='))] = record;
  for (const auto& [row, record] : last) {
    std::string value;
    const auto look = [&](const std::vector<RowFamily>& families) -> absl::StatusOr<std::optional<RowDelta>> {
      value = families.empty() ? "" : std::string(families[0].cells[0].value);
      return std::nullopt;
    };
    ASSERT_EQ(reader->Update(kTable, row, {}, look, {}), absl::OkStatus());
    EXPECT_EQ(record, row + "=" + value);
  }
  fmt::print("{} records, {} acknowledged, {} requests refused, {} servers gone, longest lag {:.1f} s\n",
             all.size(), writes.load(), refused.load(), kills.load(),
             static_cast<double>(longest_lag) * 1e-6);
}

}  // namespace
}  // namespace sonde
