// INSERT INTO series.NAME.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/exec/series_test_support.h"

namespace sonde::sql {
namespace {

using testing::HasSubstr;

// `layout`: lines of a declaration.
std::string Declaration(std::string_view name, std::string_view layout) {
  return fmt::format(
      "series: {0}\ntable: {0}s\ntags: {{ site: string, number: int }}\nfields: {{ pressure: double, n: int, "
      "note: "
      "string }}\nretention: {{ max_versions: all }}\n{1}",
      name, layout);
}

constexpr std::string_view kHours = "key: [site, number, bucket]\nbucket: hour\n";

class InsertTest : public SeriesTest {
 protected:
  void SetUp() override {
    SeriesTest::SetUp();
    Declare(Declaration("balloon", kHours));
  }

  absl::StatusOr<BoundQuery> BindInsert(std::string_view sql, InstanceNames::MayWrite may_write = {},
                                        Dialect dialect = Dialect::kSonde,
                                        std::vector<QueryParameter> parameters = {}) {
    InstanceNames names(catalog_.get(), &bundles_, &finder_, kInstance, dialect);
    names.AllowInserts(std::move(may_write));
    return ParseAndBind(sql, names.Options(std::move(parameters)));
  }
  std::string Run(std::string_view sql, const ExecutionEnvironment& environment) {
    const absl::StatusOr<BoundQuery> query = BindInsert(sql);
    if (!query.ok()) return query.status().ToString();
    const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(*query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    std::vector<Type> types;
    for (const OutputColumn& column : query->columns) types.push_back(column.type);
    return Rest(execution->get(), types);
  }
  std::string Run(std::string_view sql) { return Run(sql, Environment()); }
  std::string All(std::string_view name = "balloon") {
    return Ask(fmt::format("SELECT * FROM series.{} ORDER BY site, number, time", name));
  }
};

TEST_F(InsertTest, WritesValuesAndTellsHowMany) {
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (note, site, number, time, pressure) VALUES "
          "('', 'rome', 7, TIMESTAMP_SECONDS(100), 1.5), (NULL, 'oslo', 1 + 1, '2024-02-29 12:00:00+00', 3)"),
      "2 0 NULL\n");
  EXPECT_EQ(All(),
            "\"oslo\" 2 TIMESTAMP \"2024-02-29 12:00:00+00\" 3 NULL NULL\n"
            "\"rome\" 7 TIMESTAMP \"1970-01-01 00:01:40+00\" 1.5 NULL \"\"\n");
  // Without names, all columns in the order of *.  The same point again is the same cells; a field that is NULL stays.
  EXPECT_EQ(Run("INSERT series.balloon VALUES ('rome', 7, TIMESTAMP_SECONDS(100), 2.25, 9223372036854775807, "
                "NULL);"),
            "1 0 NULL\n");
  EXPECT_EQ(Ask("SELECT pressure, n, note FROM series.balloon WHERE site = 'rome'"),
            "2.25 9223372036854775807 \"\"\n");
}

TEST_F(InsertTest, WritesTheRowsOfAQuery) {
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (site, number, time, n) SELECT 'a', i, TIMESTAMP_SECONDS(i), i FROM "
          "UNNEST(GENERATE_ARRAY(1, 5000)) i WHERE i != 7"),
      "4999 0 NULL\n");
  EXPECT_EQ(Ask("SELECT COUNT(*), SUM(n), COUNT(pressure) FROM series.balloon"), "4999 12502493 0\n");
  EXPECT_EQ(Run("INSERT INTO series.balloon (site, number, time, n) (SELECT '', 1, CAST(NULL AS TIMESTAMP), "
                "1 LIMIT 0)"),
            "0 0 NULL\n");
  EXPECT_EQ(Run("INSERT INTO series.balloon (site, number, time, pressure, n) "
                "WITH w AS (SELECT 1 AS n) SELECT 'b', n, '2020-01-01', 0.5, NULL FROM w"),
            "1 0 NULL\n");
  EXPECT_EQ(Ask("SELECT time, pressure, n FROM series.balloon WHERE site = 'b'"),
            "TIMESTAMP \"2020-01-01 00:00:00+00\" 0.5 NULL\n");
}

TEST_F(InsertTest, TakesParameters) {
  const absl::StatusOr<BoundQuery> query = BindInsert(
      "INSERT INTO series.balloon (site, number, time, n) VALUES (@site, 1, @time, @n)", {}, Dialect::kSonde,
      {{"site", TypeKind::kString}, {"time", TypeKind::kTimestamp}, {"n", TypeKind::kInt64}});
  ASSERT_TRUE(query.ok()) << query.status();
  // Binding writes nothing, and the plan may run again.
  EXPECT_EQ(All(), "");
  for (int64_t n = 1; n <= 2; ++n) {
    const auto execution =
        Execute(*query, {Value::String("x"), Value::Timestamp(n * kSecond), Value::Int(n)}, Environment());
    ASSERT_TRUE(execution.ok()) << execution.status();
    EXPECT_EQ(Rest(execution->get(), {TypeKind::kInt64, TypeKind::kInt64, TypeKind::kString}), "1 0 NULL\n");
    EXPECT_EQ((*execution)->ResumePoint(), std::nullopt);
  }
  EXPECT_EQ(Ask("SELECT time, n FROM series.balloon ORDER BY n"),
            "TIMESTAMP \"1970-01-01 00:00:01+00\" 1\nTIMESTAMP \"1970-01-01 00:00:02+00\" 2\n");
}

TEST_F(InsertTest, ExplainWritesNothing) {
  EXPECT_EQ(
      Run("EXPLAIN INSERT INTO series.balloon (site, number, time, n) VALUES ('a', 1, '2020-01-01', 2)"),
      "\"Insert: into series balloon, 4 columns; about 1 rows expected\"\n"
      "\"  Project: \\\"a\\\", 1, TIMESTAMP \\\"2020-01-01 00:00:00+00\\\", 2; about 1 rows expected\"\n"
      "\"    SingleRow: about 1 rows expected\"\n");
  EXPECT_EQ(Run("EXPLAIN ANALYZE INSERT INTO series.balloon (site, number, time, n) VALUES ('a', 1, "
                "'2020-01-01', 2)"),
            "INVALID_ARGUMENT: EXPLAIN ANALYZE of an INSERT would write; EXPLAIN does not [at 1:17]");
  EXPECT_EQ(All(), "");
}

TEST_F(InsertTest, RefusesWhatIsNoPoint) {
  const auto refused = [&](const std::string& rest) { return Run("INSERT INTO series.balloon " + rest); };
  for (const auto& [rest, error] : std::vector<std::pair<std::string, std::string>>{
           {"(sit, number, time, n) VALUES ('a', 1, '2020-01-01', 2)",
            "INVALID_ARGUMENT: Column sit is not present in series balloon; Did you mean site? [at 1:29]"},
           {"(what, number, time, n) VALUES ('a', 1, '2020-01-01', 2)",
            "INVALID_ARGUMENT: Column what is not present in series balloon [at 1:29]"},
           {"(number, time, n) VALUES (1, '2020-01-01', 2)",
            "INVALID_ARGUMENT: A point of series balloon needs the tag site, which INSERT does not name [at "
            "1:13]"},
           {"(site, number, n) VALUES ('a', 1, 2)",
            "INVALID_ARGUMENT: A point of series balloon needs its time, which INSERT does not name [at "
            "1:13]"},
           {"(site, number, time) VALUES ('a', 1, '2020-01-01')",
            "INVALID_ARGUMENT: A point of series balloon needs a field, and INSERT names none [at 1:13]"},
           {"(site, SITE, number, time, n) VALUES ('a', 'a', 1, '2020-01-01', 2)",
            "INVALID_ARGUMENT: INSERT has columns with duplicate name: SITE [at 1:35]"},
           {"(site, number, time, n) VALUES ('a', 1, '2020-01-01')",
            "INVALID_ARGUMENT: Inserted row has wrong column count; Has 3, expected 4 [at 1:59]"},
           {"(site, number, time, n) SELECT 1",
            "INVALID_ARGUMENT: Inserted row has wrong column count; Has 1, expected 4 [at 1:52]"},
           {"(site, number, time, n) VALUES ('a', 1, '2020-01-01', 2.5)",
            "INVALID_ARGUMENT: Value has type FLOAT64 which cannot be inserted into column n, which has type "
            "INT64 [at 1:82]"},
           {"(site, number, time, n) SELECT 'a', 1, 2, 3",
            "INVALID_ARGUMENT: Query column 3 has type INT64 which cannot be inserted into column time, "
            "which has type TIMESTAMP [at 1:52]"},
           {"(site, number, time, n) VALUES ('a', x, '2020-01-01', 2)",
            "INVALID_ARGUMENT: Unrecognized name: x [at 1:65]"},
           {"(site, number, time, n) SELECT site, number, time, n FROM series.balloon",
            "UNIMPLEMENTED: INSERT into series balloon from what the series itself has is not built: the "
            "points that it writes would be read again [at 1:13]"},
           {"(site, number, time, n) VALUES",
            "INVALID_ARGUMENT: Syntax error: Expected \"(\" but got end of statement [at 1:58]"}}) {
    EXPECT_EQ(refused(rest), error) << rest;
  }
  EXPECT_EQ(Run("INSERT INTO series.none (a) VALUES (1)"), "NOT_FOUND: Series not found: none [at 1:13]");
  EXPECT_EQ(Run("INSERT INTO t (a) VALUES (1)"),
            "INVALID_ARGUMENT: Statement not supported: InsertStatement [at 1:1]");
  EXPECT_EQ(Run("INSERT INTO series.balloon.x (a) VALUES (1)"),
            "INVALID_ARGUMENT: INSERT writes to series.NAME, a name of two parts [at 1:13]");
  std::string many = "(site, number, time, n) VALUES ";
  for (int i = 0; i <= 1'000; ++i)
    many += fmt::format("{}('a', 1, TIMESTAMP_SECONDS({}), 2)", i == 0 ? "" : ", ", i);
  EXPECT_THAT(refused(many), HasSubstr("INSERT has 1001 rows of VALUES; at most 1000 are allowed"));
  EXPECT_EQ(All(), "");
}

TEST_F(InsertTest, RowsThatAreNoPointAreRefusedAndTheOthersWritten) {
  for (const auto& [values, why] : std::vector<std::pair<std::string, std::string>>{
           {"CAST(NULL AS STRING), 1, TIMESTAMP_SECONDS(1), 1", "tag site is NULL"},
           {"'a', 1, CAST(NULL AS TIMESTAMP), 1", "time is NULL"},
           {"'a', 1, TIMESTAMP_SECONDS(1), CAST(NULL AS INT64)", "the point has no field"}}) {
    EXPECT_EQ(Run("INSERT INTO series.balloon (site, number, time, n) SELECT " + values),
              "INVALID_ARGUMENT: INSERT INTO series.balloon: none of its 1 rows is a point. Row 1: " + why);
  }
  EXPECT_EQ(All(), "");
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (site, number, time, n) SELECT IF(MOD(i, 1000) = 500, NULL, 'a'), "
          "i, TIMESTAMP_SECONDS(1), 1 FROM UNNEST(GENERATE_ARRAY(1, 3000)) i"),
      "2997 3 \"Row 500: tag site is NULL\"\n");
  EXPECT_EQ(Ask("SELECT COUNT(*), MIN(number), MAX(number) FROM series.balloon"), "2997 1 3000\n");
  // What is not text may be long; what is shown of it is not.
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (site, number, time, pressure) VALUES ('b', 1, TIMESTAMP_SECONDS(1), "
          "CAST('nan' AS FLOAT64)), ('b', 2, TIMESTAMP_SECONDS(1), 1), (REPEAT('\u00e9', 3000), 2, "
          "TIMESTAMP_SECONDS(1), 1)"),
      "1 2 \"Row 1: field 'pressure': value 'nan' is not a finite number\"\n");
  EXPECT_THAT(Run("INSERT INTO series.balloon (site, number, time, n) VALUES (REPEAT('\u00e9', 3000), 2, "
                  "TIMESTAMP_SECONDS(1), 1)"),
              HasSubstr("none of its 1 rows is a point. Row 1: row key"));
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (site, number, time, n) SELECT 'b', 1, TIMESTAMP_SECONDS(1), 1 / 0"),
      "INVALID_ARGUMENT: Query column 4 has type FLOAT64 which cannot be inserted into column n, which has "
      "type INT64 [at 1:52]");
  // An error of the query is no refusal.
  EXPECT_EQ(
      Run("INSERT INTO series.balloon (site, number, time, n) SELECT 'b', 1, TIMESTAMP_SECONDS(1), DIV(1, "
          "0)"),
      "OUT_OF_RANGE: division by zero: 1 / 0. 0 points are written and stay: an INSERT is no transaction");
}

TEST_F(InsertTest, EndsWhenItIsInterrupted) {
  int asked = 0;
  ExecutionEnvironment environment = Environment();
  environment.interrupted = [&]() -> absl::Status {
    return ++asked > 20 ? absl::CancelledError("The client has gone") : absl::OkStatus();
  };
  EXPECT_THAT(
      Run("INSERT INTO series.balloon (site, number, time, n) SELECT 'a', i, TIMESTAMP_SECONDS(i), i FROM "
          "UNNEST(GENERATE_ARRAY(1, 100000)) i",
          environment),
      testing::MatchesRegex("CANCELLED: The client has gone. [0-9]+ points are written and stay: an INSERT "
                            "is no transaction"));
}

TEST_F(InsertTest, NeedsARightToWriteToTheTables) {
  std::vector<std::string> asked;
  const auto note = [&](std::string_view resource) {
    asked.emplace_back(resource);
    return absl::OkStatus();
  };
  constexpr std::string_view kStatement =
      "INSERT INTO series.balloon (site, number, time, n) VALUES ('a', 1, '2020-01-01', 2)";
  const absl::StatusOr<BoundQuery> query = BindInsert(kStatement, note);
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_THAT(asked, testing::ElementsAre("projects/p/instances/i/tables/balloons"));
  EXPECT_THAT(query->named, testing::IsEmpty()) << "it reads nothing";
  const auto refuse = [](std::string_view resource) {
    return absl::PermissionDeniedError(std::string(resource));
  };
  EXPECT_EQ(BindInsert(kStatement, refuse).status(),
            absl::PermissionDeniedError("projects/p/instances/i/tables/balloons"));
  // Nor does the answer tell whether there is a series.
  EXPECT_EQ(BindInsert("INSERT INTO series.none (n) VALUES (2)", refuse).status(),
            absl::PermissionDeniedError("projects/p/instances/i/tables/sonde_series"));
}

TEST_F(InsertTest, IsAStatementOnlyWhereItIsAllowed) {
  constexpr std::string_view kStatement =
      "INSERT INTO series.balloon (site, number, time, n) VALUES ('a', 1, '2020-01-01', 2)";
  const absl::Status refused =
      absl::InvalidArgumentError("Statement not supported: InsertStatement [at 1:1]");
  EXPECT_EQ(BindInsert(kStatement, {}, Dialect::kProduction).status(), refused);
  EXPECT_EQ(BindSeries(kStatement).status(), refused) << "views and others that only read";
}

// Through every layout the points are those of a series whose points came by the writer itself, wherever its derived tables are.
TEST_F(InsertTest, PointsOfEachLayoutAreThoseOfTheWriter) {
  int number = 0;
  for (const std::string layout :
       {"key: [site, number, bucket]\nbucket: hour\n", "layout: row\nkey: [site, number, time]\n",
        "layout: blob\nkey: [site, number, time]\n",
        "layout: blob\nbucket: day\nkey: [site, number, bucket]\n",
        "layout: blob\nblob: { format: protobuf }\nbucket: 1h\nkey: [{ salt: 2 }, site, number, bucket]\n",
        "layout: offsets\nslot: 15m\nbucket: day\nkey: [site, number, bucket]\n",
        "layout: row\nkey: [site, number, time]\ncorrections: keep\n"}) {
    const std::string inserted = fmt::format("inserted{}", number);
    const std::string written = fmt::format("written{}", number++);
    SCOPED_TRACE(layout);
    const auto find = [&](const std::string& name) {
      return declarations_.Declare(Declaration(name, layout));
    };
    if (!find(inserted).ok()) {
      ADD_FAILURE() << find(inserted).status();
      continue;
    }
    Declare(Declaration(written, layout));
    std::vector<Point> points;
    std::vector<std::string> texts(400);
    std::string values;
    for (int i = 0; i < 400; ++i) {
      const int64_t second = 3'600 * (i % 50) + 900 * (i % 4);
      texts[i] = fmt::format("{}", i % 17 - 8);
      const std::string_view text = texts[i];
      points.push_back({{i % 3 == 0 ? "rome" : "oslo", i % 2 == 0 ? "1" : "20"},
                        second,
                        {text, i % 5 == 0 ? std::string_view() : text, i % 7 == 0 ? "" : "a\"b"}});
      values += fmt::format("{}('{}', {}, TIMESTAMP_SECONDS({}), {}, {}, {})", i == 0 ? "" : ", ",
                            points[i].tags[0], points[i].tags[1], second, texts[i],
                            i % 5 == 0 ? "NULL" : texts[i], i % 7 == 0 ? "NULL" : "'a\"b'");
    }
    Write(points);
    EXPECT_EQ(Run(fmt::format("INSERT INTO series.{} VALUES {}", inserted, values)), "400 0 NULL\n");
    EXPECT_EQ(All(inserted), All(written));
    EXPECT_NE(All(inserted), "");
  }
}

}  // namespace
}  // namespace sonde::sql
