#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "promql/syntax/parser.h"

namespace sonde::promql {
namespace {

struct ErrorCase {
  std::string text;
  std::string error;
};

const std::vector<ErrorCase>& ErrorCases() {
  static const auto* const cases = new std::vector<ErrorCase>{
      {"", "unknown position: parse error: no expression found in input"},
      {"  ", "1:1: parse error: no expression found in input"},
      {"1 +", "1:4: parse error: unexpected end of input"},
      {"(1", "1:3: parse error: unclosed left parenthesis"},
      {"1)", "1:3: parse error: unexpected right parenthesis ')'"},
      {"1 > 2", "1:3: parse error: comparisons between scalars must use BOOL modifier"},
      {"1 + bool 2", "1:3: parse error: bool modifier can only be used on comparison operators"},
      {"a and 1", "1:1: parse error: set operator \"and\" not allowed in binary scalar expression"},
      {"\n\n  foo{", "3:7: parse error: unexpected end of input inside braces"},
      {"foo{a}", "1:6: parse error: unexpected \"}\" in label matching, expected label matching operator"},
      {"foo{a=1}", "1:7: parse error: unexpected character inside braces: '1'"},
      {"{}", "1:1: parse error: vector selector must contain at least one non-empty matcher"},
      {"x{__name__=\"y\"}", "1:1: parse error: metric name must not be set twice: \"x\" or \"y\""},
      {"x{a=~\"[1\"}", "1:3: parse error: error parsing regexp: missing closing ]: `[1`"},
      {"x{a=~\"\\\\C\"}", "1:3: parse error: error parsing regexp: invalid escape sequence: `\\C`"},
      {"rate(x)",
       "1:6: parse error: expected type range vector in call to function \"rate\", got instant vector"},
      {"rate()", "1:1: parse error: expected 1 argument(s) in call to \"rate\", got 0"},
      {"nope(x)", "1:1: parse error: unknown function with name \"nope\""},
      {"sum(x[5m])",
       "1:5: parse error: expected type instant vector in aggregation expression, got range vector"},
      {"sum()", "1:1: parse error: no arguments for aggregate expression provided"},
      {"topk(x)",
       "1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1"},
      {"limitk(1, x)",
       "1:1: parse error: limitk() is experimental and must be enabled with --promql-experimental"},
      {"mad_over_time(x[1m])", "1:1: parse error: function \"mad_over_time\" is not enabled"},
      {"1.5m", "1:1: parse error: unknown unit \".\" in duration \"1.5m\""},
      {"x[0]", "1:3: parse error: duration must be greater than 0"},
      {"x offset 1m offset 2m", "1:1: parse error: offset may not be set multiple times"},
      {"x @ 1 @ 2", "1:1: parse error: @ <timestamp> may not be set multiple times"},
      {"(x)[5m]", "1:4: parse error: ranges only allowed for vector selectors"},
      {"(time())[1m:]", "1:1: parse error: subquery is only allowed on instant vector, got scalar instead"},
      {"a + on(b) group_left(b) c",
       "1:3: parse error: label \"b\" must not occur in ON and GROUP clause at once"},
      {"\"x", "1:1: parse error: unterminated quoted string"},
      {"'\\q'", "1:1: parse error: unknown escape sequence U+0071 'q'"},
      {"x smoothed", "1:1: parse error: smoothed modifier is experimental and not enabled"},
      {"a + fill(0) b", "1:1: parse error: binop fill modifiers are experimental and not enabled"},
      {"rate(x[1m],)", "1:11: parse error: trailing commas not allowed in function call args"},
  };
  return *cases;
}

TEST(PromqlParserErrorTest, SaysWhatIsWrongWithExperimentalModifiers) {
  const std::vector<ErrorCase> cases = {
      {"a + fill(x) b", "1:10: parse error: unexpected identifier \"x\""},
      {"a + fill(1) fill(2) b", "1:17: parse error: unexpected \"(\""},
      {"a and fill(0) b", "1:1: parse error: filling in missing series not allowed for set operators"},
      {"1 + fill(0) a", "1:1: parse error: filling in missing series only allowed between instant vectors"},
      {"sum(a) anchored", "1:1: parse error: anchored modifier not implemented"},
      {"a[1m:1m] smoothed", "1:1: parse error: smoothed modifier is not supported for subqueries"},
      {"a anchored smoothed", "1:1: parse error: anchored and smoothed modifiers cannot be used together"},
  };
  for (const ErrorCase& one : cases) {
    EXPECT_EQ(ParseQuery(one.text, {.allows_experimental = true}).status().message(), one.error) << one.text;
  }
}

TEST(PromqlParserErrorTest, SaysWhatPrometheusSays) {
  for (const ErrorCase& one : ErrorCases()) {
    const auto tree = ParseQuery(one.text, {});
    EXPECT_EQ(tree.status().message(), one.error) << one.text;
    EXPECT_TRUE(absl::IsInvalidArgument(tree.status())) << one.text;
  }
}

}  // namespace
}  // namespace sonde::promql
