// Declared and open series as relations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "series/query/query.h"
#include "sql/exec/series_test_support.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kBalloon = R"(series: balloon
table: balloons
tags: { site: string, number: int }
fields: { pressure: double, n: int, note: string }
key: [site, number, bucket]
bucket: hour
retention: { max_versions: all }
)";

class SeriesRelationTest : public SeriesTest {
 protected:
  void SetUp() override {
    SeriesTest::SetUp();
    Declare(kBalloon);
    Write({{{"rome", "7"}, 100, {"1.5", "3", "a"}},
           {{"rome", "7"}, 160, {"2.5", "", ""}},
           {{"rome", "12"}, 100, {"", "4", ""}},
           {{"oslo", "7"}, 5000, {"0.5", "5", "b"}}});
  }
};

TEST_F(SeriesRelationTest, GivesARowForEachPoint) {
  EXPECT_EQ(Ask("SELECT * FROM series.balloon ORDER BY site, number, time"),
            R"("oslo" 7 TIMESTAMP "1970-01-01 01:23:20+00" 0.5 5 "b"
"rome" 7 TIMESTAMP "1970-01-01 00:01:40+00" 1.5 3 "a"
"rome" 7 TIMESTAMP "1970-01-01 00:02:40+00" 2.5 NULL NULL
"rome" 12 TIMESTAMP "1970-01-01 00:01:40+00" NULL 4 NULL
)");
  const absl::StatusOr<BoundQuery> query = BindSeries("SELECT * FROM series.balloon");
  ASSERT_TRUE(query.ok());
  std::string columns;
  for (const OutputColumn& column : query->columns)
    columns += column.name + " " + column.type.ToString() + ", ";
  EXPECT_EQ(columns, "site STRING, number INT64, time TIMESTAMP, pressure FLOAT64, n INT64, note STRING, ");
}

TEST_F(SeriesRelationTest, ColumnsKeepTheUnitsOfFieldsWhereTheySayTheSame) {
  Declare(R"(series: machine
tags: { host: string }
fields: { used: { type: int, unit: bytes }, free: { type: int, unit: bytes }, wait: { unit: ms }, n: int }
key: [host, bucket]
bucket: hour
)");
  const auto units = [&](const std::string& sql) {
    const absl::StatusOr<BoundQuery> query = BindSeries(sql);
    if (!query.ok()) return query.status().ToString();
    std::string text;
    for (const OutputColumn& column : query->columns) text += (column.unit.empty() ? "-" : column.unit) + " ";
    return text;
  };
  EXPECT_EQ(units("SELECT * FROM series.machine"), "- - bytes bytes ms - ");
  EXPECT_EQ(units("SELECT used + free, used - 1, used + wait, used / 1024, -used, ROUND(wait, 1) FROM "
                  "series.machine"),
            "bytes bytes - - bytes ms ");
  EXPECT_EQ(units("SELECT IFNULL(used, 0), IF(n > 1, used, free), CASE WHEN n > 1 THEN used ELSE n END, "
                  "GREATEST(used, free), CAST(used AS FLOAT64), CAST(used AS STRING) FROM series.machine"),
            "bytes bytes - bytes bytes - ");
  EXPECT_EQ(units("SELECT host, TIMESTAMP_TRUNC(time, MINUTE) AS t, AVG(used), MAX(wait), COUNT(used), "
                  "RATE(used, time) "
                  "FROM series.machine GROUP BY host, t"),
            "- - bytes ms - bytes/s ");
  EXPECT_EQ(units("SELECT x.u AS v FROM (SELECT used AS u FROM series.machine ORDER BY time LIMIT 5) AS x "
                  "WHERE x.u > 3"),
            "bytes ");
  EXPECT_EQ(units("SELECT used FROM series.machine UNION ALL SELECT free FROM series.machine"), "bytes ");
  EXPECT_EQ(units("SELECT used FROM series.machine UNION ALL SELECT n FROM series.machine"), "- ");
  EXPECT_EQ(units("SELECT a.wait, b.used FROM series.machine a JOIN series.machine b ON a.host = b.host"),
            "ms bytes ");
  EXPECT_EQ(
      units("SELECT LAG(used) OVER (PARTITION BY host ORDER BY time), ROW_NUMBER() OVER (ORDER BY time) "
            "FROM series.machine"),
      "bytes - ");
  EXPECT_EQ(units("WITH w AS (SELECT wait FROM series.machine) SELECT MIN(wait) FROM w"), "ms ");
  EXPECT_EQ(units("EXPLAIN SELECT used FROM series.machine"), "- ");
}

TEST_F(SeriesRelationTest, CountsPointsWhicheverFieldsAreNamed) {
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon"), "4\n");
  EXPECT_EQ(Ask("SELECT COUNT(pressure) FROM series.balloon"), "3\n");
  EXPECT_EQ(Ask("SELECT pressure FROM series.balloon ORDER BY pressure"), "NULL\n0.5\n1.5\n2.5\n");
  EXPECT_EQ(Ask("SELECT site, COUNT(note) FROM series.balloon GROUP BY site ORDER BY site"),
            "\"oslo\" 1\n\"rome\" 1\n");
}

// Read from the end, in spans of time that become longer.
TEST_F(SeriesRelationTest, NewestBucketsAreThoseOfTheWholeAnswer) {
  Write({{{"oslo", "7"}, 5030, {"1", "", ""}},
         {{"rome", "7"}, 7300, {"", "1", ""}},
         {{"rome", "7"}, 40'000, {"9", "", ""}},
         {{"rome", "12"}, 700'000, {"3", "2", ""}},
         {{"rome", "12"}, 200'000'000, {"4", "", ""}},
         {{"oslo", "7"}, 200'000'050, {"5", "", ""}}});
  for (const std::string query :
       {"SELECT TIMESTAMP_TRUNC(time, MINUTE) AS t, MAX(pressure), COUNT(*) FROM series.balloon GROUP BY t",
        "SELECT COUNT(n), TIMESTAMP_BUCKET(time, INTERVAL 10 MINUTE) AS t FROM series.balloon WHERE time < "
        "TIMESTAMP_SECONDS(200000010) GROUP BY t",
        "SELECT TIMESTAMP_TRUNC(time, DAY) AS t, SUM(pressure) AS s FROM series.balloon WHERE site = 'rome' "
        "GROUP BY t "
        "HAVING s IS NOT NULL",
        "SELECT time AS t, COUNT(*) FROM series.balloon WHERE time >= TIMESTAMP_SECONDS(160) GROUP BY t",
        "SELECT t, COUNT(*) FROM (SELECT DATE_BIN(INTERVAL 1 HOUR, time) AS t FROM series.balloon) AS b "
        "GROUP BY t"}) {
    const std::string all = Ask(query + " ORDER BY t DESC");
    std::vector<std::string> lines;
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.find('\n', at) + 1;
      lines.push_back(all.substr(at, end - at));
      at = end;
    }
    ASSERT_GE(lines.size(), 3U) << all;
    for (size_t limit = 1; limit <= lines.size() + 1; ++limit) {
      for (size_t offset = 0; offset < 3; ++offset) {
        std::string wanted;
        for (size_t i = offset; i < std::min(lines.size(), offset + limit); ++i) wanted += lines[i];
        const std::string limited =
            fmt::format("{} ORDER BY t DESC LIMIT {} OFFSET {}", query, limit, offset);
        EXPECT_EQ(Ask(limited), wanted) << limited;
        EXPECT_NE(Ask("EXPLAIN " + limited).find("NewestBuckets"), std::string::npos) << limited;
      }
    }
  }
  // These are none, or may begin earlier for a later time.
  for (const std::string_view query :
       {"SELECT TIMESTAMP_TRUNC(time, DAY, 'Europe/Rome') AS t, COUNT(*) FROM series.balloon GROUP BY t "
        "ORDER BY t DESC LIMIT 1",
        "SELECT TIMESTAMP_TRUNC(time, DAY) AS t, COUNT(*) FROM series.balloon GROUP BY t ORDER BY t LIMIT 1",
        "SELECT site, TIMESTAMP_TRUNC(time, DAY) AS t, COUNT(*) FROM series.balloon GROUP BY site, t ORDER "
        "BY t DESC LIMIT 1",
        "SELECT n, COUNT(*) FROM series.balloon GROUP BY n ORDER BY n DESC LIMIT 1"}) {
    EXPECT_EQ(Ask("EXPLAIN " + std::string(query)).find("NewestBuckets"), std::string::npos) << query;
  }
}

TEST_F(SeriesRelationTest, ReadsOnlyFieldsThatMatter) {
  EXPECT_EQ(Planned("SELECT site, pressure FROM series.balloon WHERE pressure > 1"),
            "project $1, $0\n  filter ($0 > 1)\n    series balloon: pressure, site; points with a value\n");
  EXPECT_EQ(Planned("SELECT MAX(pressure) FROM series.balloon"),
            "aggregate MAX($0)\n  series balloon: pressure; points with a value\n");
  EXPECT_EQ(Planned("SELECT site, MAX(pressure) FROM series.balloon GROUP BY site"),
            "aggregate MAX($1) by $0\n  series balloon: site, pressure\n");
}

TEST_F(SeriesRelationTest, ConditionsOnTagsAndTimeNarrowWhatIsRead) {
  EXPECT_EQ(
      Planned(
          "SELECT n FROM series.balloon WHERE site = 'rome' AND time >= TIMESTAMP_SECONDS(160) AND n > 1"),
      "project $2\n"
      "  filter (($0 = \"rome\") AND ($1 >= TIMESTAMP \"1970-01-01 00:02:40+00\") AND ($2 > 1))\n"
      "    series balloon: site, time, n; points where ($0 = \"rome\"), ($1 >= TIMESTAMP \"1970-01-01 "
      "00:02:40+00\"); points with a value\n");
  const std::map<std::string, std::string> counts = {
      {"site = 'rome'", "3"},
      {"'oslo' = site", "1"},
      {"site IN ('oslo', 'paris')", "1"},
      {"site IN UNNEST(['oslo', 'rome'])", "4"},
      {"site LIKE 'ro%'", "3"},
      {"site LIKE 'rome'", "3"},
      {"site LIKE '%e'", "3"},
      {"STARTS_WITH(site, 'o')", "1"},
      {"REGEXP_CONTAINS(site, 'l')", "1"},
      {"REGEXP_CONTAINS(site, '^r.m') AND number = 12", "1"},
      {"number = 7", "3"},
      {"number = 7 OR number = 12", "4"},
      {"site = 'rome' AND site = 'oslo'", "0"},
      {"site = 'rome' AND site LIKE 'r%' AND site IN ('rome', 'x')", "3"},
      {"site = CAST(NULL AS STRING)", "0"},
      {"site = ''", "0"},
      {"site = 'a#b'", "0"},
      {"number = -1", "0"},
      {"number IN (7, NULL)", "3"},
      {"site != 'rome'", "1"},
      {"time = TIMESTAMP_SECONDS(100)", "2"},
      {"time BETWEEN TIMESTAMP_SECONDS(101) AND TIMESTAMP_SECONDS(160)", "1"},
      {"time > TIMESTAMP_SECONDS(100) AND time < TIMESTAMP_SECONDS(5000)", "1"},
      {"TIMESTAMP_SECONDS(160) <= time", "2"},
      {"time IN (TIMESTAMP_SECONDS(100), TIMESTAMP_SECONDS(5000))", "3"},
      {"time < CAST(NULL AS TIMESTAMP)", "0"},
      {"time < TIMESTAMP '0001-01-01'", "0"},
      {"time > TIMESTAMP '9999-12-31'", "0"},
      {"site = 'rome' OR n = 5", "4"},
      {"NOT site = 'rome'", "1"},
  };
  for (const auto& [condition, count] : counts) {
    EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon WHERE " + condition), count + "\n") << condition;
    // The same where nothing is narrowed.
    EXPECT_EQ(Ask("SELECT COUNTIF(" + condition + ") FROM series.balloon"), count + "\n") << condition;
  }
}

TEST_F(SeriesRelationTest, TakesParameters) {
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon WHERE site IN UNNEST(@sites) AND time >= @from",
                {{"sites", Type::Array(TypeKind::kString)}, {"from", TypeKind::kTimestamp}},
                {Value::Array(TypeKind::kString, {Value::String("rome")}), Value::Timestamp(160'000'000)}),
            "1\n");
}

TEST_F(SeriesRelationTest, GivesTheNewestPointsOfEachSeries) {
  EXPECT_EQ(Ask("SELECT site, number, pressure FROM series.balloon(latest_n => 1) ORDER BY site, number"),
            "\"oslo\" 7 0.5\n\"rome\" 7 2.5\n\"rome\" 12 NULL\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(latest_n => 2)"), "4\n");
  EXPECT_EQ(
      Ask("SELECT number, pressure FROM series.balloon(as_of => TIMESTAMP_SECONDS(159)) ORDER BY number"),
      "7 1.5\n12 NULL\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(latest_n => 1, before => TIMESTAMP_SECONDS(5000), "
                "after_or_equal => TIMESTAMP_SECONDS(101))"),
            "1\n");
  // A condition on the time is about the newest points, and finds none of the others.
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(latest_n => 1) WHERE time < TIMESTAMP_SECONDS(160)"),
            "1\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(latest_n => 1) WHERE n > 3"), "2\n");
}

TEST_F(SeriesRelationTest, NumbersOfRowsAskForTheNewestPoints) {
  const std::string window = "OVER (PARTITION BY site, number ORDER BY time DESC)";
  const std::string queries[] = {
      "SELECT * FROM series.balloon QUALIFY ROW_NUMBER() " + window + " = 1",
      "SELECT site, number, n FROM series.balloon WHERE site = 'rome' QUALIFY 1 = ROW_NUMBER() " + window,
      "SELECT * FROM (SELECT *, ROW_NUMBER() " + window + " AS r FROM series.balloon) WHERE r = 1 AND n > 3",
  };
  for (const std::string& query : queries) {
    EXPECT_NE(Planned(query).find("latest 1"), std::string::npos) << Planned(query);
    const std::string ordered = "SELECT * FROM (" + query + ") ORDER BY site, number";
    const std::string rewritten = Ask(ordered);
    uses_newest_points_ = false;
    EXPECT_EQ(Planned(query).find("latest 1"), std::string::npos) << Planned(query);
    EXPECT_EQ(Ask(ordered), rewritten) << query;
    uses_newest_points_ = true;
  }
  // None of these is the newest point of each series.
  const std::string others[] = {
      "SELECT * FROM series.balloon QUALIFY ROW_NUMBER() OVER (PARTITION BY site ORDER BY time DESC) = 1",
      "SELECT * FROM series.balloon QUALIFY ROW_NUMBER() OVER (PARTITION BY site, number ORDER BY time) = 1",
      "SELECT * FROM series.balloon QUALIFY ROW_NUMBER() " + window + " = 2",
      "SELECT * FROM series.balloon WHERE n > 3 QUALIFY ROW_NUMBER() " + window + " = 1",
      "SELECT * FROM series.balloon WHERE time < TIMESTAMP_SECONDS(160) QUALIFY ROW_NUMBER() " + window +
          " = 1",
      "SELECT * FROM series.balloon QUALIFY RANK() " + window + " = 1",
  };
  for (const std::string& query : others) {
    EXPECT_EQ(Planned(query).find("latest"), std::string::npos) << Planned(query);
  }
}

TEST_F(SeriesRelationTest, TimesMayBeBounded) {
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(after => TIMESTAMP_SECONDS(100))"), "2\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon(before_or_equal => TIMESTAMP_SECONDS(100))"), "2\n");
}

TEST_F(SeriesRelationTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Ask("SELECT * FROM series.nope"), "NOT_FOUND: Series not found: nope [at 1:15]");
  EXPECT_EQ(Ask("SELECT * FROM other.balloon"), "NOT_FOUND: Table not found: other.balloon [at 1:15]");
  EXPECT_EQ(
      Ask("SELECT * FROM series.balloon(with_history => TRUE)"),
      "INVALID_ARGUMENT: Argument with_history is for tables; a series has a row for each point [at 1:30]");
  EXPECT_EQ(
      Ask("SELECT * FROM series.balloon(as_of => TIMESTAMP_SECONDS(1), latest_n => 2)"),
      "INVALID_ARGUMENT: Argument as_of of a series cannot be used with other temporal arguments [at 1:30]");
  EXPECT_EQ(Ask("SELECT * FROM series.balloon(latest_n => 0)"),
            "INVALID_ARGUMENT: latest_n must be at least 1, but is 0");
  EXPECT_EQ(Ask("SELECT _key FROM series.balloon"), "INVALID_ARGUMENT: Unrecognized name: _key [at 1:8]");
}

TEST_F(SeriesRelationTest, JoinsAndSubqueriesTakeIt) {
  EXPECT_EQ(
      Ask("SELECT a.site, COUNT(*) FROM series.balloon a JOIN series.balloon b ON a.site = b.site GROUP BY 1 "
          "ORDER BY 1"),
      "\"oslo\" 1\n\"rome\" 9\n");
  EXPECT_EQ(Ask("SELECT s, (SELECT COUNT(*) FROM series.balloon b WHERE b.site = s) FROM UNNEST(['oslo', "
                "'rome']) s"),
            "\"oslo\" 1\n\"rome\" 3\n");
}

TEST_F(SeriesRelationTest, ATableOfThatNameComesFirst) {
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/series.balloon";
  schema.families = {{.name = "f"}};
  ASSERT_TRUE(catalog_->Create(schema).ok());
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM series.balloon"), "0\n");
}

TEST_F(SeriesRelationTest, ExplainShowsWhatIsRead) {
  EXPECT_EQ(
      Ask("EXPLAIN SELECT site FROM series.balloon WHERE site = 'rome' AND number = 7"),
      "\"Project: $0; about 2 rows expected\"\n\"  Filter: (($0 = \\\"rome\\\") AND ($1 = 7)); about 2 "
      "rows expected\"\n\"    Series: balloon from balloons in 1 ranges [rome#7#, rome#7$); about 2 rows "
      "expected\"\n");
}

// A part of the points says how many there are in all of the rows.
TEST_F(SeriesRelationTest, ExplainEstimatesPoints) {
  std::vector<Point> points;
  std::vector<std::string> numbers;
  for (int i = 0; i < 200; ++i) numbers.push_back(fmt::format("{}", i));
  const std::string value(30, '7');
  for (const std::string& number : numbers) {
    for (int i = 0; i < 100; ++i) points.push_back({{"rome", number}, 10 * i, {value, "", ""}});
  }
  Write(points);
  const auto about = [&](const std::string& sql) {
    const std::string text = Ask("EXPLAIN " + sql);
    const size_t at = text.find("about ");
    return at == std::string::npos ? text : text.substr(at, text.find(" rows", at) - at);
  };
  EXPECT_EQ(about("SELECT * FROM series.balloon WHERE site = 'rome' AND number = 7"), "about 100");
  const std::string all = about("SELECT * FROM series.balloon");
  EXPECT_NEAR(std::stod(all.substr(6)), 20'000, 4'000) << all;
  EXPECT_NE(Ask("EXPLAIN SELECT * FROM series.balloon(latest_n => 1)").find("how many rows nobody knows"),
            std::string::npos);
}

TEST_F(SeriesRelationTest, GoesOnBehindAnyPoint) {
  std::vector<Point> points;
  std::vector<std::string> values;
  values.reserve(3'000);
  for (int i = 0; i < 3'000; ++i) values.push_back(fmt::format("{}", i));
  for (int i = 0; i < 3'000; ++i)
    points.push_back({{i % 2 == 0 ? "a" : "b", "1"}, 10 * i, {values[i], "", ""}});
  Write(points);
  const absl::StatusOr<BoundQuery> query = BindSeries("SELECT site, time, pressure FROM series.balloon");
  ASSERT_TRUE(query.ok());
  const auto run = [&](const std::string& after, size_t batches, std::string* point) {
    ExecutionEnvironment environment = Environment();
    environment.resume_after = after;
    auto execution = Execute(*query, {}, environment);
    EXPECT_TRUE(execution.ok()) << execution.status();
    std::string text;
    rows::Batch batch;
    for (size_t i = 0; i < batches; ++i) {
      const absl::StatusOr<bool> more = (*execution)->Next(&batch);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      AppendRows(TypesOf(*query), batch, &text);
    }
    *point = (*execution)->ResumePoint().value_or("none");
    return text;
  };
  std::string point;
  const std::string all = run("", 1'000, &point);
  EXPECT_GT(all.size(), 3'000u);
  for (const size_t batches : {1u, 2u, 3u}) {
    std::string pieces;
    std::string at;
    for (int i = 0; i < 1'000 && pieces.size() < all.size(); ++i) pieces += run(at, batches, &at);
    EXPECT_EQ(pieces, all);
  }
}

TEST_F(SeriesRelationTest, ARedeclaredSeriesIsAnotherOne) {
  const absl::StatusOr<BoundQuery> query = BindSeries("SELECT * FROM series.balloon");
  ASSERT_TRUE(query.ok());
  ASSERT_EQ(query->series.size(), 1u);
  EXPECT_TRUE(finder_.IsCurrent(query->series[0]));
  std::string yaml(kBalloon);
  yaml.replace(yaml.find("note: string"), 12, "note: string, more: int");
  Declare(yaml);
  EXPECT_FALSE(finder_.IsCurrent(query->series[0]));
  EXPECT_EQ(Ask("SELECT more FROM series.balloon WHERE site = 'oslo'"), "NULL\n");
}

TEST_F(SeriesRelationTest, WhoMayNotReadItsTablesIsNotToldOfIt) {
  const InstanceNames names(
      catalog_.get(), &bundles_, &finder_, kInstance, Dialect::kSonde,
      [](std::string_view table) -> absl::Status {
        return absl::PermissionDeniedError(std::string(table.substr(table.rfind('/') + 1)));
      });
  const auto asked = [&names](std::string_view sql) {
    return ParseAndBind(sql, names.Options()).status().ToString();
  };
  EXPECT_EQ(asked("SELECT * FROM series.balloon"), "PERMISSION_DENIED: balloons");
  EXPECT_EQ(asked("SELECT * FROM series.nope"), "PERMISSION_DENIED: sonde_series");
  // A right to the table of the series is enough.
  const InstanceNames some(catalog_.get(), &bundles_, &finder_, kInstance, Dialect::kSonde,
                           [](std::string_view table) -> absl::Status {
                             return table.ends_with("/balloons") ? absl::OkStatus()
                                                                 : absl::PermissionDeniedError("no");
                           });
  const absl::StatusOr<BoundQuery> query = ParseAndBind("SELECT * FROM series.balloon", some.Options());
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->named, std::vector<std::string>{"projects/p/instances/i/tables/balloons"});
}

TEST_F(SeriesRelationTest, ChangesAreThoseOfSeries) {
  Declare(R"(series: counter
table: counters
tags: { host: string }
fields: { v: int, d: double }
key: [host, bucket]
bucket: hour
retention: { max_versions: all }
)");
  std::vector<Point> points;
  std::vector<std::string> texts;
  texts.reserve(2'000);
  for (int i = 0; i < 1'000; ++i) {
    texts.push_back(fmt::format("{}", i * 7919 % 1009));
    texts.push_back(fmt::format("{}.25", i * 31 % 97));
  }
  for (int i = 0; i < 1'000; ++i) {
    points.push_back({{i % 3 == 0 ? "a" : "b"},
                      13 * i,
                      {i % 5 == 0 ? std::string_view() : texts[2 * i], texts[2 * i + 1]}});
  }
  Write(points);
  for (const rows::Change change : {rows::Change::kDelta, rows::Change::kIncrease, rows::Change::kRate}) {
    series::Query query;
    query.selection.tags.resize(1);
    query.change = change;
    std::map<std::string, std::string> expected;
    const auto stats = series::RunQuery(*known_, query, &local_, [&](const series::ResultRow& row) {
      const auto text = [](const series::ResultValue& value) -> std::string {
        if (const auto* integer = std::get_if<int64_t>(&value)) return Value::Int(*integer).ToSql();
        if (const auto* number = std::get_if<double>(&value)) return Value::Double(*number).ToSql();
        return "NULL";
      };
      expected[fmt::format("\"{}\" {}", row.tags[0], row.time_micros)] =
          text(row.values[0]) + " " + text(row.values[1]);
      return true;
    });
    ASSERT_TRUE(stats.ok()) << stats.status();
    std::string lines;
    for (const auto& [key, values] : expected) lines += key + " " + values + "\n";
    const std::string name = change == rows::Change::kDelta      ? "DELTA"
                             : change == rows::Change::kIncrease ? "INCREASE"
                                                                 : "RATE";
    EXPECT_EQ(
        Ask(fmt::format(
            "SELECT host, t, v, d FROM (SELECT host, UNIX_MICROS(time) AS t, {0}(v) OVER w AS v, {0}(d) "
            "OVER w AS d FROM series.counter WINDOW w AS (PARTITION BY host ORDER BY time)) WHERE v IS NOT "
            "NULL OR d IS NOT NULL ORDER BY host, CAST(t AS STRING)",
            name)),
        lines)
        << name;
  }
  // Of a whole series, an aggregate is the sum of the changes.
  EXPECT_EQ(Ask("SELECT host, INCREASE(v, time) FROM series.counter GROUP BY host ORDER BY host"),
            Ask("SELECT host, SUM(c) FROM (SELECT host, INCREASE(v) OVER (PARTITION BY host ORDER BY time) "
                "AS c FROM "
                "series.counter) GROUP BY host ORDER BY host"));
  EXPECT_EQ(
      Ask("SELECT host, DELTA(v, time) FROM series.counter GROUP BY host ORDER BY host"),
      Ask("SELECT host, SUM(c) FROM (SELECT host, DELTA(v) OVER (PARTITION BY host ORDER BY time) AS c FROM "
          "series.counter) GROUP BY host ORDER BY host"));
}

TEST_F(SeriesRelationTest, OpenSeriesHaveTheirLabelsAsColumns) {
  const absl::StatusOr<series::KnownSeriesRef> open =
      declarations_.Extend("disk.free", {"host", "path"}, {{"bytes", series::FieldType::kDouble}});
  ASSERT_TRUE(open.ok()) << open.status();
  known_ = *open;
  Write({{{"host=a,path=/"}, 10, {"1"}}, {{"host=b"}, 20, {"2"}}});
  EXPECT_EQ(Ask("SELECT * FROM series.`disk.free` ORDER BY host"),
            "\"a\" \"/\" TIMESTAMP \"1970-01-01 00:00:10+00\" 1\n"
            "\"b\" NULL TIMESTAMP \"1970-01-01 00:00:20+00\" 2\n");
  EXPECT_EQ(Ask("SELECT labels, labels['path'], labels['rack'] FROM series.`disk.free` ORDER BY host"),
            "{\"host\": \"a\", \"path\": \"/\"} \"/\" NULL\n"
            "{\"host\": \"b\"} NULL NULL\n");
  EXPECT_EQ(Ask("SELECT bytes FROM series.`disk.free` WHERE host = 'b'"), "2\n");
  EXPECT_EQ(Ask("SELECT bytes FROM series.`disk.free` WHERE path = '/'"), "1\n");
  EXPECT_EQ(Ask("SELECT host, bytes FROM series.`disk.free`(latest_n => 1) ORDER BY host"),
            "\"a\" 1\n\"b\" 2\n");
}

}  // namespace
}  // namespace sonde::sql
