#include <gtest/gtest.h>

#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

TEST(Format, WritesDates) {
  ExpectAll({
      {"FORMAT_DATE('%Y-%m-%d %a %A %b %B %C %D %d %e %F %G %g %h %j %n %Q %t %U %u %V %W %w %x %y %% %E4Y "
       "%J', DATE '2020-05-06')",
       "OUT_OF_RANGE: Format element %J not supported yet"},
      {"FORMAT_DATE('%H', DATE '2020-05-06')", R"(STRING: "%H")"},
      {"FORMAT_DATE('%H|%M', DATE '2020-05-06')", R"(STRING: "%H|%M")"},
      {"FORMAT_DATE('%c', DATE '2020-05-06')", R"(STRING: "%c")"},
      {"FORMAT_DATE('%Z', DATE '2020-05-06')", R"(STRING: "%Z")"},
      {"FORMAT_DATE('%E*S', DATE '2020-05-06')", R"(STRING: "%E*S")"},
      {"FORMAT_DATE('%Y', DATE '0001-01-01')", R"(STRING: "1")"},
      {"FORMAT_DATE('%Y%', DATE '0001-01-01')", R"(STRING: "1%")"},
      {"FORMAT_DATE('%b-%d-%Y', TIMESTAMP '2020-05-06')", R"(STRING: "May-06-2020")"},
      {"FORMAT_DATE('', DATE '0001-01-01')", R"(STRING: "")"},
      {"FORMAT_DATE(NULL, DATE '0001-01-01')", "STRING: NULL"},
      {"FORMAT_DATE('%%H%%%H %EH %OH %E4S %E10S %E4Y %EC %Q', DATE '2020-07-01')",
       R"(STRING: "%H%%H %EH %OH %E4S 00.0000000000 2020 20 3")"},
      {"FORMAT_DATE('%Ez%EZ%Ec%EX%Ey', DATE '2020-07-01')", R"(STRING: "%Ez%EZ%Ec%EX20")"},
      {"FORMAT_DATE('%:z %E*f %E3f', DATE '2020-07-01')", R"(STRING: "+00:00 0 000")"},
      {"FORMAT_DATE('%x %X', DATE '2020-01-01')", R"(STRING: "01/01/20 %X")"},
      {"FORMAT_DATE('%H %Z %Q', TIMESTAMP '2020-05-06 07:08:09', '+02')", R"(STRING: "09 UTC+2 2")"},
      {"FORMAT_DATE('%H %Q', TIMESTAMP '2020-05-06 07:08:09')", R"(STRING: "07 2")"},
      {"FORMAT_DATE('%A, %d %B %Y', DATE '2020-02-29')", R"(STRING: "Saturday, 29 February 2020")"},
      {"FORMAT_DATE('%D|%x|%y|%j|%U|%W|%V|%G|%u|%w', DATE '2019-12-30')",
       R"(STRING: "12/30/19|12/30/19|19|364|52|52|01|2020|1|1")"},
      {"FORMAT_DATE('%Q %%Q', DATE '2020-12-30')", R"(STRING: "4 %Q")"},
  });
}

TEST(Format, WritesTimestamps) {
  ExpectAll({
      {"FORMAT_TIMESTAMP('%Y-%m-%d %H:%M:%E*S%Ez', TIMESTAMP '2020-02-03 04:05:06.123456')",
       R"(STRING: "2020-02-03 04:05:06.123456+00:00")"},
      {"FORMAT_TIMESTAMP('%E4Y', TIMESTAMP '0020-02-03 04:05:06.123456')", R"(STRING: "0020")"},
      {"FORMAT_TIMESTAMP('%L|%f|%i|%J|%K|%N|%O|%q|%v|%E|%', TIMESTAMP '2020-02-03 04:05:06.123456')",
       "OUT_OF_RANGE: Format element %J not supported yet"},
      {"FORMAT_TIMESTAMP('%J', TIMESTAMP '2020-12-31 04:05:06.123456')",
       "OUT_OF_RANGE: Format element %J not supported yet"},
      {"FORMAT_TIMESTAMP('%Z %z %Ez %Q', TIMESTAMP '2020-02-03 04:05:06.123456', '+05:30')",
       R"(STRING: "UTC+0530 +0530 +05:30 1")"},
      {"FORMAT_TIMESTAMP('%Z %z %Ez', TIMESTAMP '2020-02-03 04:05:06.123456', 'UTC')",
       R"(STRING: "UTC +0000 +00:00")"},
      {"FORMAT_TIMESTAMP('%Z %z %Ez', TIMESTAMP '2020-02-03 04:05:06.123456', 'Asia/Kolkata')",
       R"(STRING: "UTC+0530 +0530 +05:30")"},
      {"FORMAT_TIMESTAMP('%Z %z %Ez %E*z %:z %::z %:::z', TIMESTAMP '1800-02-03 04:05:06.123456', "
       "'America/Los_Angeles')",
       R"(STRING: "UTC-0752 -0752 -07:52 -07:52:00 -07:52 -07:52:00 -07:52")"},
      {"FORMAT_TIMESTAMP('é%Yé', TIMESTAMP '1800-02-03 04:05:06.123456', 'America/Los_Angeles')",
       R"(STRING: "é1800é")"},
      {"FORMAT_TIMESTAMP('', TIMESTAMP '1800-02-03 04:05:06.123456', 'America/Los_Angeles')",
       R"(STRING: "")"},
      {"FORMAT_TIMESTAMP('%Y', TIMESTAMP '9999-12-31 23:59:59', '+05')", R"(STRING: "10000")"},
      {"FORMAT_TIMESTAMP('%U|%u|%V|%W|%w|%G|%g|%j', TIMESTAMP '2021-01-01 04:05:06.123456')",
       R"(STRING: "00|5|53|00|5|2020|20|001")"},
      {"FORMAT_TIMESTAMP('%U|%u|%V|%W|%w|%G|%g|%j', TIMESTAMP '2020-12-31 04:05:06.123456')",
       R"(STRING: "52|4|53|52|4|2020|20|366")"},
      {"FORMAT_TIMESTAMP('%Y', NULL)", "STRING: NULL"},
      {"FORMAT_TIMESTAMP('%Y', TIMESTAMP '2020-01-01', 'x')", "OUT_OF_RANGE: Invalid time zone: x"},
      {"FORMAT_TIMESTAMP('%T %E*S %H', TIMESTAMP '1800-02-03 04:05:06.123456', 'America/Los_Angeles')",
       R"(STRING: "20:13:06 06.123456 20")"},
      {"FORMAT_TIMESTAMP('%Z', TIMESTAMP '2020-01-01', 'Europe/London')", R"(STRING: "UTC")"},
      {"FORMAT_TIMESTAMP('%Z', TIMESTAMP '2020-07-01', 'Europe/London')", R"(STRING: "UTC+1")"},
      {"FORMAT_TIMESTAMP('%Z', TIMESTAMP '2020-07-01', '+10')", R"(STRING: "UTC+10")"},
      {"FORMAT_TIMESTAMP('%Z', TIMESTAMP '2020-07-01', '-10:30')", R"(STRING: "UTC-1030")"},
      {"FORMAT_TIMESTAMP('%Z', TIMESTAMP '2020-07-01', '-09:30')", R"(STRING: "UTC-0930")"},
      {"FORMAT_TIMESTAMP('%Q%', TIMESTAMP '2020-07-01')", R"(STRING: "3%")"},
      {"FORMAT_TIMESTAMP('%d%', TIMESTAMP '2020-07-01')", R"(STRING: "01%")"},
      {"FORMAT_TIMESTAMP('%%Q%%Z%%%Q', TIMESTAMP '2020-07-01')", R"(STRING: "%Q%Z%3")"},
      {"FORMAT_TIMESTAMP('%s', TIMESTAMP '1969-12-31 23:59:59.5')", R"(STRING: "-1")"},
      {"FORMAT_TIMESTAMP('%e %E3S', TIMESTAMP '1969-12-31 23:59:59.9999')", R"(STRING: "31 59.999")"},
      {"FORMAT_TIMESTAMP('%E0S', TIMESTAMP '1969-12-31 23:59:59.9999')", R"(STRING: "59")"},
      {"FORMAT_TIMESTAMP('%g %G %V', TIMESTAMP '1969-12-31 23:59:59.9999')", R"(STRING: "70 1970 01")"},
      {"FORMAT_TIMESTAMP('%p', TIMESTAMP '1969-12-31 23:59:59.9999')", R"(STRING: "PM")"},
      {"FORMAT_TIMESTAMP('%I', TIMESTAMP '1969-12-31 23:59:59.9999')", R"(STRING: "11")"},
      {"FORMAT_TIMESTAMP('%D', TIMESTAMP '0069-12-31 23:59:59.9999')", R"(STRING: "12/31/69")"},
      {"FORMAT_TIMESTAMP('%j', TIMESTAMP '0069-12-31 23:59:59.9999')", R"(STRING: "365")"},
      {"FORMAT_TIMESTAMP('%c', TIMESTAMP '2020-02-09 04:05:06')", R"(STRING: "Sun Feb  9 04:05:06 2020")"},
      {"FORMAT_TIMESTAMP('%T|%R|%D', TIMESTAMP '2020-02-09 04:05:06')",
       R"(STRING: "04:05:06|04:05|02/09/20")"},
      {"FORMAT_TIMESTAMP('%Ez %z %Z', TIMESTAMP '2020-02-09 04:05:06', '-03:30')",
       R"(STRING: "-03:30 -0330 UTC-0330")"},
      {"FORMAT_TIMESTAMP('%H:%M %p', TIMESTAMP '2020-02-09 14:05:06')", R"(STRING: "14:05 PM")"},
      {"FORMAT_TIMESTAMP('%E4Y-%m-%dT%H:%M:%E6S%Ez', TIMESTAMP '2020-02-09 14:05:06', 'Asia/Tokyo')",
       R"(STRING: "2020-02-09T23:05:06.000000+09:00")"},
      {"FORMAT_TIMESTAMP('%Y', CAST(NULL AS TIMESTAMP), 'Asia/Tokyo')", "STRING: NULL"},
      {"FORMAT_TIMESTAMP('%s', TIMESTAMP '1969-12-31 23:59:59')", R"(STRING: "-1")"},
      {"FORMAT_TIMESTAMP('no elements', TIMESTAMP '1969-12-31 23:59:59')", R"(STRING: "no elements")"},
      {"FORMAT_TIMESTAMP('%Y年%m月%d日', TIMESTAMP '2020-02-09 14:05:06')", R"(STRING: "2020年02月09日")"},
  });
}

// GoogleSQL hands these to the C library; the results are glibc's.
TEST(Format, WritesWhatTheLibraryDoes) {
  ExpectAll({
      {"FORMAT_TIMESTAMP('%h|%I|%j|%k|%l|%p|%P|%R|%r', TIMESTAMP '2020-02-03 04:05:06')",
       "STRING: \"Feb|04|034| 4| 4|AM|am|04:05|04:05:06 AM\""},
      {"FORMAT_TIMESTAMP('%I %l %k %P', TIMESTAMP '2020-02-03 13:05:06')", "STRING: \"01  1 13 pm\""},
      {"FORMAT_TIMESTAMP('%F', TIMESTAMP '2020-02-03 13:05:06')", "STRING: \"2020-02-03\""},
      // Of a year that has fewer than four digits, %F has four, and %Y has not.
      {"FORMAT_TIMESTAMP('%F %Y', TIMESTAMP '0001-02-03 13:05:06')", "STRING: \"0001-02-03 1\""},
      {"FORMAT_DATE('%F %%F', DATE '0999-02-03')", "STRING: \"0999-02-03 %F\""},
      {"FORMAT_TIMESTAMP('%n%t', TIMESTAMP '2020-02-03 13:05:06')", R"(STRING: "\n\t")"},
      {"FORMAT_DATE('%E|%O', DATE '2020-02-03')", "STRING: \"%E|%O\""},
  });
}

}  // namespace
}  // namespace sonde::sql
