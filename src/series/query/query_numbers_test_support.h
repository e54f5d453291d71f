// Series in an engine that has pages, and questions that are answered from numbers or from rows.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/wide_int.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/point_writer.h"
#include "table/local_tables.h"

namespace sonde::series {

inline constexpr int64_t kStart = 18690 * kMicrosPerDay;
inline constexpr int kHosts = 9;

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
    // How far ahead was read when there was enough is nobody's business.  Of rows that are not asked for, numbers are not read.
    const bool reads_all =
        !query.rows_max && query.conditions.empty() && query.selection.from_micros == kTimeBeginMicros &&
        std::ranges::all_of(query.selection.tags, [](const TagFilter& filter) { return filter.IsAny(); });
    return answer + (reads_all ? fmt::format("{} cells", stats->cells_read) : "");
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

}  // namespace sonde::series
