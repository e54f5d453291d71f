#include "web/cell_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/mutate_row_test_support.h"
#include "table/tables.h"

namespace sonde {
namespace {

class CellApiTest : public testing::Test {
 protected:
  CellApiTest() {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    schema.families = {{.name = "f"}};
    schema_ = *catalog_->Create(schema);
    AddCellApi(&tables_, nullptr, &router_);
  }

  void Put(const std::string& row, const std::string& column, int64_t micros, const std::string& value) {
    ASSERT_TRUE(MutateRow(tables_, *schema_, {row, {SetCell{"f", column, micros, value}}}).ok());
  }

  // The value, or the text of the error.
  std::string Ask(std::map<std::string, std::string> query) {
    const Router::Match match = router_.Find("GET", "/api/v1/tables/p/i/t/cell");
    HttpRequest request;
    for (const auto& [name, value] : query) request.query.emplace(name, value);
    request.parts = match.parts;
    HttpResponse response;
    if (absl::Status status = match.route->handler(request, nullptr, &response); !status.ok())
      return std::string(status.message());
    std::string text;
    while (*response.stream(&text)) {
    }
    return text;
  }

  const std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  const std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  SystemClock clock_;
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  TableSchemaRef schema_;
  Router router_;
};

TEST_F(CellApiTest, GivesAllBytesOfTheOneCell) {
  const std::string value(200'000, '\xfe');
  Put("row.1", "c.1", 2'000, value);
  Put("row.1", "c.1", 3'000, "newer");
  Put("row.1", "cx1", 2'000, "of another column");
  const std::map<std::string, std::string> query = {
      {"key", "row.1"}, {"family", "f"}, {"column", "c.1"}, {"time_micros", "2000"}};
  EXPECT_EQ(Ask(query), value);
  auto few = query;
  few["bytes"] = "3";
  EXPECT_EQ(Ask(few), value.substr(0, 3));
}

TEST_F(CellApiTest, NamesAreBytes) {
  Put(std::string("\x00\xff", 2), "\x80", 1'000, "v");
  EXPECT_EQ(Ask({{"key", "\\x00\\xff"}, {"family", "f"}, {"column", "\\x80"}, {"time_micros", "1000"}}), "v");
}

TEST_F(CellApiTest, SaysWhichCellIsMissing) {
  Put("a", "c", 1'000, "v");
  EXPECT_EQ(Ask({{"key", "a"}, {"family", "f"}, {"column", "c"}, {"time_micros", "2000"}}),
            "row 'a' has no cell f:c of the time 2000 µs since 1970");
  EXPECT_EQ(Ask({{"key", "a"}}),
            "a cell is named by 'key', 'family', 'column' (empty: the empty qualifier) and 'time_micros'");
}

}  // namespace
}  // namespace sonde
