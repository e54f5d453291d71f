// An execution that goes on behind any batch gives what the first one would have given.
#include <gtest/gtest.h>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

class ResumeTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    for (int row = 0; row < 120; ++row) {
      Put("r" + std::to_string(1000 + row), "a", "q", row + 1, std::to_string(row));
      if (row % 3 == 0) Put("r" + std::to_string(1000 + row), "z", "y", row + 1, "v");
    }
    std::vector<Mutation> cells;
    for (int cell = 0; cell < 2500; ++cell) cells.push_back(SetCell{"a", "q", (cell + 10) * kSecond, "t"});
    Put("r1050", std::move(cells));
  }

  // Compares at each batch; returns how many there were.
  size_t ExpectSameFromEachBatch(std::string_view sql) {
    const BoundQuery query = *BindText(sql);
    const std::string all = Query(sql);
    std::unique_ptr<Execution> execution = *Execute(query, {}, Environment());
    std::string before;
    rows::Batch batch;
    size_t batches = 0;
    while (*execution->Next(&batch)) {
      ++batches;
      AppendRows(TypesOf(query), batch, &before);
      const std::optional<std::string> point = execution->ResumePoint();
      EXPECT_TRUE(point.has_value()) << sql;
      if (!point.has_value()) return batches;
      ExecutionEnvironment environment = Environment();
      environment.resume_after = *point;
      const auto resumed = Execute(query, {}, environment);
      EXPECT_TRUE(resumed.ok()) << resumed.status();
      if (!resumed.ok()) return batches;
      const std::string rest = Rest(resumed->get(), TypesOf(query));
      EXPECT_EQ(before.size() + rest.size(), all.size()) << sql << " at batch " << batches;
      EXPECT_TRUE(before + rest == all) << sql << " at batch " << batches;
    }
    ExecutionEnvironment at_end = Environment();
    at_end.resume_after = *execution->ResumePoint();
    EXPECT_EQ(Rest(Execute(query, {}, at_end)->get(), TypesOf(query)), "");
    EXPECT_TRUE(before == all);
    return batches;
  }
};

TEST_F(ResumeTest, GoesOnWherePlansStream) {
  for (const std::string_view sql : {
           "SELECT _key, a['q'] FROM t",
           "SELECT _key FROM t WHERE a['q'] > '5'",
           "SELECT _key FROM t ORDER BY _key DESC",
           "SELECT _key, z FROM t WHERE z['y'] = 'v' LIMIT 20 OFFSET 10",
           "SELECT _key, e, o FROM t, UNNEST(GENERATE_ARRAY(1, 100)) AS e WITH OFFSET o WHERE MOD(e, 3) = 0",
           "SELECT _key, e FROM t, UNNEST(GENERATE_ARRAY(1, 300)) AS e LIMIT 9000 OFFSET 2500",
           "SELECT _key, a, _timestamp FROM UNPACK((SELECT _key, a['q'] AS a FROM t(with_history => TRUE)))",
           "SELECT _key, e FROM UNPACK((SELECT _key, a['q'] AS a FROM t(with_history => TRUE))), UNNEST([1, "
           "2, 3]) e",
           "SELECT _key FROM t UNION ALL SELECT _key FROM t WHERE a['q'] > '5'",
           "SELECT 1 UNION ALL SELECT 2",
           "SELECT e FROM UNNEST(GENERATE_ARRAY(1, 5000)) e",
       }) {
    EXPECT_GE(ExpectSameFromEachBatch(sql), 1) << sql;
  }
}

TEST_F(ResumeTest, HasNoPointWherePlansLookAtAllRowsFirst) {
  for (const std::string_view sql :
       {"SELECT COUNT(*) FROM t", "SELECT _key FROM t ORDER BY a['q']", "SELECT ROW_NUMBER() OVER () FROM t",
        "SELECT t._key FROM t JOIN t AS u ON t._key = u._key"}) {
    const BoundQuery query = *BindText(sql);
    std::unique_ptr<Execution> execution = *Execute(query, {}, Environment());
    rows::Batch batch;
    ASSERT_TRUE(*execution->Next(&batch));
    EXPECT_EQ(execution->ResumePoint(), std::nullopt) << sql;
  }
}

TEST_F(ResumeTest, RefusesPointsOfOtherQueriesAndBytesThatAreNone) {
  const BoundQuery query = *BindText("SELECT _key FROM t");
  const BoundQuery other = *BindText("SELECT _key, e FROM t, UNNEST([1, 2]) e");
  std::unique_ptr<Execution> execution = *Execute(query, {}, Environment());
  rows::Batch batch;
  ASSERT_TRUE(*execution->Next(&batch));
  const std::string point = *execution->ResumePoint();
  std::vector<std::string> points = {"x", std::string(1, '\0'), point + "x"};
  for (size_t size = 1; size < point.size(); ++size) points.push_back(point.substr(0, size));
  for (const std::string& bad : points) {
    ExecutionEnvironment environment = Environment();
    environment.resume_after = bad;
    EXPECT_EQ(Execute(query, {}, environment).status(),
              absl::InvalidArgumentError("The resume point is none of this query"));
  }
  ExecutionEnvironment environment = Environment();
  environment.resume_after = point;
  EXPECT_EQ(Execute(other, {}, environment).status(),
            absl::InvalidArgumentError("The resume point is none of this query"));
}

TEST_F(ResumeTest, DoesNotGiveARowAgainThatWasDeletedMeanwhile) {
  const BoundQuery query = *BindText("SELECT _key, e FROM t, UNNEST(GENERATE_ARRAY(1, 700)) AS e");
  std::unique_ptr<Execution> execution = *Execute(query, {}, Environment());
  rows::Batch batch;
  ASSERT_TRUE(*execution->Next(&batch));  // ends within the second row
  Put("r1001", {DeleteFromRow{}});
  ExecutionEnvironment environment = Environment();
  environment.resume_after = *execution->ResumePoint();
  const std::string rest = Rest(Execute(query, {}, environment)->get(), TypesOf(query));
  EXPECT_EQ(rest.substr(0, rest.find('\n')), "b\"r1002\" 1");
}

}  // namespace
}  // namespace sonde::sql
