#include "sql/http/sql_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "access/permission.h"
#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "series/known/declarations.h"
#include "table/local_tables.h"
#include "table/mutate_row_test_support.h"

namespace sonde::sql {
namespace {

class SqlRoutesTest : public testing::Test {
 protected:
  SqlRoutesTest() {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    schema.families = {{.name = "f"}};
    schema_ = *catalog_->Create(schema);
    AddRoutes(Dialect::kSonde, 64 << 20);
  }

  void AddRoutes(Dialect dialect, int64_t bytes_max) {
    admission_ = std::make_unique<Admission>("requests over HTTP", Admission::Limits{64, bytes_max});
    router_ = Router();
    AddSqlRoutes({.tables = &tables_,
                  .dialect = dialect,
                  .bundles = &bundles_,
                  .series = &series_,
                  .admission = admission_.get(),
                  .requests = &requests_,
                  .queries = &queries_,
                  .is_ending = &is_ending_},
                 "p", "i", &router_);
  }

  void Put(const std::string& row, const std::string& value) {
    ASSERT_TRUE(MutateRow(tables_, *schema_, {row, {SetCell{"f", "q", 1'000, value}}}).ok());
  }

  HttpResponse Begin(const std::string& body, std::map<std::string, std::string> headers = {}) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/api/v1/sql";
    request.headers = std::move(headers);
    request.is_client_gone = [this] { return is_client_gone_.load(); };
    request.check_access = check_access_;
    request.count_write = count_write_;
    const Router::Match match = router_.Find(request.method, request.path);
    HttpBody source(SourceOf(body), match.route->body_bytes_max);
    HttpResponse response;
    const absl::Status status = match.route->handler(request, &source, &response);
    return status.ok() ? response : ErrorResponse(status);
  }
  static ByteSource SourceOf(std::string text) {
    return [text = std::move(text), at = size_t{0}](char* buffer,
                                                    size_t bytes_max) mutable -> absl::StatusOr<size_t> {
      const size_t bytes = text.copy(buffer, bytes_max, at);
      at += bytes;
      return bytes;
    };
  }
  // The whole answer, without a last line of stats; the longest part goes to `part_bytes_max_`.
  std::string Ask(const std::string& body, std::map<std::string, std::string> headers = {}) {
    HttpResponse response = Begin(body, std::move(headers));
    part_bytes_max_ = 0;
    for (bool goes_on = static_cast<bool>(response.stream); goes_on;) {
      std::string part;
      const absl::StatusOr<bool> more = response.stream(&part);
      if (!more.ok()) return response.body + "(cut off: " + more.status().ToString() + ")";
      goes_on = *more;
      part_bytes_max_ = std::max(part_bytes_max_, part.size());
      response.body += part;
    }
    const size_t stats = response.body.find("{\"stats\":");
    if (stats != std::string::npos) {
      last_stats_ = nlohmann::json::parse(response.body.substr(stats))["stats"];
      response.body.resize(stats);
    }
    return response.body;
  }
  std::string Query(const std::string& query, const std::string& rest = "") {
    return Ask("{\"query\":" + nlohmann::json(query).dump() + rest + "}");
  }
  // Returns the count in sonde_requests_total.
  uint64_t Counted(absl::StatusCode code) {
    for (const RequestMetrics::Method& method : requests_.Snapshot()) {
      if (method.name == SqlAnswer::kMethod) return method.by_code[static_cast<size_t>(code)];
    }
    return 0;
  }

  const std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  const std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  BundleFinder bundles_{catalog_.get()};
  SystemClock clock_;
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  SeriesFinder series_{&tables_};
  TableSchemaRef schema_;
  std::unique_ptr<Admission> admission_;
  RequestMetrics requests_;
  QueryMetrics queries_;
  Router router_;
  std::atomic<bool> is_client_gone_ = false;
  std::function<absl::Status(Permission, std::string_view)> check_access_;
  std::function<absl::Status()> count_write_;
  std::atomic<bool> is_ending_ = false;
  size_t part_bytes_max_ = 0;
  nlohmann::json last_stats_;
};

TEST_F(SqlRoutesTest, AnswersWithALineARow) {
  Put("a", "1");
  Put("b", "x");
  EXPECT_EQ(Query("SELECT _key, f['q'] AS q, 1 AS q FROM t WHERE _key >= @from",
                  R"(,"params":{"from":{"type":"BYTES","value":"a"}})"),
            "{\"columns\":[{\"name\":\"_key\",\"type\":\"BYTES\"},{\"name\":\"q\",\"type\":\"BYTES\"},"
            "{\"name\":\"q\",\"type\":\"INT64\"}]}\n"
            "[\"a\",\"1\",1]\n[\"b\",\"x\",1]\n");
  EXPECT_EQ(last_stats_["rows"], 2);
  EXPECT_EQ(last_stats_["rows_scanned"], 2);
  EXPECT_EQ(Query("SELECT _key FROM t WHERE _key = 'c'"),
            "{\"columns\":[{\"name\":\"_key\",\"type\":\"BYTES\"}]}\n");
  EXPECT_EQ(Counted(absl::StatusCode::kOk), 2u);
  EXPECT_EQ(admission_->Taken().requests, 0);
}

TEST_F(SqlRoutesTest, AnswersInCsvIfTheBodyOrAcceptSaysSo) {
  Put("a", "1,2");
  EXPECT_EQ(Query("SELECT _key, f['q'] AS q FROM t", R"(,"format":"csv")"), "_key,q\r\na,\"1,2\"\r\n");
  const std::string body = R"({"query":"SELECT _key FROM t"})";
  EXPECT_EQ(Ask(body, {{"accept", "text/csv"}}), "_key\r\na\r\n");
  EXPECT_EQ(Begin(body, {{"accept", "text/csv"}}).content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(Begin(body).content_type, "application/x-ndjson; charset=utf-8");
}

TEST_F(SqlRoutesTest, ErrorsHaveGoogleSqlsTextAndCode) {
  EXPECT_EQ(Query("SELECT nope"),
            "{\"error\":{\"code\":400,\"message\":\"Unrecognized name: nope [at 1:8]\","
            "\"status\":\"INVALID_ARGUMENT\"}}\n");
  EXPECT_EQ(Begin(R"({"query":"SELECT 1 FROM none"})").code, 404);
  EXPECT_EQ(
      Query("SELECT 1/0"),
      "{\"error\":{\"code\":400,\"message\":\"division by zero: 1 / 0\",\"status\":\"OUT_OF_RANGE\"}}\n");
  EXPECT_EQ(Counted(absl::StatusCode::kInvalidArgument), 1u);
  EXPECT_EQ(Counted(absl::StatusCode::kOutOfRange), 1u);
}

// Behind the first rows, the last line tells of an error; CSV breaks off.
TEST_F(SqlRoutesTest, ErrorsAmongRowsComeLast) {
  for (int i = 0; i < 2'000; ++i) Put("row" + std::to_string(10'000 + i), i == 1'999 ? "x" : "1");
  const std::string query = "SELECT CAST(CAST(f['q'] AS STRING) AS INT64) FROM t";
  const std::string answer = Query(query);
  EXPECT_TRUE(answer.starts_with("{\"columns\":[{\"name\":\"$col1\",\"type\":\"INT64\"}]}\n[1]\n[1]\n"));
  EXPECT_TRUE(answer.ends_with(
      "[1]\n{\"error\":{\"code\":400,\"message\":\"Bad int64 value: x\",\"status\":\"OUT_OF_RANGE\"}}\n"))
      << answer.substr(answer.size() - 200);
  EXPECT_TRUE(Query(query, R"(,"format":"csv")").ends_with("(cut off: OUT_OF_RANGE: Bad int64 value: x)"));
  EXPECT_EQ(Counted(absl::StatusCode::kOutOfRange), 2u);
}

TEST_F(SqlRoutesTest, PartsAreBoundedHoweverLongTheAnswer) {
  for (int i = 0; i < 300; ++i) Put("row" + std::to_string(1'000 + i), std::string(20'000, 'v'));
  const std::string answer = Query("SELECT _key, f['q'] FROM t");
  EXPECT_GT(answer.size(), 6'000'000u);
  EXPECT_LT(part_bytes_max_, 128u << 10);
  EXPECT_EQ(last_stats_["rows"], 300);
}

// The body may name any instance, so what the route needs cannot be decided before the body is read.
TEST_F(SqlRoutesTest, ChecksTheInstanceAndEachTable) {
  std::vector<std::string> asked;
  std::string denied;
  check_access_ = [&](Permission permission, std::string_view resource) {
    asked.push_back(std::string(NameOf(permission)) + " " + std::string(resource));
    return resource == denied ? absl::PermissionDeniedError("no") : absl::OkStatus();
  };
  const std::string refusal =
      "{\"error\":{\"code\":403,\"message\":\"no\",\"status\":\"PERMISSION_DENIED\"}}\n";
  EXPECT_EQ(Query("SELECT 1 AS one"), "{\"columns\":[{\"name\":\"one\",\"type\":\"INT64\"}]}\n[1]\n");
  EXPECT_EQ(asked, (std::vector<std::string>{"bigtable.instances.executeQuery projects/p/instances/i"}));

  asked.clear();
  denied = "projects/other/instances/one/tables/t";
  EXPECT_EQ(Query("SELECT * FROM t", R"(,"project":"other","instance":"one")"), refusal) << "there is none";
  EXPECT_EQ(asked,
            (std::vector<std::string>{"bigtable.instances.executeQuery projects/other/instances/one",
                                      "bigtable.tables.readRows projects/other/instances/one/tables/t"}));

  denied = "projects/other/instances/one";
  EXPECT_EQ(Query("SELECT 1", R"(,"project":"other","instance":"one")"), refusal);
  denied = "projects/p/instances/i/tables/t";
  EXPECT_EQ(Query("SELECT 1 FROM (SELECT _key FROM t)"), refusal);
  EXPECT_EQ(Counted(absl::StatusCode::kPermissionDenied), 3u);
}

TEST_F(SqlRoutesTest, InsertNeedsARightToWriteAndCountsAsAWrite) {
  LocalTables local(&tables_, "projects/p/instances/i");
  series::Declarations declarations(&local, &clock_);
  ASSERT_TRUE(
      declarations
          .Declare("series: boiler\ntable: boilers\ntags: { house: string }\nfields: { degrees: double }\n"
                   "key: [house, time]\nlayout: row\nderive:\n  - latest: boiler_now\n"
                   "  - period: { table: \"boiler_{yyyymm}\", every: month }\n")
          .ok());
  std::vector<std::string> asked;
  check_access_ = [&](Permission permission, std::string_view resource) {
    asked.push_back(std::string(NameOf(permission)) + " " + std::string(resource));
    return absl::OkStatus();
  };
  int writes = 0;
  count_write_ = [&] { return ++writes == 3 ? absl::ResourceExhaustedError("too many") : absl::OkStatus(); };
  constexpr std::string_view kInsert =
      "INSERT INTO series.boiler VALUES ('a', TIMESTAMP_SECONDS(10), 1.5), (NULL, TIMESTAMP_SECONDS(10), 1)";
  EXPECT_EQ(Query(std::string("EXPLAIN ") + std::string(kInsert)).substr(0, 10), "{\"columns\"");
  EXPECT_EQ(writes, 0) << "it is explained only";
  asked.clear();
  const std::string answer =
      R"({"columns":[{"name":"points","type":"INT64"},{"name":"refused","type":"INT64"},)"
      R"({"name":"first_refusal","type":"STRING"}]})"
      "\n[1,1,\"Row 2: tag house is NULL\"]\n";
  EXPECT_EQ(Query(std::string(kInsert)), answer);
  EXPECT_THAT(asked, testing::UnorderedElementsAre(
                         "bigtable.instances.executeQuery projects/p/instances/i",
                         "bigtable.tables.mutateRows projects/p/instances/i/tables/boilers",
                         "bigtable.tables.mutateRows projects/p/instances/i/tables/boiler_now",
                         "bigtable.tables.create projects/p/instances/i"));
  EXPECT_EQ(Query(std::string(kInsert)), answer) << "the same again is the same";
  EXPECT_EQ(Query("SELECT house, degrees FROM series.boiler"),
            R"({"columns":[{"name":"house","type":"STRING"},{"name":"degrees","type":"FLOAT64"}]})"
            "\n[\"a\",1.5]\n");
  EXPECT_EQ(writes, 2);
  EXPECT_THAT(Query(std::string(kInsert)), testing::HasSubstr("\"too many\""));
  check_access_ = [](Permission permission, std::string_view) {
    return NameOf(permission).ends_with("mutateRows") ? absl::PermissionDeniedError("no") : absl::OkStatus();
  };
  for (const std::string_view name : {"boiler", "none"}) {
    EXPECT_THAT(Query("INSERT INTO series." + std::string(name) + " VALUES ('b', TIMESTAMP_SECONDS(10), 2)"),
                testing::HasSubstr("\"code\":403"))
        << "which tells nobody whether there is a series";
  }
  EXPECT_EQ(writes, 3);
  AddRoutes(Dialect::kProduction, 64 << 20);
  EXPECT_THAT(Query(std::string(kInsert)), testing::HasSubstr("Statement not supported: InsertStatement"));
}

TEST_F(SqlRoutesTest, ProductionsLanguageRefusesExtensionsByName) {
  AddRoutes(Dialect::kProduction, 64 << 20);
  EXPECT_EQ(Query("WITH w AS (SELECT 1) SELECT * FROM w"),
            "{\"error\":{\"code\":501,\"message\":\"Not in the language of Bigtable: WITH [at 1:6]\","
            "\"status\":\"UNIMPLEMENTED\"}}\n");
}

TEST_F(SqlRoutesTest, TellsTheWordsOfTheLanguage) {
  HttpRequest request;
  HttpResponse response;
  ASSERT_TRUE(router_.Find("GET", "/api/v1/sql").route->handler(request, nullptr, &response).ok());
  const nlohmann::json words = nlohmann::json::parse(response.body);
  EXPECT_EQ(words["dialect"], "extended");
  EXPECT_EQ(words["keywords"][0], "ALL");
  EXPECT_EQ(words["functions"][0]["name"], "ABS");
  EXPECT_EQ(words["functions"][0]["signatures"][0], "(INT64) -> INT64");
}

TEST_F(SqlRoutesTest, AQueryHasHalfOfTheRoom) {
  for (int i = 0; i < 600; ++i) {
    Put("row" + std::to_string(1'000 + i), std::to_string(i) + std::string(20'000, 'v'));
  }
  AddRoutes(Dialect::kSonde, 16 << 20);
  const nlohmann::json error =
      nlohmann::json::parse(Query("SELECT f['q'] FROM t ORDER BY f['q'], _key"))["error"];
  EXPECT_EQ(error["status"], "RESOURCE_EXHAUSTED");
  EXPECT_NE(error["message"].get<std::string>().find("8388608 is the limit of a query"), std::string::npos)
      << error;
  EXPECT_EQ(admission_->Taken().bytes, 0);
  EXPECT_EQ(queries_.Figures()[3].samples[0].value, 0);  // nothing is held any more
}

TEST_F(SqlRoutesTest, AServerThatEndsEndsItsQueries) {
  is_ending_ = true;
  EXPECT_EQ(Query("SELECT 1"),
            "{\"error\":{\"code\":503,\"message\":\"The server is ending\",\"status\":\"UNAVAILABLE\"}}\n");
}

TEST_F(SqlRoutesTest, TimeoutAndGoneClientsEndAQuery) {
  const std::string endless =
      "SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 10000)) a, UNNEST(GENERATE_ARRAY(1, 10000)) b, "
      "UNNEST(GENERATE_ARRAY(1, 10000)) c";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(nlohmann::json::parse(Query(endless, R"(,"timeout_ms":100)"))["error"]["status"],
            "DEADLINE_EXCEEDED");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  std::thread client([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    is_client_gone_ = true;
  });
  EXPECT_EQ(nlohmann::json::parse(Query(endless))["error"]["status"], "CANCELLED");
  client.join();
  EXPECT_EQ(Counted(absl::StatusCode::kCancelled), 1u);
  const std::vector<EndedQuery> slow = queries_.Slowest(absl::Now());
  ASSERT_FALSE(slow.empty());
  EXPECT_TRUE(slow[0].text.starts_with("SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY"));
}

// A client that takes no more parts: the query ends with its answer.
TEST_F(SqlRoutesTest, AnAnswerThatNobodyTakesIsCancelled) {
  for (int i = 0; i < 300; ++i) Put("row" + std::to_string(1'000 + i), std::string(2'000, 'v'));
  {
    HttpResponse response = Begin(R"({"query":"SELECT _key, f['q'] FROM t"})");
    std::string part;
    ASSERT_TRUE(*response.stream(&part));
    EXPECT_EQ(admission_->Taken().requests, 1);
  }
  EXPECT_EQ(admission_->Taken().requests, 0);
  EXPECT_EQ(Counted(absl::StatusCode::kCancelled), 1u);
}

}  // namespace
}  // namespace sonde::sql
