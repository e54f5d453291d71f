#include <gtest/gtest.h>

#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers; it finds faults of literal patterns before it runs, as INVALID_ARGUMENT.
TEST(FormatPattern, WidthAndPrecisionFromArguments) {
  ExpectAll({
      // clang-format off
      {R"(FORMAT('%*d', CAST(NULL AS INT64), 1))", R"(STRING: NULL)"},
      {R"(FORMAT('%.*f', CAST(NULL AS INT64), 1.5))", R"(STRING: NULL)"},
      {R"(FORMAT('%*d', 5, CAST(NULL AS INT64)))", R"(STRING: NULL)"},
      {R"(FORMAT('%*d', 5, 42))", R"(STRING: "   42")"},
      {R"(FORMAT('%-*d|', 5, 42))", R"(STRING: "42   |")"},
      {R"(FORMAT('%*d|', -5, 42))", R"(STRING: "42   |")"},
      {R"(FORMAT('%0*d', 5, 42))", R"(STRING: "00042")"},
      {R"(FORMAT('%.*d', 5, 42))", R"(STRING: "00042")"},
      {R"(FORMAT('%*.*f', 10, 2, 1.234))", R"(STRING: "      1.23")"},
      {R"(FORMAT('%*.*f|', -10, 2, 1.234))", R"(STRING: "1.23      |")"},
      {R"(FORMAT('%.*f', -1, 1.5))", R"(STRING: "1.500000")"},
      {R"(FORMAT('%.*f', 0, 1.5))", R"(STRING: "2")"},
      {R"(FORMAT('%*s', 5, 'é'))", R"(STRING: "    é")"},
      {R"(FORMAT('%.*s', 2, 'été'))", R"(STRING: "ét")"},
      {R"(FORMAT('%.*s', -2, 'été'))", R"(STRING: "été")"},
      {R"(FORMAT('%*t', 8, true))", R"(STRING: "    true")"},
      {R"(FORMAT('%*.*d', 8, 4, -5))", R"(STRING: "   -0005")"},
      {R"(FORMAT('%*d', 0, 5))", R"(STRING: "5")"},
      {R"(FORMAT('%.*g', 3, 1234.5))", R"(STRING: "1.23e+03")"},
      {R"(FORMAT('%*d %*d', 4, 1, 5, 2))", R"(STRING: "   1     2")"},
      {R"(FORMAT('%.*g', 5000, 1.5))", R"(STRING: "1.5")"},
      {R"(FORMAT('%.*d', -9223372036854775808, 1))", R"(STRING: "1")"},
      // clang-format on
  });
}

TEST(FormatPattern, Faults) {
  ExpectAll({
      // clang-format off
      {R"(FORMAT('%'))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%")"},
      {R"(FORMAT('%d'))", R"(OUT_OF_RANGE: Too few arguments to FORMAT for pattern "%d"; Expected 2; Got 1)"},
      {R"(FORMAT('%d', 1, 2))", R"(OUT_OF_RANGE: Too many arguments to FORMAT for pattern "%d"; Expected 2; Got 3)"},
      {R"(FORMAT('%5%'))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%5%")"},
      {R"(FORMAT('%-%'))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%-%")"},
      {R"(FORMAT('%q', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "q" in FORMAT string: "%q")"},
      {R"(FORMAT('%d', 'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT('%d', 1.5))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got FLOAT64)"},
      {R"(FORMAT('%s', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected STRING; Got INT64)"},
      {R"(FORMAT('%f', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected FLOAT64; Got INT64)"},
      {R"(FORMAT('%f', 'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected FLOAT64; Got STRING)"},
      {R"(FORMAT('%u', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected UINT; Got INT64)"},
      {R"(FORMAT('%p', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected PROTO or JSON; Got INT64)"},
      {R"(FORMAT('%P', 'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected PROTO or JSON; Got STRING)"},
      {R"(FORMAT('%x', 1.5))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got FLOAT64)"},
      {R"(FORMAT('%*d', 'a', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT('%.*f', 1.5, 1.5))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got FLOAT64)"},
      {R"(FORMAT('%s', b'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected STRING; Got BYTES)"},
      {R"(FORMAT('%d', true))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got BOOL)"},
      {R"(FORMAT('%s', DATE '2020-01-01'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected STRING; Got DATE)"},
      {R"(FORMAT('%d', [1]))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got ARRAY<INT64>)"},
      {R"(FORMAT('%s', STRUCT(1)))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected STRING; Got STRUCT<INT64>)"},
      {R"(FORMAT('%','a'))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%")"},
      {R"(FORMAT('abc', 1))", R"(OUT_OF_RANGE: Too many arguments to FORMAT for pattern "abc"; Expected 1; Got 2)"},
      {R"(FORMAT('%d %','a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT('%5','a'))", R"(OUT_OF_RANGE: Invalid format specifier character "5" in FORMAT string: "%5")"},
      {R"(FORMAT('%l', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "l" in FORMAT string: "%l")"},
      {R"(FORMAT('%ld', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "l" in FORMAT string: "%ld")"},
      {R"(FORMAT('%c', 65))", R"(OUT_OF_RANGE: Invalid format specifier character "c" in FORMAT string: "%c")"},
      {R"(FORMAT('%a', 1.5))", R"(OUT_OF_RANGE: Invalid format specifier character "a" in FORMAT string: "%a")"},
      {R"(FORMAT('%n', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "n" in FORMAT string: "%n")"},
      {R"(FORMAT('%é', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "é" in FORMAT string: "%é")"},
      {R"(FORMAT('%..d', 5))", R"(OUT_OF_RANGE: Invalid format specifier character "." in FORMAT string: "%..d")"},
      {R"(FORMAT('%d%', 5))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%d%")"},
      {R"(FORMAT('%1$d', 5))", R"(OUT_OF_RANGE: Invalid format specifier character "$" in FORMAT string: "%1$d")"},
      {R"(FORMAT('%.2000f', 1.5))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT('%.1075f', 1.5))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT('%.1075e', 1.5))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT('%.*f', 1075, 1.5))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT('%.99999999999999999999g', 1.5))", R"(OUT_OF_RANGE: Precision value is too big2147483647)"},
      {R"(FORMAT('%.99999999999999999999d', 1))", R"(OUT_OF_RANGE: Precision value is too big1048576)"},
      {R"(FORMAT('%.2000000d', 1))", R"(OUT_OF_RANGE: Precision value is too big1048576)"},
      {R"(FORMAT('%2000000d', 1))", R"(OUT_OF_RANGE: Width 2000000 exceeds the maximum supported output width of FORMAT. Limit: 1048576)"},
      {R"(FORMAT('%99999999999999999999d', 1))", R"(OUT_OF_RANGE: Width 9223372036854775807 exceeds the maximum supported output width of FORMAT. Limit: 1048576)"},
      {R"(FORMAT('%*d', 2000000, 1))", R"(OUT_OF_RANGE: Output string too long while evaluating FORMAT; limit 1048576)"},
      {R"(FORMAT('%*d', 9223372036854775807, 1))", R"(OUT_OF_RANGE: Output string too long while evaluating FORMAT; limit 1048576)"},
      {R"(FORMAT('%.*d', 2000000, 1))", R"(OUT_OF_RANGE: Precision value is too big1048576)"},
      {R"(FORMAT('%d', CAST(1 AS FLOAT32)))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got FLOAT32)"},
      {R"(FORMAT('%f', CAST('1' AS INT64)))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected FLOAT64; Got INT64)"},
      {R"(FORMAT('% %', 1))", R"(OUT_OF_RANGE: Invalid FORMAT string: "% %")"},
      {R"(FORMAT('%-5', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "5" in FORMAT string: "%-5")"},
      {R"(FORMAT('%d', 1, 'extra', 2))", R"(OUT_OF_RANGE: Too many arguments to FORMAT for pattern "%d"; Expected 2; Got 4)"},
      {R"(FORMAT('%1048577d', 1))", R"(OUT_OF_RANGE: Width 1048577 exceeds the maximum supported output width of FORMAT. Limit: 1048576)"},
      {R"(FORMAT(CONCAT('%', 'd'), 'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT(CONCAT('%', 'd')))", R"(OUT_OF_RANGE: Too few arguments to FORMAT for pattern "%d"; Expected 2; Got 1)"},
      {R"(FORMAT(CONCAT('%', 'd'), 1, 2))", R"(OUT_OF_RANGE: Too many arguments to FORMAT for pattern "%d"; Expected 2; Got 3)"},
      {R"(FORMAT(CONCAT('%', 'q'), 1))", R"(OUT_OF_RANGE: Invalid format specifier character "q" in FORMAT string: "%q")"},
      {R"(FORMAT(CONCAT('%', '5%'), 1))", R"(OUT_OF_RANGE: Invalid FORMAT string: "%5%")"},
      {R"(FORMAT(CONCAT('%', '.1075f'), 1.5))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT(CONCAT('%', '*d'), 'a', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT(CONCAT('%', 'f'), 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected FLOAT64; Got INT64)"},
      {R"(FORMAT('%15', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "5" in FORMAT string: "%15")"},
      {R"(FORMAT('%*', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "*" in FORMAT string: "%*")"},
      {R"(FORMAT('%.*', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "*" in FORMAT string: "%.*")"},
      {R"(FORMAT('%5.3', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "3" in FORMAT string: "%5.3")"},
      {R"(FORMAT('%0', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "0" in FORMAT string: "%0")"},
      {R"(FORMAT('%-', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "-" in FORMAT string: "%-")"},
      {R"(FORMAT('%.', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "." in FORMAT string: "%.")"},
      {R"(FORMAT('%5.', 1))", R"(OUT_OF_RANGE: Invalid format specifier character "." in FORMAT string: "%5.")"},
      {R"(FORMAT('%q'))", R"(OUT_OF_RANGE: Too few arguments to FORMAT for pattern "%q"; Expected 2; Got 1)"},
      {R"(FORMAT('%d %q', 1))", R"(OUT_OF_RANGE: Too few arguments to FORMAT for pattern "%d %q"; Expected 3; Got 2)"},
      {R"(FORMAT('%.2000f %q', 1.5, 1))", R"(OUT_OF_RANGE: Precision value is too big1074)"},
      {R"(FORMAT('%*q', 'a', 1))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT('%d %5%', 'a'))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      {R"(FORMAT('%*d', -1048577, 1))", R"(OUT_OF_RANGE: Output string too long while evaluating FORMAT; limit 1048576)"},
      {R"(FORMAT('%*d', -9223372036854775808, 1))", R"(OUT_OF_RANGE: Output string too long while evaluating FORMAT; limit 1048576)"},
      {R"(FORMAT('%.*s', 1048577, 'a'))", R"(OUT_OF_RANGE: Precision value is too big1048576)"},
      {R"(FORMAT('%s', CAST(NULL AS INT64)))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected STRING; Got INT64)"},
      {R"(FORMAT('%d', CAST(NULL AS STRING)))", R"(OUT_OF_RANGE: Invalid type for argument 2 to FORMAT; Expected integer; Got STRING)"},
      // clang-format on
  });
}

TEST(FormatPattern, Patterns) {
  ExpectAll({
      // clang-format off
      {R"(FORMAT('%t', NULL))", R"(STRING: "NULL")"},
      {R"(FORMAT('%T', NULL))", R"(STRING: "NULL")"},
      {R"(FORMAT('%d', NULL))", R"(STRING: NULL)"},
      {R"(FORMAT(NULL, 1))", R"(STRING: NULL)"},
      {R"(FORMAT(''))", R"(STRING: "")"},
      {R"(FORMAT('abc'))", R"(STRING: "abc")"},
      {R"(FORMAT('%%'))", R"(STRING: "%")"},
      {R"(FORMAT('100%%'))", R"(STRING: "100%")"},
      {R"(FORMAT('%d%d', 1, 2))", R"(STRING: "12")"},
      {R"(FORMAT('%s-%d-%t', 'a', 1, true))", R"(STRING: "a-1-true")"},
      {R"(FORMAT('%d\n%s', 1, 'x'))", R"(STRING: "1\nx")"},
      {R"(FORMAT('%i %o %x', 1, 8, 255))", R"(STRING: "1 10 ff")"},
      {R"(FORMAT(CONCAT('%', 'd'), 7))", R"(STRING: "7")"},
      {R"(SAFE.FORMAT(CONCAT('%', 'f'), 1))", R"(STRING: NULL)"},
      // clang-format on
  });
}

}  // namespace
}  // namespace sonde::sql
