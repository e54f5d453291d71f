// SQL over tables of this process: whom observers are told of.
#include "sql/exec/local_sql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sql/exec/exec_test_support.h"
#include "table/access_observer.h"

namespace sonde::sql {
namespace {

class FullScans final : public AccessObserver {
 public:
  void OnAccess(TableId, const AccessPart&) override {}
  void OnFullScan(TableId, const FullScan& scan) override { callers.push_back(scan.caller); }
  std::vector<std::string> TabletStarts(TableId) override { return {}; }

  std::vector<std::string> callers;
};

class IgnoredRows final : public AnswerSink {
 public:
  absl::Status TakeColumns(const std::vector<AnswerColumn>&) override { return absl::OkStatus(); }
  absl::Status TakeRows(const rows::Batch&) override { return absl::OkStatus(); }
};

class LocalSqlTest : public ExecTest {};

// However the rows are read: as cells, as numbers, as numbers by time, for their keys alone.
TEST_F(LocalSqlTest, TellsObserversWhichQueryReadsAWholeTable) {
  Put("r1", "a", "n", 1, "12");
  Put("r2", "a", "n", 2, "13");
  FullScans scans;
  LocalSql sql(std::make_shared<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1, &scans),
               "projects/p/instances/i");
  const std::vector<std::string> queries = {
      "SELECT * FROM t",
      "SELECT SUM(CAST(CAST(a['n'] AS STRING) AS FLOAT64)) FROM t",
      "SELECT SUM(CAST(CAST(n AS STRING) AS FLOAT64)) FROM UNPACK((SELECT a['n'] AS n FROM t(with_history => "
      "TRUE)))",
      "SELECT COUNT(*) FROM t",
  };
  IgnoredRows ignored;
  for (const std::string& query : queries) {
    ASSERT_TRUE(sql.Ask({.text = query}, &ignored).ok()) << query;
  }
  EXPECT_EQ(scans.callers, queries);
  // A query that reads some rows is none of them.
  ASSERT_TRUE(sql.Ask({.text = "SELECT * FROM t WHERE _key = 'r1'"}, &ignored).ok());
  EXPECT_EQ(scans.callers, queries);
}

}  // namespace
}  // namespace sonde::sql
