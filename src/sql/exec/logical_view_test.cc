// Logical views over a table with rows.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "sql/exec/exec_test_support.h"
#include "sql/exec/instance_names.h"

namespace sonde::sql {
namespace {

constexpr char kViews[] = "projects/p/instances/i/logicalViews/";

class LogicalViewTest : public ExecTest {
 protected:
  void Define(const std::string& id, const std::string& query) {
    ASSERT_TRUE(catalog_->CreateLogicalView({.name = kViews + id, .query = query}).ok());
  }
  std::string Ask(std::string_view sql, const ViewParameters& parameters = {},
                  const InstanceNames::MayRead& may_read = {}) {
    BundleFinder bundles(catalog_.get());
    const InstanceNames names(catalog_.get(), &bundles, /*series=*/nullptr, "projects/p/instances/i",
                              Dialect::kSonde, may_read);
    const absl::StatusOr<BoundQuery> query = ParseAndBind(sql, names.Options());
    if (!query.ok()) return query.status().ToString();
    ExecutionEnvironment environment = Environment();
    environment.view_parameters = parameters;
    const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(*query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    return Rest(execution->get(), TypesOf(*query));
  }
};

TEST_F(LogicalViewTest, GivesRowsAsItsQueryDoes) {
  Put("k1", "a", "x", 1, "one");
  Put("k2", "a", "x", 1, "two");
  Define("v", "SELECT _key, a['x'] AS x FROM t");
  Define("w", "SELECT x FROM v WHERE _key > 'k1'");
  EXPECT_EQ(Ask("SELECT * FROM v"), "b\"k1\" b\"one\"\nb\"k2\" b\"two\"\n");
  EXPECT_EQ(Ask("SELECT x FROM v WHERE _key = 'k1'"), "b\"one\"\n");
  EXPECT_EQ(Ask("SELECT * FROM w"), "b\"two\"\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM v a JOIN w b ON a.x = b.x"), "1\n");
}

TEST_F(LogicalViewTest, EachCallerSeesTheRowsOfTheViewParameters) {
  Put("k1", "a", "owner", 1, "alice");
  Put("k2", "a", "owner", 1, "bob");
  Define("mine", "SELECT _key FROM t WHERE a['owner'] = CAST(VIEW_PARAMETERS('user') AS BYTES)");
  EXPECT_EQ(Ask("SELECT * FROM mine", {{"user", "bob"}}), "b\"k2\"\n");
  EXPECT_EQ(Ask("SELECT * FROM mine"), "");
}

// What a view leaves out is not seen by the conditions of those who ask, either.
TEST_F(LogicalViewTest, NoConditionSeesARowThatTheViewLeavesOut) {
  Put("k1", "a", "x", 1, "shown");
  Put("k2", "a", "x", 1, "hidden");
  Define("v", "SELECT _key, a['x'] AS x FROM t WHERE a['x'] != 'hidden'");
  EXPECT_EQ(Ask("SELECT x FROM v WHERE IF(x = 'hidden', ERROR('seen') = 1, TRUE)"), "b\"shown\"\n");
  EXPECT_EQ(Ask("SELECT x FROM v WHERE 1 / (LENGTH(x) - 6) < 0"), "b\"shown\"\n");
}

TEST_F(LogicalViewTest, WhoAsksNeedsTheViewOnly) {
  Put("k1", "a", "x", 1, "one");
  Define("v", "SELECT _key FROM t");
  const auto only = [](std::string name) -> InstanceNames::MayRead {
    return [name = std::move(name)](std::string_view resource) -> absl::Status {
      if (resource == name) return absl::OkStatus();
      return absl::PermissionDeniedError(std::string(resource));
    };
  };
  const InstanceNames::MayRead may_view = only(std::string(kViews) + "v");
  EXPECT_EQ(Ask("SELECT * FROM v", {}, may_view), "b\"k1\"\n");
  EXPECT_EQ(Ask("SELECT * FROM v, t", {}, may_view), "PERMISSION_DENIED: projects/p/instances/i/tables/t");
  // The answer does not tell whether there is a view, or a table.
  const InstanceNames::MayRead may_nothing = only("");
  EXPECT_EQ(Ask("SELECT * FROM v", {}, may_nothing), "PERMISSION_DENIED: projects/p/instances/i/tables/v");
  EXPECT_EQ(Ask("SELECT * FROM none", {}, may_nothing),
            "PERMISSION_DENIED: projects/p/instances/i/tables/none");
  EXPECT_EQ(Ask("SELECT * FROM v", {}, only("projects/p/instances/i/tables/v")),
            "PERMISSION_DENIED: projects/p/instances/i/logicalViews/v");
}

TEST_F(LogicalViewTest, ExplainShowsTheViewInlined) {
  Define("v", "SELECT _key, a['x'] AS x FROM t");
  EXPECT_EQ(Ask("EXPLAIN SELECT x FROM v WHERE _key = 'k'"),
            "\"Project: $1; about 0 rows expected\"\n"
            "\"  Filter: ($0 = b\\\"k\\\"); about 0 rows expected\"\n"
            "\"    Scan: projects/p/instances/i/tables/t, 1 ranges [k, k\\\\x00); about 0 rows expected\"\n");
}

}  // namespace
}  // namespace sonde::sql
