#include "web/rows_answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/mutate_row_test_support.h"
#include "table/tables.h"

namespace sonde {
namespace {

class RowsAnswerTest : public testing::Test {
 protected:
  RowsAnswerTest() {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    schema.families = {{.name = "f"}, {.name = "g"}};
    schema_ = *catalog_->Create(schema);
  }

  // Cells of both families; no byte of a value can be shown as it is.
  void Put(const std::string& row, int cells, size_t value_bytes) {
    const std::string value(value_bytes, '\0');
    std::vector<std::string> columns;
    for (int i = 0; i < cells; ++i) columns.push_back("column-" + std::to_string(i));
    std::vector<Mutation> mutations;
    for (int i = 0; i < cells; ++i) {
      mutations.push_back(SetCell{i % 2 == 0 ? "f" : "g", columns[i], 1'000 * (i + 1), value});
    }
    ASSERT_TRUE(MutateRow(tables_, *schema_, {row, mutations}).ok());
  }

  // The whole answer; the longest part goes to `part_bytes_max`.
  nlohmann::json Answer(int64_t rows_max, size_t* part_bytes_max) {
    auto reader =
        tables_.Read(schema_, {.ranges = {RowRange::All()}, .rows_limit = rows_max + 1, .in_parts = true});
    EXPECT_TRUE(reader.ok());
    RowsAnswer answer(*std::move(reader), rows_max);
    EXPECT_TRUE(answer.Begin().ok());
    std::string text;
    *part_bytes_max = 0;
    for (bool goes_on = true; goes_on;) {
      std::string part;
      goes_on = *answer.Next(&part);
      *part_bytes_max = std::max(*part_bytes_max, part.size());
      text += part;
    }
    EXPECT_TRUE(text.ends_with("}\n"));
    return nlohmann::json::parse(text);
  }

  const std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create({.cells_per_piece_max = 7});
  const std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  SystemClock clock_;
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  TableSchemaRef schema_;
};

TEST_F(RowsAnswerTest, HasNoRows) {
  size_t part_bytes = 0;
  EXPECT_EQ(Answer(5, &part_bytes).dump(), R"({"next":null,"rows":[]})");
}

TEST_F(RowsAnswerTest, IsMadeInPartsThatAreShort) {
  for (const char* row : {"a", "b", "c"}) Put(row, 200, 1'500);
  size_t part_bytes = 0;
  const nlohmann::json answer = Answer(2, &part_bytes);
  EXPECT_LT(part_bytes, 80'000);
  EXPECT_EQ(answer["next"], "c");
  ASSERT_EQ(answer["rows"].size(), 2);
  const nlohmann::json& row = answer["rows"][1];
  EXPECT_EQ(row["key"], "b");
  EXPECT_EQ(row["cells_count"], 200);
  ASSERT_EQ(row["cells"].size(), 200);
  EXPECT_EQ(row["cells"][0]["family"], "f");
  EXPECT_EQ(row["cells"][0]["qualifier"], "column-0");
  EXPECT_EQ(row["cells"][0]["time_micros"], 1'000);
  EXPECT_EQ(row["cells"][0]["bytes"], 1'500);
  EXPECT_EQ(row["cells"][0]["value"].get<std::string>().size(), 4 * 1'024);  // \x00 each
}

TEST_F(RowsAnswerTest, OfALongRowShowsTheFirstCellsAndCountsAll) {
  Put("a", 2'500, 1);
  Put("b", 1, 1);
  size_t part_bytes = 0;
  const nlohmann::json answer = Answer(5, &part_bytes);
  EXPECT_TRUE(answer["next"].is_null());
  ASSERT_EQ(answer["rows"].size(), 2);
  EXPECT_EQ(answer["rows"][0]["cells"].size(), 2'000);
  EXPECT_EQ(answer["rows"][0]["cells_count"], 2'500);
  EXPECT_EQ(answer["rows"][1]["cells"].size(), 1);
}

TEST_F(RowsAnswerTest, EndsBehindTheRowThatMakesItLong) {
  for (int i = 0; i < 12; ++i) Put(std::string(1, static_cast<char>('a' + i)), 1'000, 1'024);
  size_t part_bytes = 0;
  const nlohmann::json answer = Answer(100, &part_bytes);
  EXPECT_EQ(answer["rows"].size(), 8);
  EXPECT_EQ(answer["next"], "i");
}

}  // namespace
}  // namespace sonde
