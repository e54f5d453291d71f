// Queries whose scans are divided among idle processors give what one thread gives.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "engine/forwarding_engine.h"
#include "sql/exec/exec_test_support.h"
#include "work/idle_workers.h"

namespace sonde::sql {
namespace {

// Divides at every few keys, and leaves a rest now and then.
class DividingEngine final : public ForwardingEngine, private RangeSizes {
 public:
  using ForwardingEngine::ForwardingEngine;

  RangeSizes* range_sizes() override { return this; }
  void DivideAt(std::vector<std::string> keys) { keys_ = std::move(keys); }

 private:
  static constexpr size_t kPartsAtOnce = 7;

  absl::StatusOr<std::vector<uint64_t>> Measure(TableId /*table*/, const std::vector<std::string>& starts,
                                                const std::string& /*end*/,
                                                absl::Time /*deadline*/) override {
    return std::vector<uint64_t>(starts.size());
  }
  absl::StatusOr<DividedRanges> Divide(TableId /*table*/, FamilyId /*family*/,
                                       const std::vector<RowRange>& ranges) override {
    DividedRanges divided;
    std::string start;
    for (const std::string& key : keys_) {
      if (divided.parts.size() == kPartsAtOnce) break;
      std::vector<RowRange> part = ClipRanges(ranges, RowRange{start, key});
      if (part.empty()) continue;
      divided.parts.push_back(std::move(part));
      start = key;
    }
    divided.rest = ClipRanges(ranges, RowRange{start, ""});
    if (divided.parts.size() < 2) return DividedRanges{.parts = {ranges}, .rest = {}};
    return divided;
  }

  std::vector<std::string> keys_;
};

class DividedTest : public ExecTest {
 protected:
  static constexpr int kRows = 700;

  void SetUp() override {
    ExecTest::SetUp();
    std::mt19937_64 random(7);
    std::vector<std::string> splits;
    for (int row = 0; row < kRows; ++row) {
      const std::string key = "r" + std::to_string(10'000 + row);
      Put(key, "a", "g", 1, std::to_string(random() % 13));
      if (row % 5 != 0) Put(key, "a", "v", 2, std::to_string(static_cast<int>(random() % 2000) - 1000));
      if (row % 7 == 0) Put(key, "a", "v", 3, std::to_string(random() % 90) + ".25");
      if (row % 3 == 0) Put(key, "z", "s", 1, "text " + std::to_string(random() % 50));
      if (row % (1 + random() % 9) == 0) splits.push_back(key);
    }
    dividing_.DivideAt(splits);
  }

  ExecutionEnvironment Divided() {
    ExecutionEnvironment environment;
    environment.tables = &divided_tables_;
    environment.idle_workers = &workers_;
    return environment;
  }

  void ExpectSame(const std::string& sql) {
    EXPECT_NE(Query("EXPLAIN ANALYZE " + sql, Divided()).find(" parts, "), std::string::npos) << sql;
    EXPECT_EQ(Query(sql, Divided()), Query(sql)) << sql;
  }

  IdleWorkers workers_{3};
  DividingEngine dividing_{engine_.get()};
  Tables divided_tables_{&dividing_, catalog_.get(), &clock_, /*seed=*/1};
};

constexpr char kNumber[] = "SAFE_CAST(CAST(a['v'] AS STRING) AS FLOAT64)";

TEST_F(DividedTest, GroupsAreThoseOfOneThread) {
  const std::string v = kNumber;
  for (const std::string& sql : std::vector<std::string>{
           "SELECT COUNT(*), SUM(" + v + "), AVG(" + v + "), STDDEV(" + v +
               "), MIN(a['v']), MAX(a['v']) FROM t",
           "SELECT a['g'], COUNT(*), COUNT(a['v']), SUM(" + v + "), AVG(" + v +
               "), ANY_VALUE(_key) FROM t GROUP BY 1",
           "SELECT a['g'], STRING_AGG(CAST(z['s'] AS STRING)), ARRAY_AGG(_key) FROM t GROUP BY 1",
           "SELECT z['s'], a['g'], VAR_POP(" + v + "), CORR(" + v + ", 2 * " + v + ") FROM t WHERE " + v +
               " > -500 GROUP BY 1, 2",
           std::string("SELECT COUNT(*) FROM t WHERE _key BETWEEN 'r10100' AND 'r10500' AND a['g'] = '7'"),
           "SELECT COUNT(*), SUM(x) FROM (SELECT " + v + " / 3 AS x FROM t) WHERE x < 0",
           std::string("SELECT _timestamp, COUNT(*) FROM UNPACK((SELECT _key, a['v'] AS v FROM "
                       "t(with_history => TRUE))) "
                       "GROUP BY 1"),
           std::string("SELECT a['g'], COUNT(*) AS n FROM t GROUP BY 1 ORDER BY n DESC, 1 LIMIT 5"),
           std::string("SELECT COUNT(*) FROM t"),
           std::string("SELECT MIN(_key), MAX(_key), COUNT(*) FROM t WHERE _key > 'r10030'"),
           std::string(
               "SELECT n, COUNT(*) FROM (SELECT a['g'] AS g, COUNT(*) AS n FROM t GROUP BY 1) GROUP BY 1"),
       }) {
    ExpectSame(sql);
  }
}

TEST_F(DividedTest, RowsThatAreSortedComeAsFromOneThread) {
  const std::string v = kNumber;
  for (const std::string& sql : std::vector<std::string>{
           "SELECT _key, a, " + v + " AS x FROM t WHERE a['g'] > '3' ORDER BY x DESC",
           "SELECT a['g'] AS g, z['s'] FROM t WHERE z['s'] IS NOT NULL ORDER BY g LIMIT 20",
           "SELECT a['g'], COUNT(DISTINCT z['s']) FROM t WHERE " + v + " > 0 GROUP BY 1",
           "SELECT _key, x FROM (SELECT _key, " + v +
               " AS x FROM t) WHERE x IS NOT NULL ORDER BY x, _key LIMIT 9"}) {
    ExpectSame(sql);
  }
}

// Queries whose rows stream.
std::vector<std::string> StreamingQueries() {
  const std::string v = kNumber;
  const std::string history = "UNPACK((SELECT _key, a['v'] AS v, a['g'] AS g FROM t(with_history => TRUE)))";
  return {"SELECT _key, a, z['s'], " + v + " AS x FROM t WHERE a['g'] > '3'",
          "SELECT * FROM t WHERE " + v + " < 0 AND _key > 'r10017'",
          "SELECT _key FROM t WHERE a['g'] = '7' LIMIT 30 OFFSET 5",
          "SELECT _key FROM t WHERE a['g'] = '7' LIMIT 2",
          "SELECT _key, v, _timestamp FROM " + history + " WHERE v IS NOT NULL AND g IS NULL",
          "SELECT _key, e FROM t, UNNEST(GENERATE_ARRAY(1, LENGTH(a['v']))) AS e WHERE e > 1",
          "SELECT _key, e FROM " + history + ", UNNEST([1, 2, 3]) AS e WHERE v > '5' AND e != 2",
          "SELECT _key FROM t WHERE z['s'] = 'nowhere'"};
}

TEST_F(DividedTest, RowsThatStreamComeAsFromOneThread) {
  for (const std::string& sql : StreamingQueries()) ExpectSame(sql);
}

TEST_F(DividedTest, GoOnBehindEachBatchHoweverTheyWereRead) {
  for (const std::string& sql : StreamingQueries()) {
    const BoundQuery query = *BindText(sql);
    const std::string all = Query(sql);
    const auto execution = *Execute(query, {}, Divided());
    std::string before;
    rows::Batch batch;
    while (*execution->Next(&batch)) {
      AppendRows(TypesOf(query), batch, &before);
      const std::optional<std::string> point = execution->ResumePoint();
      ASSERT_TRUE(point.has_value()) << sql;
      for (ExecutionEnvironment environment : {Environment(), Divided()}) {
        environment.resume_after = *point;
        const auto resumed = Execute(query, {}, environment);
        ASSERT_TRUE(resumed.ok()) << resumed.status();
        ASSERT_TRUE(before + Rest(resumed->get(), TypesOf(query)) == all)
            << sql << " behind " << before.size();
      }
    }
    EXPECT_TRUE(before == all) << sql;
    ExecutionEnvironment at_end = Divided();
    at_end.resume_after = *execution->ResumePoint();
    EXPECT_EQ(Rest(Execute(query, {}, at_end)->get(), TypesOf(query)), "");
  }
}

TEST_F(DividedTest, GiveTheSameWhereTheyAreSuspended) {
  for (const std::string& sql : StreamingQueries()) {
    const BoundQuery query = *BindText(sql);
    const std::string all = Query(sql);
    for (const int batches : {0, 1, 2, 5, 17}) {
      const auto execution = *Execute(query, {}, Divided());
      std::string text;
      rows::Batch batch;
      int given = 0;
      bool more = true;
      while (more && given < batches) {
        ++given;
        more = *execution->Next(&batch);
        if (more) AppendRows(TypesOf(query), batch, &text);
      }
      execution->Suspend();
      // Its last batch is still there.
      std::string again;
      if (more && given > 0) AppendRows(TypesOf(query), batch, &again);
      EXPECT_TRUE(text.ends_with(again));
      EXPECT_TRUE(text + (more ? Rest(execution.get(), TypesOf(query)) : "") == all)
          << sql << " after " << given;
    }
  }
}

TEST_F(DividedTest, TheFirstRowsComeAtOnce) {
  const BoundQuery query = *BindText("SELECT _key FROM t WHERE a['g'] < '9'");
  const auto execution = *Execute(query, {}, Divided());
  rows::Batch batch;
  ASSERT_TRUE(*execution->Next(&batch));
  EXPECT_LT(execution->rows_scanned(), static_cast<uint64_t>(kRows / 10));
}

TEST_F(DividedTest, NobodyReadsBehindALimitThatIsReached) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  ExecutionEnvironment environment = Divided();
  environment.interrupted = [calls]() -> absl::Status {
    calls->fetch_add(1);
    return absl::OkStatus();
  };
  const BoundQuery query = *BindText("SELECT _key FROM t WHERE a['g'] < '9' LIMIT 60");
  const auto execution = *Execute(query, {}, environment);
  Rest(execution.get(), TypesOf(query));
  const int calls_until_end = calls->load();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(calls->load(), calls_until_end);
}

TEST_F(DividedTest, AreOneThreadsWorkWhereRowsDependOnEachOther) {
  for (const std::string_view sql :
       {"SELECT COUNT(*) FROM t WHERE RAND() < 2", "SELECT COUNT(DISTINCT a['g']) FROM t",
        "SELECT ARRAY_AGG(a['g'] ORDER BY _key DESC LIMIT 3) FROM t",
        "SELECT COUNT(*) FROM t WHERE a['g'] = (SELECT MIN(a['g']) FROM t)",
        "SELECT APPROX_COUNT_DISTINCT(_key) FROM t"}) {
    const std::string explained = Query("EXPLAIN ANALYZE " + std::string(sql), Divided());
    EXPECT_EQ(explained.find(" parts, "), std::string::npos) << explained;
    EXPECT_EQ(Query(sql, Divided()), Query(sql)) << sql;
  }
}

TEST_F(DividedTest, FailWithTheFirstErrorOfOneThread) {
  // In the rows with a fraction, of which there are many.
  for (const std::string_view sql :
       {"SELECT SUM(CAST(CAST(a['v'] AS STRING) AS INT64)) FROM t",
        "SELECT a['g'], COUNT(*) FROM t WHERE CAST(CAST(a['v'] AS STRING) AS INT64) > 0 GROUP BY 1",
        "SELECT a FROM t WHERE CAST(CAST(a['v'] AS STRING) AS INT64) > 0 ORDER BY a['g']"}) {
    const std::string error = Query(sql);
    EXPECT_NE(error.find(".25"), std::string::npos) << error;
    EXPECT_EQ(Query(sql, Divided()), error);
  }
  // Where rows stream, those that come before the error depend on how long batches are.
  const std::string_view streams =
      "SELECT _key FROM t WHERE _key > 'r10100' AND CAST(CAST(a['v'] AS STRING) AS INT64) > 0";
  const std::string error = Query(streams);
  EXPECT_TRUE(error.starts_with("OUT_OF_RANGE: Bad int64 value")) << error;
  EXPECT_TRUE(Query(streams, Divided()).ends_with(error));
}

TEST_F(DividedTest, CountTheRowsOnce) {
  const absl::StatusOr<BoundQuery> query = BindText("SELECT COUNT(*) FROM t WHERE a['g'] = '3'");
  ASSERT_TRUE(query.ok());
  const auto execution = *Execute(*query, {}, Divided());
  Rest(execution.get(), TypesOf(*query));
  EXPECT_EQ(execution->rows_scanned(), static_cast<uint64_t>(kRows));
}

TEST_F(DividedTest, NeedNoMoreThanTheLimitOfOneThread) {
  const std::string sql = "SELECT _key, ARRAY_AGG(REPEAT(a['g'], 3000)), COUNT(*) FROM t GROUP BY 1";
  const auto with_limit = [](ExecutionEnvironment environment, int64_t limit, int64_t* most) {
    environment.hold = [held = std::make_shared<int64_t>(0), limit, most](int64_t more) -> absl::Status {
      if (more > 0 && *held + more > limit) return absl::ResourceExhaustedError("too much");
      *held += more;
      *most = std::max(*most, *held);
      return absl::OkStatus();
    };
    return environment;
  };
  int64_t most = 0;
  const std::string answer = Query(sql, with_limit(Environment(), int64_t{1} << 30, &most));
  const int64_t limit = most;
  ASSERT_GT(limit, 1 << 20);
  most = 0;
  EXPECT_EQ(Query(sql, with_limit(Divided(), limit, &most)), answer);
  EXPECT_LE(most, limit);
  const std::string refused = Query(sql, with_limit(Environment(), limit / 4, &most));
  EXPECT_NE(refused.find("RESOURCE_EXHAUSTED"), std::string::npos) << limit << refused.substr(0, 200);
  EXPECT_EQ(Query(sql, with_limit(Divided(), limit / 4, &most)).substr(0, 30), refused.substr(0, 30));

  const std::string path = testing::TempDir() + "/sonde_divided_spill_" + std::to_string(getpid());
  std::filesystem::remove_all(path);
  SpillSpace spill(path, {});
  const auto sorted = [](std::string text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      lines.push_back(text.substr(at, text.find('\n', at) - at));
    }
    std::ranges::sort(lines);
    return lines;
  };
  ExecutionEnvironment spilling = with_limit(Divided(), limit / 4, &most);
  spilling.spill = &spill;
  const std::string spilled = Query(sql, spilling);
  EXPECT_TRUE(sorted(spilled) == sorted(answer)) << spilled.substr(0, 300);
}

TEST_F(DividedTest, EndWhenTheyAreInterrupted) {
  for (const int calls : {1, 20, 60}) {
    ExecutionEnvironment environment = Divided();
    environment.interrupted = [left = std::make_shared<int>(calls)]() -> absl::Status {
      return --*left < 0 ? absl::CancelledError("The client has gone") : absl::OkStatus();
    };
    EXPECT_EQ(Query("SELECT a['g'], COUNT(*) FROM t GROUP BY 1", environment),
              "CANCELLED: The client has gone");
  }
}

TEST_F(DividedTest, RandomQueriesGiveTheSame) {
  std::mt19937_64 random(11);
  const std::string columns[] = {"_key", "a['g']", "a['v']", "z['s']", "MOD(LENGTH(_key), 3)"};
  const std::string aggregates[] = {"COUNT(*)",
                                    "COUNT(z['s'])",
                                    "SUM(x)",
                                    "AVG(x)",
                                    "MAX(s)",
                                    "MIN(x)",
                                    "ANY_VALUE(s)",
                                    "COUNTIF(x > 3)",
                                    "VAR_SAMP(x)",
                                    "STRING_AGG(s)",
                                    "LOGICAL_OR(x > 900)"};
  const std::string conditions[] = {
      "TRUE",          "a['g'] > '4'", "x < 100", "_key >= 'r10200'", "_key < 'r10400' AND x IS NULL",
      "s IS NOT NULL", "FALSE"};
  for (int round = 0; round < 60 * CampaignScale(); ++round) {
    std::string sql = "SELECT ";
    const size_t keys = random() % 3;
    std::string by;
    for (size_t i = 0; i < keys; ++i) {
      sql += columns[random() % std::size(columns)] + ", ";
      by += (i == 0 ? " GROUP BY " : ", ") + std::to_string(i + 1);
    }
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      sql += (i == 0 ? "" : ", ") + aggregates[random() % std::size(aggregates)];
    }
    sql += " FROM (SELECT *, " + std::string(kNumber) + " AS x, CAST(z['s'] AS STRING) AS s FROM t) WHERE " +
           conditions[random() % std::size(conditions)] + by;
    EXPECT_EQ(Query(sql, Divided()), Query(sql)) << sql;
  }
}

}  // namespace
}  // namespace sonde::sql
