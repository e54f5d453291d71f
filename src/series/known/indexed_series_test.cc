#include "series/known/indexed_series.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr char kIndexed[] =
    "series: s\nindex: yes\ntags: { b: string, a.b: int }\nfields: { x: double }\nlayout: row\nkey: [b, a.b, "
    "time]\n";

SeriesSchema Parse(const std::string& text) { return ParseSchema(text, "x.yaml").value(); }

std::string Without(std::string text) { return text.replace(text.find("index: yes"), 10, "index: no"); }

class IndexedSeriesTest : public testing::Test {
 protected:
  void Declare(const std::string& text) {
    const absl::Status status = EnsureSeriesTables(Parse(text), &tables_);
    ASSERT_TRUE(status.ok()) << status;
  }
  bool IsWhole(const std::string& text) { return !FindIndexGap(Parse(text), &tables_).value().has_value(); }
  void Write(const std::string& text) {
    PointWriter writer(Parse(text), &tables_);
    ASSERT_TRUE(writer.Add({{"v", "7"}, 0, {"1"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  }

  MemoryTables tables_;
};

TEST_F(IndexedSeriesTest, TextsAreInTheOrderOfNames) {
  const SeriesSchema schema = Parse(kIndexed);
  const EntityTexts texts(schema);
  std::string text;
  texts.Append({"x,=#%y", "-007"}, &text);
  EXPECT_EQ(text, "a.b=-7,b=x%2C%3D%23%25y");
  std::vector<std::string> tags;
  ASSERT_TRUE(texts.Parse(text, &tags));
  EXPECT_EQ(tags, (std::vector<std::string>{"x,=#%y", "-7"}));
  // The index knows the series with these labels, whatever order they are declared in.
  EXPECT_EQ(IndexedView(schema).labels, (std::vector<std::string>{"a.b", "b"}));
  EXPECT_FALSE(IndexedView(schema).is_open());
  for (const char* other : {"", ",", "b=x", "a.b=1,c=2", "a.b=1,b=", "b=1,a.b=2", "a.b=1,b=2,c=3"})
    EXPECT_FALSE(texts.Parse(other, &tags)) << other;
}

TEST_F(IndexedSeriesTest, TheDayIsThatOfTheTimeThatIsFound) {
  const std::string head = "series: s\ntags: { a: string }\nfields: { x: double }\n";
  const int64_t time = 18690 * kMicrosPerDay + 7;
  EXPECT_EQ(TimeAsFound(KeyCodec(Parse(head + "bucket: month\nkey: [a, bucket]\n")), time), time);
  EXPECT_EQ(TimeAsFound(KeyCodec(Parse(head + "layout: row\nkey: [a, { time: yyyymm }]\n")), time),
            18687 * kMicrosPerDay);
  EXPECT_EQ(EntityDay(time), 18690);
  EXPECT_EQ(EntityDay(-time), 0);
}

TEST_F(IndexedSeriesTest, IsWholeFromTheFirstDeclarationOn) {
  EXPECT_FALSE(IsWhole(kIndexed));
  Declare(kIndexed);
  EXPECT_TRUE(IsWhole(kIndexed));
  Write(kIndexed);
  Declare(std::string(kIndexed) + "retention: { max_age: 9y }\n");
  EXPECT_TRUE(IsWhole(kIndexed));
}

TEST_F(IndexedSeriesTest, IsNotWholeAfterADeclarationWithoutIt) {
  Declare(kIndexed);
  Declare(Without(kIndexed));
  EXPECT_FALSE(IsWhole(kIndexed));
  Declare(kIndexed);
  EXPECT_FALSE(IsWhole(kIndexed));  // though there are no points: somebody may write by the one before
  const auto gap = FindIndexGap(Parse(kIndexed), &tables_).value();
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->severity, Severity::kWarning);
  EXPECT_EQ(gap->line, 2);
  EXPECT_EQ(gap->reason,
            "the index of series 's' does not have all of it: what was written before it was declared so may "
            "be missing; "
            "the keys alone say which rows are read");
}

TEST_F(IndexedSeriesTest, IsNotWholeWithOtherTags) {
  Declare(kIndexed);
  std::string other = kIndexed;
  other.replace(other.find("tags: {"), 7, "tags: { c: string,");
  other.replace(other.find("key: ["), 6, "key: [c, ");
  Declare(other);
  EXPECT_FALSE(IsWhole(other));
}

TEST_F(IndexedSeriesTest, IsNotWholeOverRowsThatNobodyDeclared) {
  ASSERT_TRUE(tables_.EnsureTable("s", {{"m", GcRule{}}}).ok());
  Write(Without(kIndexed));
  Declare(kIndexed);
  EXPECT_FALSE(IsWhole(kIndexed));
}

}  // namespace
}  // namespace sonde::series
