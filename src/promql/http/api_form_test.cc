#include "promql/http/api_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "promql/http/query_answer.h"

namespace sonde::promql {
namespace {

std::string TimeOrError(std::string_view text) {
  const auto millis = ParseApiTime(text);
  return millis.ok() ? std::to_string(*millis) : std::string(millis.status().message());
}

std::string DurationOrError(std::string_view text) {
  const auto nanos = ParseApiDuration(text);
  return nanos.ok() ? std::to_string(*nanos) : std::string(nanos.status().message());
}

TEST(ApiForm, TimesAreSecondsOrRfc3339) {
  EXPECT_EQ(TimeOrError("1700000000"), "1700000000000");
  EXPECT_EQ(TimeOrError("1700000000.3"), "1700000000300");
  EXPECT_EQ(TimeOrError("1.7e9"), "1700000000000");
  EXPECT_EQ(TimeOrError("-1.5"), "-1500");
  EXPECT_EQ(TimeOrError("0.0006"), "1");
  EXPECT_EQ(TimeOrError("2023-11-14T22:13:20Z"), "1700000000000");
  EXPECT_EQ(TimeOrError("2023-11-14T23:13:20.25+01:00"), "1700000000250");
  EXPECT_EQ(TimeOrError("-292273086-05-16T16:47:06Z"), std::to_string(-kApiMillisMax));
  for (const char* text :
       {"abc", "", "NaN", "Inf", "1e300", "2023-11-14", "2023-11-14T22:13:20", "infinite-future"}) {
    EXPECT_EQ(TimeOrError(text), std::string("cannot parse \"") + text + "\" to a valid timestamp");
  }
}

TEST(ApiForm, DurationsAreSecondsOrUnits) {
  EXPECT_EQ(DurationOrError("15"), "15000000000");
  EXPECT_EQ(DurationOrError("0.5"), "500000000");
  EXPECT_EQ(DurationOrError("-5"), "-5000000000");
  EXPECT_EQ(DurationOrError("1h30m"), "5400000000000");
  EXPECT_EQ(DurationOrError("1e30"), "cannot parse \"1e30\" to a valid duration. It overflows int64");
  EXPECT_EQ(DurationOrError("NaN"), "cannot parse \"NaN\" to a valid duration. It overflows int64");
  EXPECT_EQ(DurationOrError("x"), "cannot parse \"x\" to a valid duration");
  EXPECT_EQ(DurationOrError(""), "cannot parse \"\" to a valid duration");
}

TEST(ApiForm, NamesInPathsMayBeEscaped) {
  EXPECT_EQ(UnescapeLabelName("job"), "job");
  EXPECT_EQ(UnescapeLabelName("U__service_2e_name"), "service.name");
  EXPECT_EQ(UnescapeLabelName("U__a__b"), "a_b");
  EXPECT_EQ(UnescapeLabelName("U__o_f9_"), "o\xC3\xB9");
  EXPECT_EQ(UnescapeLabelName("U___1f600_"), "\xF0\x9F\x98\x80");
  for (const char* name : {"U__a_", "U__a_zz_", "U__a_d800_", "U__a_1234567_"}) {
    EXPECT_EQ(UnescapeLabelName(name), name);
  }
}

TEST(ApiForm, MatchersHaveOneThatRefusesTheEmptyText) {
  EXPECT_EQ(ParseMatchers({"{a=\"\"}"}).status().message(),
            "match[] must contain at least one non-empty matcher");
  EXPECT_EQ(ParseMatchers({"{a=~\".*\"}"}).status().message(),
            "match[] must contain at least one non-empty matcher");
  EXPECT_EQ(ParseMatchers({"up", "{a=\"b\"}"})->size(), 2);
  EXPECT_THAT(std::string(ParseMatchers({"up{"}).status().message()),
              testing::StartsWith("1:4: parse error: "));
}

TEST(QueryAnswerText, NumbersAndTimesAreAsPrometheusHasThem) {
  const auto number = [](double value) {
    std::string text;
    AppendApiNumber(value, &text);
    return text;
  };
  EXPECT_EQ(number(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(number(1e21), "1e+21");
  EXPECT_EQ(number(1e20), "100000000000000000000");
  EXPECT_EQ(number(1e-7), "1e-07");
  EXPECT_EQ(number(1e-6), "0.000001");
  EXPECT_EQ(number(-0.0), "-0");
  EXPECT_EQ(number(5e-324), "5e-324");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-Inf");
  const auto time = [](int64_t millis) {
    std::string text;
    AppendApiTime(millis, &text);
    return text;
  };
  EXPECT_EQ(time(1'700'000'000'000), "1700000000");
  EXPECT_EQ(time(1'700'000'000'300), "1700000000.300");
  EXPECT_EQ(time(-1), "-0.001");
  EXPECT_EQ(time(0), "0");
}

}  // namespace
}  // namespace sonde::promql
