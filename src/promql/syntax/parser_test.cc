#include "promql/syntax/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "promql/syntax/printer.h"

namespace sonde::promql {
namespace {

std::string Printed(std::string_view text) {
  const auto tree = ParseQuery(text, {.allows_experimental = true});
  return tree.ok() ? Print(**tree) : std::string(tree.status().message());
}

struct PrintCase {
  std::string text;
  std::string printed;
};

const std::vector<PrintCase>& PrintCases() {
  static const auto* const cases = new std::vector<PrintCase>{
      {"010", "8"},
      {"08", "8"},
      {"0x1F", "31"},
      {"1_000", "1000"},
      {".5", "0.5"},
      {"1e3", "1000"},
      {"5m", "5m"},
      {"Inf", "+Inf"},
      {"-nan", "NaN"},
      {"-1^2", "-1 ^ 2"},
      {"2^3^2", "2 ^ 3 ^ 2"},
      {"1 + 2 * 3", "1 + 2 * 3"},
      {"(1 + 2) * 3", "(1 + 2) * 3"},
      {"a and b or c unless d", "a and b or c unless d"},
      {"foo{b=\"1\",a!='2'} # words", "foo{a!=\"2\",b=\"1\"}"},
      {"{\"a.b\",\"c d\"=\"x\"}", "{\"c d\"=\"x\",__name__=\"a.b\"}"},
      {"{`x`}", "{__name__=\"x\"}"},
      {"foo[5m]", "foo[5m]"},
      {"foo[300]", "foo[5m]"},
      {"foo[5m*2]", "foo[5m * 2]"},
      {"foo[(5m+step())]", "foo[(5m + step())]"},
      {"foo[max_of(5m, range())]", "foo[max_of(5m, range())]"},
      {"foo offset -5m @ 10.5", "foo @ 10.500 offset -5m"},
      {"foo[5m] @ start() offset 1w", "foo[5m] @ start() offset 1w"},
      {"foo[1h:1m] @ end()", "foo[1h:1m] @ end()"},
      {"rate(foo[5m])[1h:]", "rate(foo[5m])[1h:]"},
      {"foo offset -(5m)", "foo offset -5m"},
      {"foo smoothed offset 1m @ 3", "foo @ 3.000 smoothed offset 1m"},
      {"foo[5m] offset 1m anchored", "foo[5m] anchored offset 1m"},
      {"foo anchored[5m]", "foo[5m] anchored"},
      {"a + fill(-5m) b", "a + fill (-300) b"},
      {"a > bool on(i) group_left(z) fill_right(2) fill_left(1e21) b",
       "a > bool on (i) group_left (z) fill_left (1e+21) fill_right (2) b"},
      {"a + fill", "a + fill"},
      {"foo offset step() + 1", "foo offset step() + 1"},
      {"SUM by (a,) (x)", "sum by (a) (x)"},
      {"sum(x) without (\"a b\")", "sum without (\"a b\") (x)"},
      {"sum without () (x)", "sum without () (x)"},
      {"topk(3, x)", "topk(3, x)"},
      {"count_values('v', x)", "count_values(\"v\", x)"},
      {"a * on(i) group_left(z) b", "a * on (i) group_left (z) b"},
      {"a * ignoring(i) group_right b", "a * ignoring (i) group_right () b"},
      {"a > bool b", "a > bool b"},
      {"sum + by", "sum + by"},
      {"offset", "offset"},
      {"fill + fill", "fill + fill"},
      {"start() + min_of(1, 2)", "start() + min_of(1, 2)"},
      {"-x offset 1m", "-x offset 1m"},
      {"'a\\x41\\u00e9\\101'", "\"aAéA\""},
      {"x{a=~\"(?<n>b)\"}", "x{a=~\"(?<n>b)\"}"},
      {"job:x:y", "job:x:y"},
  };
  return *cases;
}

TEST(PromqlParserTest, PrintsAsPrometheusDoes) {
  for (const PrintCase& one : PrintCases()) EXPECT_EQ(Printed(one.text), one.printed) << one.text;
}

TEST(PromqlParserTest, PrintedTextReadsAsTheSameTree) {
  for (const PrintCase& one : PrintCases()) {
    const std::string printed = Printed(one.text);
    EXPECT_EQ(Printed(printed), printed) << one.text;
  }
}

TEST(PromqlParserTest, ReadsTheConditionsOfASelector) {
  const auto matchers = ParseSelector("up{job=~\"a|b\"}");
  ASSERT_TRUE(matchers.ok()) << matchers.status();
  ASSERT_EQ(matchers->size(), 2);
  EXPECT_EQ((*matchers)[0].Text(), "job=~\"a|b\"");
  EXPECT_TRUE((*matchers)[0].Matches("b"));
  EXPECT_FALSE((*matchers)[0].Matches("bb"));
  EXPECT_EQ((*matchers)[1].Text(), "__name__=\"up\"");
}

TEST(PromqlParserTest, PatternsMatchLineBreaks) {
  const auto matchers = ParseSelector("{a=~\"x.y\"}");
  ASSERT_TRUE(matchers.ok()) << matchers.status();
  EXPECT_TRUE((*matchers)[0].Matches("x\ny"));
}

TEST(PromqlParserTest, BoundsTheSizeOfAQuery) {
  const auto code = [](const std::string& text) { return ParseQuery(text, {}).status(); };
  EXPECT_EQ(code(std::string(kQueryBytesMax + 1, ' ')).message(),
            "the query has 1048577 bytes; allowed: 1048576");
  EXPECT_EQ(code(std::string(kNestedMax, '(') + "1" + std::string(kNestedMax, ')')).message(),
            "the query has more than 1000 expressions within each other");
  EXPECT_TRUE(code(std::string(400, '-') + "x").ok());
  std::string sum = "1";
  for (size_t i = 0; i < kNodesMax; ++i) sum += "+1";
  EXPECT_EQ(code(sum).message(), "the query has more than 10000 expressions");
}

// What is longer than a line is divided, and reads as the same query.
TEST(PromqlParserTest, PrintsLongQueriesOnLines) {
  const auto lines = [](std::string_view text) {
    const auto tree = ParseQuery(text, {});
    EXPECT_TRUE(tree.ok()) << tree.status();
    const std::string printed = PrintLines(**tree);
    const auto again = ParseQuery(printed, {});
    EXPECT_TRUE(again.ok()) << again.status() << printed;
    EXPECT_EQ(Print(**again), Print(**tree));
    return printed;
  };
  EXPECT_EQ(lines("sum(up)by(job)>1"), "sum by (job) (up) > 1");
  // A sign of a calculation that is divided.
  const std::string name(100, 'n');
  EXPECT_EQ(lines("-1 ^ " + name), "-1\n^\n  " + name);
  EXPECT_EQ(lines("sum by (job, instance) (rate(a_metric_with_a_long_name_total{label=\"a "
                  "value\",other!=\"b\"}[5m])) / 2 "
                  "> bool on (job) group_left (x) (-b)"),
            "  sum by (job, instance) (rate(a_metric_with_a_long_name_total{label=\"a "
            "value\",other!=\"b\"}[5m])) / 2\n"
            "> bool on (job) group_left (x)\n"
            "  (-b)");
  EXPECT_EQ(
      lines(
          "-max_over_time((label_replace(a_metric_with_a_long_name_total_and_more_of_it, \"target\", \"$1\", "
          "\"source\", \"(.*)\"))[1h:5m])"),
      "-max_over_time(\n"
      "  (label_replace(a_metric_with_a_long_name_total_and_more_of_it, \"target\", \"$1\", \"source\", "
      "\"(.*)\"))[1h:5m]\n"
      ")");
  EXPECT_EQ(
      lines("topk by (job) (5, -(sum(a_metric_with_a_long_name_total{label=\"a value\",other!=\"b\"}) + "
            "sum(a_metric_with_a_long_name_total{label=\"a value\"})))"),
      "topk by (job) (\n"
      "  5,\n"
      "  -(\n"
      "      sum(a_metric_with_a_long_name_total{label=\"a value\",other!=\"b\"})\n"
      "    +\n"
      "      sum(a_metric_with_a_long_name_total{label=\"a value\"})\n"
      "  )\n"
      ")");
}

}  // namespace
}  // namespace sonde::promql
