// Questions for fields are answered from numbers where the tables give them: with the same answers as from
// rows, whatever lies in pages and what above them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/wide_int.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "series/input/ingest_batch.h"
#include "series/known/declarations.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/point_writer.h"
#include "table/local_tables.h"
#include "work/idle_workers.h"

namespace sonde::series {
namespace {

constexpr int64_t kStart = 18690 * kMicrosPerDay;
constexpr int kHosts = 9;

// The tables of another, of which it counts the numbers; or which it does not let through.
class Watched final : public TableAccess, private NumberAccess {
 public:
  Watched(TableAccess* tables, bool gives_numbers) : tables_(tables), gives_numbers_(gives_numbers) {}

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return tables_->EnsureTable(table, families);
  }
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override {
    return tables_->ListFamilies(table);
  }
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return tables_->UpdateFamilies(table, families);
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return tables_->ListTables(); }
  absl::Status DropTable(const std::string& table) override { return tables_->DropTable(table); }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    return tables_->MutateRows(table, rows);
  }
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override {
    return tables_->ReadRows(table, read, row);
  }
  NumberAccess* numbers() override { return gives_numbers_ ? this : nullptr; }

  std::atomic<size_t> numbers_seen = 0, texts_seen = 0;  // salts are read side by side
  std::atomic<bool> waits_for_helper = false;
  std::atomic<int> threads = 0, threads_max = 0;  // that read

 private:
  absl::Status Read(const std::string& table, const NumberRead& read,
                    const std::function<bool(const NumberRow&)>& row) override {
    threads_max = std::max<int>(threads_max, ++threads);
    // The question's own thread may have done all before a helper comes.
    for (int i = 0; waits_for_helper && threads_max < 2 && i < 10'000; ++i)
      absl::SleepFor(absl::Milliseconds(1));
    const absl::Status status = tables_->numbers()->Read(table, read, [&](const NumberRow& found) {
      for (const NumberRow::Part& part : found.parts) {
        (part.values.type() == ColumnType::kBytes ? texts_seen : numbers_seen) += part.values.size();
      }
      return row(found);
    });
    --threads;
    return status;
  }
  absl::StatusOr<DividedRanges> Divide(const std::string& table, const std::string& family,
                                       const std::vector<RowRange>& ranges) override {
    return tables_->numbers()->Divide(table, family, ranges);
  }
  void NoteFullScan(const std::string& table, int64_t rows) override {
    tables_->numbers()->NoteFullScan(table, rows);
  }

  TableAccess* const tables_;
  const bool gives_numbers_;
};

class QueryNumbersTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = fmt::format("{}/sonde_query_numbers_{}_{}", testing::TempDir(), getpid(),
                        testing::UnitTest::GetInstance()->current_test_info()->name()[0]);
    std::filesystem::remove_all(path_);
    auto engine = RocksEngine::Open(
        {.data_dir = path_, .memory_bytes = 64 << 20, .sync = false, .page = {.cells_max = 100}});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    catalog_ = *Catalog::Open(engine_.get());
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
    local_ = std::make_unique<LocalTables>(tables_.get(), "projects/p/instances/i");
  }
  void TearDown() override {
    local_.reset();
    tables_.reset();
    catalog_.reset();
    engine_.reset();
    std::filesystem::remove_all(path_);
  }

  void Write(const SeriesSchema& schema, SeededRandom* random, int points) {
    PointWriter writer(schema, local_.get());
    for (int i = 0; i < points; ++i) {
      const std::string host = fmt::format("host{}", random->Uniform(kHosts));
      const auto time_micros = kStart + static_cast<int64_t>(random->Uniform(6 * 3'600)) * kMicrosPerSecond;
      const std::string x = fmt::format("{}", static_cast<double>(random->Uniform(100'000)) / 100 - 300);
      const std::string n = fmt::format("{}", static_cast<int64_t>(random->Uniform(1'000)) - 500);
      const std::string e = random->Uniform(4) == 0 ? "1e3" : "";
      // Times come again and late; now and then, fields are missing.
      std::vector<std::string_view> values = {x, n, e, n, "w"};
      for (size_t field = 0; field < 4; ++field) {
        if (random->Uniform(has_gaps_ ? 5 : 1'000) == 0) values[field] = "";
      }
      ASSERT_TRUE(writer.Add({{host}, time_micros, values}).ok());
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  }

  Query RandomQuery(SeededRandom* random) const {
    Query query;
    // Some, one of them perhaps twice; or all that are numbers.
    for (uint64_t n = random->Uniform(4); n > 0; --n) query.fields.push_back(random->Uniform(4));
    if (random->Uniform(30) == 0) query.fields.push_back(4);  // a text
    query.selection.tags = {{}};
    if (random->Uniform(3) == 0) query.selection.tags[0].prefix = "host1";
    if (random->Uniform(3) == 0) query.selection.tags[0].values = {"host2", "host3", "none"};
    if (random->Uniform(4) == 0) query.conditions = {{.tag = 0, .pattern = "host[0-4]"}};
    if (random->Uniform(2) == 0) {
      query.selection.from_micros = kStart + static_cast<int64_t>(random->Uniform(3 * 3'600'000)) * 1'000 + 7;
      query.selection.to_micros = kStart + static_cast<int64_t>(random->Uniform(6 * 3'600'000)) * 1'000 + 7;
    }
    for (const Aggregate& aggregate : {Aggregate::kCount, Aggregate::kMin, Aggregate::kMax, Aggregate::kSum,
                                       Aggregate::kAvg, Aggregate::kFirst, Aggregate::kLast}) {
      if (random->Uniform(3) == 0) query.aggregates.push_back(aggregate);
    }
    if (query.aggregates.empty()) query.aggregates.push_back(Aggregate::Percentile(90));
    if (random->Uniform(3) != 0)
      query.every = ParseBucketWidth(random->Uniform(2) == 0 ? "10m" : "1h").value();
    if (random->Uniform(3) == 0) query.group_by.emplace();
    if (random->Uniform(4) == 0) {
      query.change = random->Uniform(2) == 0 ? Change::kDelta : Change::kRate;
      if (random->Uniform(3) == 0) {  // one by one
        query.aggregates.clear();
        query.every.reset();
        query.group_by.reset();
      }
    }
    if (random->Uniform(8) == 0) query.rows_max = 5;
    return query;
  }

  // For a schema, or a known series.
  template <typename Series>
  static std::string Ask(const Series& schema, const Query& query, TableAccess* tables) {
    std::string answer;
    const auto stats = RunQuery(schema, query, tables, [&](const ResultRow& row) {
      answer += fmt::format("{} {}", fmt::join(row.tags, ","), row.time_micros);
      for (const ResultValue& value : row.values) {
        if (const auto* integer = std::get_if<int64_t>(&value)) answer += fmt::format(" {}", *integer);
        if (const auto* number = std::get_if<double>(&value)) answer += fmt::format(" {:.10g}", *number);
        if (const auto* wide = std::get_if<absl::int128>(&value)) answer += " " + IntText(*wide);
        if (std::holds_alternative<std::monostate>(value)) answer += " -";
      }
      answer += '\n';
      return true;
    });
    if (!stats.ok()) return stats.status().ToString();
    // How far ahead was read when there was enough is nobody's business.
    return answer + (query.rows_max ? "" : fmt::format("{} cells", stats->cells_read));
  }

  void Settle() { ASSERT_TRUE(engine_->SettleAll().ok()); }

  bool has_gaps_ = true;
  std::string path_;
  SystemClock clock_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<LocalTables> local_;
};

TEST_P(QueryNumbersTest, AnswerAsRowsDo) {
  const SeriesSchema schema =
      ParseSchema(fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ x: double, n: {{ type: int, "
                              "encoding: int64_be }}, e: double, t: int, w: string }}\n{}\n",
                              GetParam()),
                  "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  IdleWorkers workers(3);
  SeededRandom random(3);
  for (int round = 0; round < 4; ++round) {
    has_gaps_ = round > 0;
    Write(schema, &random, 1'500);
    if (round % 2 == 0) Settle();
    for (int i = 0; i < 50; ++i) {
      Query query = RandomQuery(&random);
      const std::string answer = Ask(schema, query, &rows);
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "round " << round << ", question " << i;
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "in parts, round " << round << ", question " << i;
    }
  }
  for (const ValueCondition::Order order :
       {ValueCondition::Order::kGreater, ValueCondition::Order::kLessOrEqual}) {
    Query query{.value_conditions = {{1, order, 250}}, .fields = {0, 1}};
    for (const std::optional<int64_t> rows_max : std::vector<std::optional<int64_t>>{std::nullopt, 7, 900}) {
      query.rows_max = rows_max;
      query.idle_workers = nullptr;
      const std::string answer = Ask(schema, query, &rows);
      ASSERT_EQ(Ask(schema, query, &numbers), answer);
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "in parts";
    }
  }
  if (schema.layout == Layout::kOffsets) return;
  EXPECT_GT(numbers.numbers_seen, 10'000u);
  EXPECT_GT(numbers.texts_seen, 1'000u);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, QueryNumbersTest,
    testing::Values("bucket: hour\nkey: [host, bucket]",
                    "bucket: day\nkey: [bucket, host]\nretention: { max_versions: all }",
                    "bucket: hour\nkey: [{ salt: 4, of: time }, host, bucket]",
                    "bucket: hour\nkey: [host, { bucket: hour, format: epoch_s, reverse: true }]",
                    "layout: row\nkey: [host, time]",
                    "layout: row\nkey: [host, { time: epoch_s, reverse: true }]",
                    "layout: row\nkey: [{ salt: 4, of: time }, host, time]",
                    "bucket: hour\nkey: [host, { salt: 4, of: time }, bucket]",
                    "layout: row\nkey: [{ salt: 70, of: time }, host, time]",
                    "layout: row\nkey: [host, time]\nretention: { max_versions: 3 }",
                    // No field of these has a column of its own.
                    "layout: offsets\nbucket: hour\nslot: 1s\nkey: [host, bucket]"));

// Limits, accounts and errors are those of one thread; and several threads do read.
TEST_F(QueryNumbersTest, PartsKeepToWhatOneThreadKeepsTo) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\n"
                                  "bucket: hour\nkey: [host, bucket]\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  for (int64_t i = 0; i < 40'000; ++i) {
    const std::string host = fmt::format("h{:04}", i / 40);
    // The sum of the last host leaves 64 bits.
    const std::string n = i < 39'990 ? fmt::format("{}", i) : "4611686018427387904";
    ASSERT_TRUE(writer.Add({{host}, kStart + i % 40 * kMicrosPerSecond, {n}}).ok());
    ASSERT_TRUE(writer.FlushIfFull().ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  IdleWorkers workers(3);
  const auto both = [&](Query query, const std::function<void(Query*)>& begin = {}) {
    if (begin) begin(&query);
    const std::string alone = Ask(schema, query, &numbers);
    query.idle_workers = &workers;
    if (begin) begin(&query);
    EXPECT_EQ(Ask(schema, query, &numbers), alone);
    return alone;
  };
  const std::string most = both({.aggregates = {Aggregate::kMax}}, [&](Query* query) {
    numbers.waits_for_helper = query->idle_workers != nullptr;
  });
  EXPECT_THAT(most, testing::HasSubstr("h0999 "));
  EXPECT_GT(numbers.threads_max, 1);
  EXPECT_THAT(both({.aggregates = {Aggregate::kSum}}),
              testing::HasSubstr("OUT_OF_RANGE: sum(n): 46116860184275078275 leaves the 64 bits of an int"));
  // Percentiles keep all values of all series: more than this account has room for.
  Query percentiles{.aggregates = {Aggregate::Percentile(50)}};
  percentiles.group_by.emplace();
  std::atomic<int64_t> held = 0;
  percentiles.hold = [&](int64_t more_bytes) {
    if ((held += more_bytes) <= 400'000 || more_bytes < 0) return absl::OkStatus();
    held -= more_bytes;
    return absl::ResourceExhaustedError("no more room");
  };
  percentiles.every = ParseBucketWidth("1m").value();
  both(percentiles);
  EXPECT_EQ(held, 0);
  // The caller has enough.
  Query some{.aggregates = {Aggregate::kCount}, .rows_max = 3};
  EXPECT_EQ(std::ranges::count(both(some), '\n'), 3);
}

// All that is asked for lies in pages: nothing has to come as cells.
TEST_F(QueryNumbersTest, SettledNumbersAreNumbers) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { a: int, b: { type: double, encoding: "
          "float64_be }, c: double }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  for (int64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(writer.Add({{"h"}, kStart + i * kMicrosPerSecond, {"3", "0.5", "7.25"}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  EXPECT_EQ(Ask(schema, {.aggregates = {Aggregate::kSum, Aggregate::kCount}}, &numbers),
            fmt::format("h {} 1500 500 250 500 3625 500\n1500 cells", kStart));
  EXPECT_EQ(numbers.numbers_seen, 1'500u);
  EXPECT_EQ(numbers.texts_seen, 0u);
}

TEST_F(QueryNumbersTest, AnswerOfOpenSeriesAsRowsDo) {
  Declarations declarations(local_.get(), &clock_);
  SeededRandom random(5);
  IngestBatch batch(&declarations, local_.get(), {});
  for (int i = 0; i < 2'000; ++i) {
    const std::string host = fmt::format("host{}", random.Uniform(kHosts));
    const std::string value = fmt::format("{}", random.Uniform(1'000));
    const std::vector<std::pair<std::string_view, std::string_view>> labels = {{"host", host}};
    std::vector<LineField> fields = {{"x", LineValueType::kFloat, value}};
    if (random.Uniform(3) != 0) fields.push_back({"y", LineValueType::kFloat, value});
    const std::string identity = "s," + host;
    ASSERT_TRUE(batch
                    .Add({"s", identity, &labels, &fields,
                          kStart + static_cast<int64_t>(random.Uniform(7'200)) * kMicrosPerSecond})
                    .ok());
    ASSERT_TRUE(batch.Flush().ok());
  }
  Settle();
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  IdleWorkers workers(3);
  const KnownSeriesRef series = declarations.Find("s");
  ASSERT_NE(series, nullptr);
  for (const std::vector<size_t>& fields : std::vector<std::vector<size_t>>{{}, {0}, {1}, {1, 0}}) {
    for (const bool has_change : {false, true}) {
      Query query{.fields = fields, .aggregates = {Aggregate::kSum, Aggregate::kCount, Aggregate::kLast}};
      query.selection.tags = {{.values = {"host1", "host4"}}};
      query.every = ParseBucketWidth("10m").value();
      if (has_change) query.change = Change::kIncrease;
      const std::string answer = Ask(*series, query, &rows);
      ASSERT_EQ(Ask(*series, query, &numbers), answer);
      query.selection.tags = {{}};
      const std::string of_all = Ask(*series, query, &rows);
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(*series, query, &numbers), of_all);
    }
  }
  EXPECT_GT(numbers.numbers_seen, 500u);
}

// Also while nothing that is read was asked for.
TEST_F(QueryNumbersTest, EndWhenTheyAreInterrupted) {
  IdleWorkers workers(3);
  for (const char* key : {"bucket: hour\nkey: [host, bucket]", "layout: row\nkey: [host, time]",
                          "layout: row\nkey: [{ salt: 4, of: time }, host, time]"}) {
    const std::string name = fmt::format("s{}", std::string_view(key).size());
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: {}\ntags: {{ host: string }}\nfields: {{ x: double }}\n{}\n", name, key),
            "x.yaml")
            .value();
    ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
    PointWriter writer(schema, local_.get());
    for (int64_t i = 0; i < 20'000; ++i) {
      const std::string host = fmt::format("h{:04}", i % 2'000);
      ASSERT_TRUE(writer.Add({{host}, kStart + i * kMicrosPerSecond, {"1"}}).ok());
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
    Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      std::vector<Query> queries = {
          {}, {.latest = 3}, {.aggregates = {Aggregate::kSum}}, {.change = Change::kDelta}};
      // A pattern that no key begins with: all rows are read, and none is asked for.
      queries.push_back({.conditions = {{0, ".*none"}}, .aggregates = {Aggregate::kSum}});
      for (Query& query : queries) {
        std::atomic<int> asked = 0;
        query.interrupted = [&] {
          return ++asked >= 3 ? absl::CancelledError("nobody waits") : absl::OkStatus();
        };
        EXPECT_EQ(Ask(schema, query, tables), "CANCELLED: nobody waits") << key;
        asked = 0;
        query.idle_workers = &workers;
        EXPECT_EQ(Ask(schema, query, tables), "CANCELLED: nobody waits") << key << " in parts";
        query.interrupted = [] { return absl::OkStatus(); };
        EXPECT_THAT(Ask(schema, query, tables), testing::HasSubstr(" cells")) << key;
      }
    }
  }
}

// Ints beyond 2^53, too, come out of pages as numbers, packed as integers and as texts.
TEST_F(QueryNumbersTest, SettledIntsBeyondDoublesAreNumbers) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { n: { type: int, encoding: int64_be }, t: int }\n"
          "bucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  constexpr int64_t kFirst = (int64_t{1} << 53) + 1;
  int64_t sum = 0;
  for (int64_t i = 0; i < 500; ++i) {
    const std::string text = fmt::format("{}", kFirst + 2 * i);
    sum += kFirst + 2 * i;
    ASSERT_TRUE(writer.Add({{"h"}, kStart + i * kMicrosPerSecond, {text, text}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  EXPECT_EQ(Ask(schema,
                {.aggregates = {Aggregate::kSum, Aggregate::kMin, Aggregate::kMax, Aggregate::kFirst,
                                Aggregate::kLast}},
                &numbers),
            fmt::format("h {0} {1} {2} {3} {2} {3} {1} {2} {3} {2} {3}\n1000 cells", kStart, sum, kFirst,
                        kFirst + 998));
  EXPECT_EQ(numbers.numbers_seen, 1'000u);
  EXPECT_EQ(numbers.texts_seen, 0u);
}

// Ints beyond 2^53, which doubles do not tell apart: in the head, in pages, and among others that are small.
TEST_F(QueryNumbersTest, IntsAreExact) {
  const auto schema = ParseSchema(
      "series: s\ntags: { host: string }\nfields: { n: { type: int, encoding: int64_be }, t: int }\n"
      "bucket: hour\nkey: [host, bucket]\nretention: { max_versions: all }\n",
      "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_TRUE(EnsureSeriesTables(*schema, local_.get()).ok());
  const std::vector<int64_t> values = {9007199254740993,  -5, 9007199254740995, 9007199254740999,
                                       17000000001234567, 3,  -9007199254740993};
  PointWriter writer(*schema, local_.get());
  int64_t second = 0, sum_n = 0, sum_t = 0;
  for (int64_t i = 0; i < 900; ++i) {
    // Small ones first, so that pages begin with numbers; of t, some are missing.
    const int64_t value = i < 600 ? i : values[static_cast<size_t>(i) % values.size()];
    const bool has_t = i % 3 != 0;
    sum_n += value;
    if (has_t) sum_t += value;
    const std::string text = fmt::format("{}", value);
    ASSERT_TRUE(writer.Add({{"h"}, kStart + ++second * kMicrosPerSecond, {text, has_t ? text : ""}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  for (const bool is_settled : {false, true}) {
    if (is_settled) Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      const int64_t first_micros = kStart + kMicrosPerSecond;
      EXPECT_EQ(Ask(*schema, {.aggregates = {Aggregate::kSum, Aggregate::kMin, Aggregate::kMax}}, tables),
                fmt::format("h {} {} -9007199254740993 17000000001234567 {} -9007199254740993 "
                            "17000000001234567\n1500 cells",
                            first_micros, sum_n, sum_t));
      Query last{.fields = {0}, .aggregates = {Aggregate::kFirst, Aggregate::kLast, Aggregate::kAvg}};
      last.selection = {{}, kStart + 602 * kMicrosPerSecond, kStart + 604 * kMicrosPerSecond};
      // 601 is values[5] at 602; 602 is values[0].
      EXPECT_THAT(Ask(*schema, last, tables),
                  testing::StartsWith(fmt::format("h {} {} {} ", kStart + 602 * kMicrosPerSecond,
                                                  values[601 % 7], values[602 % 7])));
      Query windows{.fields = {0}, .every = ParseBucketWidth("1h").value(), .aggregates = {Aggregate::kMax}};
      windows.windows = {1, 2};
      EXPECT_THAT(Ask(*schema, windows, tables), testing::HasSubstr(" 17000000001234567 17000000001234567"));
      Query deltas{.fields = {0}, .change = Change::kDelta};
      deltas.selection = {{}, kStart + 603 * kMicrosPerSecond, kStart + 609 * kMicrosPerSecond};
      std::string expected;
      for (int64_t i = 603; i < 608; ++i) {
        expected += fmt::format("h {} {}\n", kStart + (i + 1) * kMicrosPerSecond,
                                values[static_cast<size_t>(i) % 7] - values[static_cast<size_t>(i - 1) % 7]);
      }
      EXPECT_THAT(Ask(*schema, deltas, tables), testing::StartsWith(expected));
      Query top{.fields = {0}, .top = Top{1, ""}};
      top.selection = {{}, kStart + 604 * kMicrosPerSecond, kStart + 607 * kMicrosPerSecond};
      // The aggregates of 603, 604 and 605.
      EXPECT_THAT(
          Ask(*schema, top, tables),
          testing::StartsWith(fmt::format("h {} 9007199254740999\n", kStart + 606 * kMicrosPerSecond)));
    }
  }
}

TEST_F(QueryNumbersTest, IntsThatLeaveTheir64BitsAreTold) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\nbucket: hour\n"
                                  "key: [host, bucket]\nderive:\n  - rollup: { table: r, every: hour, "
                                  "aggregates: [sum, max] }\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  int64_t second = 0;
  for (const char* n : {"9223372036854775807", "-2", "5"}) {
    ASSERT_TRUE(writer.Add({{"h"}, kStart + ++second * kMicrosPerSecond, {n}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  for (TableAccess* const tables : {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
    const auto ask = [&](const Query& query) { return Ask(schema, query, tables); };
    EXPECT_EQ(ask({.aggregates = {Aggregate::kSum}}),
              "OUT_OF_RANGE: sum(n): 9223372036854775810 leaves the 64 bits of an int");
    // What passes them on its way does not.
    Query two{.aggregates = {Aggregate::kSum}};
    two.selection.to_micros = kStart + 3 * kMicrosPerSecond;
    EXPECT_EQ(ask(two), fmt::format("h {} 9223372036854775805\n2 cells", kStart + kMicrosPerSecond));
    EXPECT_EQ(ask({.aggregates = {Aggregate::kAvg}}).substr(0, 40),
              fmt::format("h {} 3.074457346e+18\n3 cells", kStart + kMicrosPerSecond).substr(0, 40));
    EXPECT_EQ(ask({.change = Change::kDelta}),
              "OUT_OF_RANGE: delta(n): -9223372036854775809 leaves the 64 bits of an int");
    EXPECT_EQ(ask({.aggregates = {Aggregate::kSum}, .change = Change::kDelta}),
              fmt::format("h {} -9223372036854775802\n3 cells", kStart + kMicrosPerSecond));
    // A roll-up's row has the digits of its sum, and can be read as it is.  What is made of it is told.
    const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
    const std::string row = fmt::format("h {} 9223372036854775810 9223372036854775807\n", kStart);
    EXPECT_EQ(Ask(rollup, {}, tables), row + "2 cells");
    EXPECT_EQ(Ask(rollup, {.latest = 1}, tables), row + "2 cells");
    EXPECT_EQ(Ask(rollup, {.aggregates = {Aggregate::kMax}}, tables),
              "OUT_OF_RANGE: field 'n_sum': 9223372036854775810 leaves the 64 bits of an int");
    EXPECT_EQ(Ask(rollup, {.fields = {1}}, tables), fmt::format("h {} 9223372036854775807\n1 cells", kStart));
  }
}

// A row of an earlier version, where ints are written as doubles are.
TEST_F(QueryNumbersTest, OldRollupsAreRead) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\nbucket: hour\n"
                                  "key: [host, bucket]\nderive:\n  - rollup: { table: r, every: hour, "
                                  "aggregates: [sum, max] }\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
  const KeyCodec codec(rollup);
  for (int64_t hour = 0; hour < 3; ++hour) {
    RowWrite row;
    const std::vector<std::string_view> tags = {"h"};
    ASSERT_TRUE(codec.Encode(tags, kStart + hour * kMicrosPerHour, &row.row_key).ok());
    row.cells.push_back({"m", "n_sum", kStart, hour == 0 ? "1.2e+17" : "12"});
    row.cells.push_back({"m", "n_max", kStart, "9007199254740992"});
    ASSERT_TRUE((*local_->MutateRows("r", {row}))[0].ok());
  }
  for (const bool is_settled : {false, true}) {
    if (is_settled) Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      EXPECT_EQ(Ask(rollup, {.aggregates = {Aggregate::kSum}}, tables),
                fmt::format("h {} 120000000000000024 27021597764222976\n6 cells", kStart));
    }
  }
}

// A table that has roll-ups forgets later than its series does.
TEST_F(QueryNumbersTest, LeaveOutWhatIsForgotten) {
  const int64_t now_micros = clock_.NowMicros();
  const int64_t alive_micros = now_micros - 30 * kMicrosPerDay;
  const int64_t late_micros = alive_micros + 10 * kMicrosPerMinute;
  const BucketWidth day = ParseBucketWidth("day").value();
  for (const char* text : {"bucket: day\nkey: [host, bucket]", "layout: row\nkey: [host, time]"}) {
    const std::string name(text[0] == 'b' ? "cells" : "rows");
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: {0}\ntags: {{ host: string }}\nfields: {{ x: int }}\n{1}\nretention: {{ "
                        "max_age: 30d }}\nderive: [ rollup: {{ table: {0}_day, every: day, aggregates: "
                        "[count], retention: 5y }} ]\n",
                        name, text),
            "x.yaml")
            .value();
    ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
    // They were written when all of them were alive.
    const ManualClock before(now_micros - 2 * kMicrosPerDay);
    PointWriter writer(schema, local_.get(), {}, &before);
    int64_t all = 0, alive = 0, of_day = 0;
    for (int64_t time = day.Start(late_micros); time < alive_micros + kMicrosPerDay;
         time += 10 * kMicrosPerMinute) {
      ASSERT_TRUE(writer.Add({{"h"}, time, {"1"}}).ok());
      ++all;
      if (time >= alive_micros) ++alive;
      if (day.Start(time) == day.Start(late_micros)) ++of_day;
    }
    ASSERT_TRUE(writer.Flush().ok());
    Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* tables : {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      const auto count = [&](const Query& query) {
        int64_t points = 0;
        EXPECT_TRUE(RunQuery(schema, query, tables, [&](const ResultRow& row) {
                      const auto* counted = std::get_if<int64_t>(row.values.data());
                      points += query.aggregates.empty() ? 1 : *counted;
                      return true;
                    }).ok());
        return points;
      };
      EXPECT_EQ(count({.aggregates = {Aggregate::kCount}}), all);
      EXPECT_EQ(count({.aggregates = {Aggregate::kCount}, .now_micros = now_micros}), alive);
      EXPECT_EQ(count({.latest = all, .now_micros = now_micros}), alive);
      EXPECT_EQ(count({.now_micros = now_micros}), alive);
    }
    // One comes late, twice: its day is right, though most of it is forgotten.
    for (int times = 0; times < 2; ++times) {
      PointWriter late(schema, local_.get());
      ASSERT_TRUE(late.Add({{"h"}, late_micros + kMicrosPerMinute, {"1"}}).ok());
      ASSERT_TRUE(late.Flush().ok());
      EXPECT_EQ(late.rollups()->pieces_too_old(), 0);
      Query query;
      query.selection = {{{}}, day.Start(late_micros), day.End(late_micros)};
      const int64_t with_late = day.Start(late_micros + kMicrosPerMinute) == day.Start(late_micros) ? 1 : 0;
      EXPECT_THAT(Ask(MakeRollupSchema(schema, schema.rollups[0]), query, local_.get()),
                  testing::StartsWith(fmt::format("h {} {}\n", day.Start(late_micros), of_day + with_late)));
    }
  }
}

// A cell that the declaration never writes is told either way.
TEST_F(QueryNumbersTest, TellOfCellsThatAreNoInts) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: double }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  const SeriesSchema as_int =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: int }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  ASSERT_TRUE(writer.Add({{"h"}, kStart, {"1.5"}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_TRUE(engine_->SettleAll().ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  const Query query{.fields = {0}, .aggregates = {Aggregate::kSum}};
  EXPECT_EQ(Ask(as_int, query, &numbers), "DATA_LOSS: field 'x': the cell '1.5' is not an int");
  EXPECT_EQ(Ask(as_int, query, &rows), Ask(as_int, query, &numbers));
}

}  // namespace
}  // namespace sonde::series
