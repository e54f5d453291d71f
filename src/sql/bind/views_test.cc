// Logical views in queries: the plan that they become, their errors, and what their records say that they need.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "model/limits.h"
#include "sql/bind/plan_test_support.h"
#include "sql/bind/view_sources.h"
#include "sql/syntax/parser.h"

namespace sonde::sql {
namespace {

// Views over the tables of plan_test_support.h, by id.
class BindViewsTest : public testing::Test {
 protected:
  void Define(const std::string& id, std::string query) {
    views_[id] = std::make_shared<const LogicalViewRecord>(
        LogicalViewRecord{.name = "projects/p/instances/i/logicalViews/" + id, .query = std::move(query)});
  }
  BindOptions Options() {
    BindOptions options = FakeOptions();
    options.find_view = [this](std::string_view id) -> absl::StatusOr<LogicalViewRef> {
      const auto found = views_.find(id);
      return found == views_.end() ? absl::NotFoundError("there is no such view")
                                   : absl::StatusOr<LogicalViewRef>(found->second);
    };
    return options;
  }
  std::string Plan(std::string_view query) { return Planned(query, Options()); }

  std::map<std::string, LogicalViewRef, std::less<>> views_;
};

TEST_F(BindViewsTest, APredicateAndTheColumnsGoThroughTheView) {
  Define("v", "SELECT _key, cf['a'] AS a, cf['b'] AS b FROM t");
  EXPECT_EQ(Plan("SELECT a FROM v WHERE _key = @k AND b = 'x'"),
            R"(a BYTES
project $2
  filter (($0 = @0) AND ($1 = b"x"))
    scan t: _key, cf[b"b"], cf[b"a"]; keys where ($0 = @0); rows with a value
)");
  EXPECT_EQ(Plan("SELECT x.* FROM v AS x LIMIT 1"), R"(_key BYTES, a BYTES, b BYTES
limit 1
  scan t: _key, cf[b"a"], cf[b"b"]
)");
}

TEST_F(BindViewsTest, AViewNeedsNoTable) {
  Define("one", "SELECT 1 AS value");
  EXPECT_EQ(Plan("SELECT value + 1 AS next FROM one"), R"(next INT64
project ($0 + 1)
  project 1
    single row
)");
}

TEST_F(BindViewsTest, ViewsReadFromViews) {
  Define("base", "SELECT _key AS k, n['x'] AS x FROM t WHERE n['x'] > 0");
  Define("around", "WITH w AS (SELECT * FROM base) SELECT k, SUM(x) AS s FROM w GROUP BY k");
  const absl::StatusOr<BoundQuery> query =
      ParseAndBind("SELECT s FROM around JOIN u ON u._key = k", Options());
  ASSERT_TRUE(query.ok()) << query.status();
  std::string names;
  for (const std::string& name : query->named) names += name + "\n";
  EXPECT_EQ(names, "projects/p/instances/i/logicalViews/around\nprojects/p/instances/i/tables/u\n");
  ASSERT_EQ(query->views.size(), 2u);
  EXPECT_EQ(query->views[0], views_["base"]);
  EXPECT_EQ(query->views[1], views_["around"]);
  ASSERT_EQ(query->tables.size(), 2u);
  EXPECT_EQ(query->tables[0]->name, "projects/p/instances/i/tables/u");
  EXPECT_EQ(query->tables[1]->name, "projects/p/instances/i/tables/t");
}

TEST_F(BindViewsTest, WhatAViewReadsIsFoundWithTheRightOfItsDefiner) {
  Define("v", "SELECT _key FROM t");
  const BindOptions definer = Options();
  BindOptions options = Options();
  options.find_table = [](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
    if (id == "v") return absl::NotFoundError("there is no such table");
    return absl::PermissionDeniedError("no");
  };
  options.in_views = &definer;
  EXPECT_EQ(Planned("SELECT * FROM v", options), "_key BYTES\nscan t: _key\n");
  EXPECT_EQ(Planned("SELECT * FROM t", options), "PERMISSION_DENIED: no\n");
}

TEST_F(BindViewsTest, ErrorsNameTheView) {
  Define("v", "SELECT none FROM t");
  EXPECT_EQ(Plan("SELECT * FROM v"), "INVALID_ARGUMENT: In view v: Unrecognized name: none [at 1:8]\n");
  Define("gone", "SELECT * FROM dropped");
  EXPECT_EQ(Plan("SELECT * FROM gone"), "NOT_FOUND: In view gone: Table not found: dropped [at 1:15]\n");
  Define("p", "SELECT @k AS k");
  EXPECT_EQ(Plan("SELECT * FROM p"), "INVALID_ARGUMENT: In view p: Query parameter 'k' not found [at 1:8]\n");
  EXPECT_EQ(Plan("SELECT * FROM v(with_history => TRUE)"),
            "INVALID_ARGUMENT: Only tables have temporal arguments [at 1:17]\n");
  EXPECT_EQ(Plan("SELECT * FROM other"), "NOT_FOUND: Table not found: other [at 1:15]\n");
}

TEST_F(BindViewsTest, AViewDoesNotReadFromItself) {
  Define("v", "SELECT _key FROM t");
  Define("w", "SELECT _key FROM v");
  BindOptions options = Options();
  options.defines = "projects/p/instances/i/logicalViews/v";
  EXPECT_EQ(Planned("SELECT * FROM v", options),
            "INVALID_ARGUMENT: View v must not read from itself [at 1:15]\n");
  EXPECT_EQ(Planned("SELECT * FROM w", options),
            "INVALID_ARGUMENT: In view w: View v must not read from itself [at 1:18]\n");
}

TEST_F(BindViewsTest, NestingAndTextsAreBounded) {
  Define("v0", "SELECT _key FROM t");
  for (size_t i = 1; i <= kLogicalViewNestingMax; ++i) {
    Define(fmt::format("v{}", i), fmt::format("SELECT _key FROM v{}", i - 1));
  }
  EXPECT_EQ(Plan(fmt::format("SELECT * FROM v{}", kLogicalViewNestingMax - 1)), "_key BYTES\nscan t: _key\n");
  EXPECT_NE(Plan(fmt::format("SELECT * FROM v{}", kLogicalViewNestingMax))
                .find("Views read from views more than 8 deep"),
            std::string::npos);
  // Two views that were defined over each other at one moment.
  Define("a", "SELECT * FROM b");
  Define("b", "SELECT * FROM a");
  EXPECT_NE(Plan("SELECT * FROM a").find("Views read from views more than 8 deep"), std::string::npos);
  // Each use counts, so that few views do not make a plan without bounds.
  Define("wide0", "SELECT _key FROM t");
  for (int i = 1; i < 4; ++i) {
    std::string query = fmt::format("SELECT _key FROM wide{}", i - 1);
    for (int j = 1; j < 20; ++j) query += fmt::format(" UNION ALL SELECT _key FROM wide{}", i - 1);
    Define(fmt::format("wide{}", i), query);
  }
  EXPECT_NE(Plan("SELECT * FROM wide3").find("A query reads from at most 1000 tables"), std::string::npos);
  Define("long", "SELECT _key FROM t" + std::string(kQueryTextBytesMax - 100, ' '));
  EXPECT_EQ(Plan("SELECT * FROM long"), "_key BYTES\nscan t: _key\n");
  EXPECT_EQ(
      Plan("SELECT a._key FROM long a JOIN long b ON TRUE"),
      "INVALID_ARGUMENT: In view long: The queries of a query's views have 2096988 bytes of text; at most "
      "1048576 are allowed\n");
}

TEST_F(BindViewsTest, NestedViewsOfDeepQueriesFitTheStack) {
  std::string deep = "SELECT _key FROM ";
  for (int i = 0; i < 45; ++i) deep += "(SELECT _key FROM ";
  const std::string close(45, ')');
  Define("v0", deep + "t" + close);
  for (size_t i = 1; i < kLogicalViewNestingMax; ++i) {
    Define(fmt::format("v{}", i), deep + fmt::format("v{}", i - 1) + close);
  }
  EXPECT_EQ(Plan(fmt::format("SELECT * FROM v{}", kLogicalViewNestingMax - 1)), "_key BYTES\nscan t: _key\n");
}

// The families and views that a view with this query needs: "t(cf) u() v".
std::string Sources(std::string query, const BindOptions& options) {
  LogicalViewRecord view{.query = std::move(query)};
  absl::StatusOr<BoundQuery> bound = ParseAndBind(view.query, options);
  if (!bound.ok()) return bound.status().ToString();
  SetSources(&*bound, &view);
  std::string text;
  for (const ViewSource& table : view.tables) {
    text += table.table.back();
    text += '(';
    for (const FamilyId family : table.families) text += fmt::format(" {}", family);
    text += " ) ";
  }
  for (const std::string& name : view.views) text += name.back();
  return text;
}

TEST_F(BindViewsTest, ARecordSaysWhichFamiliesTheViewNeeds) {
  Define("v", "SELECT n FROM u");
  EXPECT_EQ(Sources("SELECT 1 AS value", Options()), "");
  EXPECT_EQ(Sources("SELECT _key FROM t", Options()), "t( ) ");
  EXPECT_EQ(Sources("SELECT cf['a'] AS a FROM t", Options()), "t( 1 ) ");
  EXPECT_EQ(Sources("SELECT * FROM t", Options()), "t( 1 2 ) ");
  EXPECT_EQ(Sources("SELECT COUNT(*) AS c FROM (SELECT `N` FROM t)", Options()), "t( 2 ) ");
  EXPECT_EQ(Sources("SELECT _key FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.n['x'] > 1)", Options()),
            "t( 2 ) u( 2 ) ");
  EXPECT_EQ(Sources("SELECT v.n, t._key FROM t JOIN v ON TRUE", Options()), "t( 2 ) v");
}

}  // namespace
}  // namespace sonde::sql
