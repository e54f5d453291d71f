// Materialized views in queries of SQL.
#include <gtest/gtest.h>

#include "sql/exec/instance_names.h"
#include "sql/view/keep/view_test_support.h"

namespace sonde::sql {
namespace {

class ViewReadingTest : public ViewTest {
 protected:
  std::string Query(const std::string& text, const InstanceNames::MayRead& may_read = {}) {
    const InstanceNames names(store_.catalog.get(), &bundles_, /*series=*/nullptr, kViewTestInstance,
                              Dialect::kSonde, may_read);
    const absl::StatusOr<BoundQuery> query = ParseAndBind(text, names.Options());
    if (!query.ok()) return query.status().ToString();
    ExecutionEnvironment environment;
    environment.tables = &store_.tables;
    const auto execution = Execute(*query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    std::string rows;
    for (const OutputColumn& column : query->columns) rows += column.name + " ";
    rows += "\n";
    rows::Batch batch;
    while (true) {
      const absl::StatusOr<bool> more = (*execution)->Next(&batch);
      if (!more.ok()) return rows + more.status().ToString();
      if (!*more) return rows;
      for (size_t row = 0; row < batch.rows; ++row) {
        for (size_t i = 0; i < query->columns.size(); ++i) {
          AppendSql(query->columns[i].type, DatumAt(batch.columns[i], row), &rows);
          rows += " ";
        }
        rows += "\n";
      }
    }
  }

  BundleFinder bundles_{store_.catalog.get()};
};

constexpr char kAllTypes[] =
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS `r.n`, AVG(LENGTH(f['v'])) AS a, MIN(CAST(f['v'] AS "
    "STRING)) AS s, "
    "MAX(f['v']) AS `b.b`, MAX(f['v']) = b'7' AS t, MAX(TIMESTAMP '2020-01-01') AS w, CAST(MIN(1.5) AS "
    "FLOAT32) AS x "
    "FROM t GROUP BY k";

TEST_F(ViewReadingTest, ShowsColumnsOfTheQuerysTypes) {
  Put("a", "f", "k", 1, "x");
  Put("a", "f", "v", 1, "7");
  Put("b", "f", "k", 1, "x");
  Put("c", "f", "k", 1, "y");
  CreateView("v", kAllTypes);
  CatchUp();
  EXPECT_EQ(Query("SELECT * FROM v"),
            "k r.n a s b.b t w x \n"
            "\"x\" 2 1 \"7\" b\"7\" true TIMESTAMP \"2020-01-01 00:00:00+00\" 1.5 \n"
            "\"y\" 1 NULL NULL NULL NULL TIMESTAMP \"2020-01-01 00:00:00+00\" 1.5 \n");
  EXPECT_EQ(Query("SELECT `r.n` + 1 AS m FROM v WHERE k = 'y'"), "m \n2 \n");
}

TEST_F(ViewReadingTest, AViewWithARowKeyShowsIt) {
  Put("a", "f", "k", 1, "x");
  CreateView("v", "SELECT '*' AS _key, COUNT(*) AS n FROM t GROUP BY _key");
  CatchUp();
  EXPECT_EQ(Query("SELECT * FROM v"), "_key n \nb\"*\" 1 \n");
}

TEST_F(ViewReadingTest, AViewWithTimesHasARowForEachTime) {
  const std::string query =
      "SELECT k AS k, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, COUNT(*) AS n, MAX(CAST(v AS STRING)) "
      "AS `r.m` FROM "
      "UNPACK((SELECT SUBSTR(CAST(_key AS STRING), 1, 1) AS k, f['v'] AS v FROM t(with_history => TRUE))) "
      "GROUP BY k, 2";
  Put("a1", "f", "v", 10, "1");
  Put("a2", "f", "v", 20, "2");
  Put("a1", "f", "v", 3'700, "3");
  Put("b", "f", "v", 3'800, "4");
  CreateView("v", query);
  CatchUp();
  EXPECT_EQ(Query("SELECT * FROM v ORDER BY k, _timestamp"),
            "k _timestamp n r.m \n"
            "\"a\" TIMESTAMP \"1970-01-01 00:00:00+00\" 2 \"2\" \n"
            "\"a\" TIMESTAMP \"1970-01-01 01:00:00+00\" 1 \"3\" \n"
            "\"b\" TIMESTAMP \"1970-01-01 01:00:00+00\" 1 \"4\" \n");
  EXPECT_EQ(Query("SELECT * FROM v ORDER BY k, _timestamp"),
            Query("SELECT * FROM (" + query + ") ORDER BY k, _timestamp"));
  EXPECT_EQ(Query("SELECT SUM(n) AS n FROM v WHERE _timestamp >= TIMESTAMP_SECONDS(3600) AND k = 'a'"),
            "n \n1 \n");
}

TEST_F(ViewReadingTest, TimesOfAViewWithARowKeyAreShown) {
  const std::string query =
      "SELECT TIMESTAMP_TRUNC(_timestamp, DAY) AS _timestamp, COUNT(*) AS n, '*' AS _key FROM UNPACK((SELECT "
      "f['v'] AS v FROM "
      "t(with_history => TRUE))) GROUP BY _key, 1";
  Put("a1", "f", "v", 10, "1");
  Put("a2", "f", "v", 90'000, "2");
  CreateView("v", query);
  CatchUp();
  EXPECT_EQ(Query("SELECT * FROM v ORDER BY _timestamp"),
            "_timestamp n _key \n"
            "TIMESTAMP \"1970-01-01 00:00:00+00\" 1 b\"*\" \n"
            "TIMESTAMP \"1970-01-02 00:00:00+00\" 1 b\"*\" \n");
}

TEST_F(ViewReadingTest, WholeFamiliesAreMaps) {
  Put("a", "f", "k", 1, "x");
  Put("a", "f", "v", 1, "7");
  Put("b", "f", "k", 1, "w");
  CreateView("v", "SELECT f['k'] AS k, _key AS id, f AS f, two AS other FROM t ORDER BY k, id");
  CatchUp();
  EXPECT_EQ(Query("SELECT * FROM v ORDER BY k"),
            "k id f other \n"
            "b\"w\" b\"b\" {b\"k\": b\"w\"} {} \n"
            "b\"x\" b\"a\" {b\"k\": b\"x\", b\"v\": b\"7\"} {} \n");
  EXPECT_EQ(Query("SELECT f['v'] AS v FROM v WHERE k = b'x'"), "v \nb\"7\" \n");
  ASSERT_EQ(store_.Mutate("a", {DeleteFromColumn{"f", "v", {}}}), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Query("SELECT f FROM v WHERE k = b'x'"), "f \n{b\"k\": b\"x\"} \n");
}

// The view that answers is the one whose rows are read.
TEST_F(ViewReadingTest, ExplainNamesTheViewThatAnswers) {
  CreateView("v", "SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k");
  CatchUp();
  const std::string plan = Query("EXPLAIN SELECT n FROM v WHERE k = b'x'");
  EXPECT_NE(plan.find(store_.ViewName("v") + ", 1 ranges"), std::string::npos) << plan;
  EXPECT_EQ(plan.find(store_.TableName()), std::string::npos) << plan;
}

TEST_F(ViewReadingTest, AnIncompleteViewIsReadWithAHintOnly) {
  CreateView("v", "SELECT '*' AS _key, COUNT(*) AS n FROM t GROUP BY _key");
  EXPECT_EQ(Query("SELECT n FROM v"),
            "FAILED_PRECONDITION: Materialized view projects/p/instances/i/materializedViews/v does not have "
            "all rows of its table "
            "yet; the hint @{allow_incomplete_view=true} reads those that it has");
  EXPECT_EQ(Query("@{allow_incomplete_view=true} SELECT n FROM v"), "n \n");
  EXPECT_EQ(Query("SELECT n FROM v@{allow_incomplete_view=true}"), "n \n");
  CatchUp();
  EXPECT_EQ(Query("SELECT n FROM v"), "n \n");
}

TEST_F(ViewReadingTest, RightsAreThoseOfTheView) {
  CreateView("v", "SELECT '*' AS _key, COUNT(*) AS n FROM t GROUP BY _key");
  CatchUp();
  const auto only = [](std::string allowed) {
    return [allowed](std::string_view resource) -> absl::Status {
      if (resource == allowed) return absl::OkStatus();
      return absl::PermissionDeniedError(std::string(resource));
    };
  };
  EXPECT_EQ(Query("SELECT n FROM v", only(store_.ViewName("v"))), "n \n");
  EXPECT_EQ(Query("SELECT n FROM v", only(store_.TableName())),
            "PERMISSION_DENIED: projects/p/instances/i/tables/v");
  EXPECT_EQ(Query("SELECT n FROM `projects/p/instances/i/materializedViews/v`").substr(0, 9), "NOT_FOUND");
}

}  // namespace
}  // namespace sonde::sql
