#include "table/number_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "table/mutate_row_test_support.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

TEST_F(TablesTest, NumbersAreWhatIsSeenOfAColumn) {
  for (const size_t cells_per_piece_max : {0, 1, 2}) {
    const auto engine = MemoryEngine::Create(
        {.honour_hints = cells_per_piece_max == 0, .cells_per_piece_max = cells_per_piece_max});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef created = *catalog->Create(*schema_);
    for (const char* row : {"a", "b", "c"}) {
      std::vector<Mutation> mutations;
      constexpr std::string_view kValues[] = {"1", "2", "3", "4"};
      for (const char* family : {"z", "last", "day"}) {
        for (int64_t i = 0; i < 4; ++i) {
          mutations.push_back(SetCell{family, "q", kNow - (3 - i) * 43'200 * kSecond, kValues[i]});
          mutations.push_back(SetCell{family, "other", kNow, "9"});
        }
      }
      ASSERT_TRUE(MutateRow(tables, *created, {row, mutations}).ok());
    }
    const auto read = [&](NumberRead request, size_t rows_max = 100) {
      request.columns = {{"q"}};
      std::string result;
      const absl::Status status = tables.ReadNumbers(created, request, [&](const NumberRow& row) {
        if (!result.starts_with(row.row_key) && result.find(std::string(row.row_key)) == std::string::npos)
          result += row.row_key;
        for (const NumberRow::Part& part : row.parts) {
          EXPECT_EQ(part.column, 0u);
          for (size_t i = 0; i < part.timestamps_micros.size(); ++i) {
            EXPECT_EQ(part.timestamps_micros[i], kNow - ('4' - part.values.bytes()[i][0]) * 43'200 * kSecond);
            result += part.values.bytes()[i];
          }
        }
        return --rows_max > 0;
      });
      return status.ok() ? result : std::string(status.message());
    };
    const std::vector<RowRange> all = {RowRange::All()};
    EXPECT_EQ(read({.ranges = all, .family = "z"}), "a4321b4321c4321");
    EXPECT_EQ(read({.ranges = {RowRange::Single("b")}, .family = "last"}), "b43");
    EXPECT_EQ(read({.ranges = all, .family = "day"}), "a432b432c432");
    // What is out of the time that is asked for counts as a version.
    EXPECT_EQ(read({.ranges = {RowRange{"b", ""}}, .family = "last", .end_micros = kNow}), "b3c3");
    EXPECT_EQ(read({.ranges = {RowRange{"b", ""}},
                    .family = "z",
                    .start_micros = kNow - 2 * 43'200 * kSecond,
                    .end_micros = kNow}),
              "b32c32");
    EXPECT_EQ(read({.ranges = all, .family = "z", .reversed = true}), "c4321b4321a4321");
    EXPECT_EQ(read({.ranges = all, .family = "z", .end_micros = kNow, .cells_per_column_max = 2}),
              "a32b32c32");
    EXPECT_EQ(read({.ranges = {}, .family = "z"}), "");
    EXPECT_TRUE(std::string("a4321").starts_with(read({.ranges = all, .family = "z"}, 1)));
    EXPECT_EQ(read({.ranges = all, .family = "none"}), "projects/p/instances/i/tables/t: no family 'none'");
  }
}

// Columns come in any order of the read, each in its own parts; whole rows at once.
TEST_F(TablesTest, NumbersOfSeveralColumns) {
  for (const size_t cells_per_piece_max : {0, 1, 3}) {
    const auto engine = MemoryEngine::Create(
        {.honour_hints = cells_per_piece_max == 0, .cells_per_piece_max = cells_per_piece_max});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef created = *catalog->Create(*schema_);
    for (const char* row : {"a", "b"}) {
      std::vector<Mutation> mutations;
      constexpr std::string_view kValues[] = {"0", "1", "2"};
      for (int64_t i = 0; i < 3; ++i) {
        for (const char* column : {"p", "q", "r", "s"}) {
          if (*row == 'b' && *column == 'q') continue;
          mutations.push_back(SetCell{"last", column, kNow - i * kSecond, kValues[i]});
        }
      }
      ASSERT_TRUE(MutateRow(tables, *created, {row, mutations}).ok());
    }
    for (const bool whole_rows : {false, true}) {
      const NumberRead read{.ranges = {RowRange::All()},
                            .family = "last",
                            .columns = {{"r"}, {"none"}, {"q"}, {"p"}},
                            .whole_rows = whole_rows};
      std::map<std::string, std::map<size_t, std::string>> found;
      size_t calls = 0;
      const absl::Status status = tables.ReadNumbers(created, read, [&](const NumberRow& row) {
        ++calls;
        for (const NumberRow::Part& part : row.parts) {
          for (size_t i = 0; i < part.values.size(); ++i)
            found[std::string(row.row_key)][part.column] += part.values.bytes()[i];
        }
        return true;
      });
      ASSERT_TRUE(status.ok()) << status;
      // The family keeps two versions.
      EXPECT_EQ(found, (std::map<std::string, std::map<size_t, std::string>>{
                           {"a", {{0, "01"}, {2, "01"}, {3, "01"}}}, {"b", {{0, "01"}, {3, "01"}}}}));
      if (whole_rows) {
        EXPECT_EQ(calls, 2u);
      }
    }
  }
}

}  // namespace
}  // namespace sonde
