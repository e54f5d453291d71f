// Queries as text, with the rows that GoogleSQL's reference implementation gives.
#include <gtest/gtest.h>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

class QueryTest : public ExecTest {};

TEST_F(QueryTest, Smoke) {
  if (const char* const sql = std::getenv("SONDE_TEST_SQL"); sql != nullptr) {
    Put("r1", "a", "q", 2, "q2");
    std::cout << Query(sql) << std::endl;
  }
}

}  // namespace
}  // namespace sonde::sql
