#include <gtest/gtest.h>

#include "model/names.h"
#include "model/quote_regex.h"
#include "model/row_range.h"
#include "model/table_schema.h"

namespace sonde {
namespace {

TEST(RowRange, NormalizeJoinsWhatTouchesOrOverlaps) {
  EXPECT_EQ(NormalizeRanges({{"c", "d"}, {"a", "b"}, {"b", "c"}, {"x", "x"}, {"e", ""}, {"f", "g"}}),
            (std::vector<RowRange>{{"a", "d"}, {"e", ""}}));
  EXPECT_TRUE(NormalizeRanges({{"b", "a"}}).empty());
}

TEST(RowRange, SingleKnowsItself) {
  EXPECT_TRUE(RowRange::Single("k").IsSingleRow());
  EXPECT_FALSE((RowRange{"k", "l"}).IsSingleRow());
  EXPECT_FALSE(RowRange::All().IsSingleRow());
  EXPECT_TRUE(RowRange::Prefix("ab").Contains("ab\xff\xff"));
  EXPECT_FALSE(RowRange::Prefix("ab").Contains("ac"));
}

TEST(RowRange, ClipKeepsWhatIsInside) {
  EXPECT_EQ(ClipRanges({{"a", "c"}, {"e", ""}}, {"b", "f"}), (std::vector<RowRange>{{"b", "c"}, {"e", "f"}}));
  EXPECT_EQ(ClipRanges({{"a", ""}}, {}), (std::vector<RowRange>{{"a", ""}}));
}

TEST(Names, TableNames) {
  EXPECT_TRUE(CheckTableName("projects/p/instances/i/tables/t-1.x_Y").ok());
  EXPECT_TRUE(CheckTableName("projects/example.com:p/instances/i/tables/_").ok());
  // As the Node client names a project that nobody told it.
  EXPECT_TRUE(CheckTableName("projects/{{projectId}}/instances/my instance/tables/t").ok());
  EXPECT_TRUE(CheckTableName("projects/Zürich/instances/100%/tables/t").ok());
  EXPECT_TRUE(CheckInstanceName("projects/p/instances/" + std::string(1024, 'i')).ok());
  EXPECT_FALSE(CheckInstanceName("projects/p/instances/" + std::string(1025, 'i')).ok());
  for (const char* bad : {"", "t", "projects/p/instances/i/tables/", "projects/p/instances/i/tables/-t",
                          "projects//instances/i/tables/t", "projects/p/instances//tables/t",
                          "projects/p/instances/i/tables/a/tables/b", "projects/p/q/instances/i/tables/t",
                          "projects/p\n/instances/i/tables/t", "projects/p/instances/i\x7F/tables/t",
                          "projects/p/instances/i/tables/a b"}) {
    EXPECT_EQ(CheckTableName(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_FALSE(CheckTableId(std::string(51, 'a')).ok());
  EXPECT_TRUE(CheckTableId(std::string(50, 'a')).ok());
  EXPECT_EQ(InstanceOfTable("projects/p/instances/i/tables/t"), "projects/p/instances/i");
  EXPECT_EQ(IdOfTable("projects/p/instances/i/tables/t"), "t");
}

TEST(TableSchema, FindsFamiliesByNameAndId) {
  TableSchema schema;
  schema.families = {{.name = "a", .id = 7}, {.name = "c", .id = 2}};
  EXPECT_EQ(schema.FindFamily("c")->id, 2u);
  EXPECT_EQ(schema.FindFamily("b"), nullptr);
  EXPECT_EQ(schema.FindFamily(FamilyId{7})->name, "a");
  EXPECT_EQ(schema.FindFamily(FamilyId{1}), nullptr);
}

TEST(QuoteRegex, EscapesEverythingButLettersDigitsAndUnderscore) {
  EXPECT_EQ(QuoteRegex("aZ_9"), "aZ_9");
  EXPECT_EQ(QuoteRegex("a.b|c\\"), "a\\.b\\|c\\\\");
  EXPECT_EQ(QuoteRegex(std::string_view("\0\n\x7F\xFF", 4)), "\\x00\\x0a\\x7f\\xff");
}

}  // namespace
}  // namespace sonde
