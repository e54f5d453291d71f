#include "base/text_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sonde {
namespace {

TEST(DisplayText, IsSafe) {
  EXPECT_EQ(DisplayText("Zürich 温度"), "Zürich 温度");
  EXPECT_EQ(DisplayText("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(DisplayText("a\xc3"), "a\\xc3");
  EXPECT_EQ(DisplayText("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(DisplayText(std::string(100, 'a')), std::string(60, 'a') + "…");
}

TEST(TextTable, HasNumbersOnTheRight) {
  std::ostringstream out;
  TextTable table({{"name"}, {"n", true}, {"note"}}, &out);
  table.Row({"a", "1", "x"});
  table.Row({"größer", "1000", ""});
  table.End();
  EXPECT_EQ(out.str(),
            "name       n  note\n"
            "──────  ────  ────\n"
            "a          1  x\n"
            "größer  1000\n");
}

TEST(TextTable, WithoutRowsHasItsNames) {
  std::ostringstream out;
  TextTable table({{"name"}}, &out);
  table.End();
  EXPECT_EQ(out.str(), "name\n────\n");
}

TEST(CsvText, IsQuotedWhereItMustBe) {
  EXPECT_EQ(CsvText("a b"), "a b");
  EXPECT_EQ(CsvText("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(CsvText("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace sonde
