#include "series/input/line_protocol.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sonde::series {
namespace {

// One text a line: what was found, or why not.
std::vector<std::string> Parse(std::string_view text) {
  std::vector<std::string> result;
  LineProtocolParser parser(text);
  LinePoint point;
  while (true) {
    const LineProtocolParser::Step step = parser.Next(&point);
    if (step == LineProtocolParser::Step::kEnd) return result;
    if (step == LineProtocolParser::Step::kBadLine) {
      result.push_back(fmt::format("{}: {}", parser.line(), parser.problem()));
      continue;
    }
    std::string line = fmt::format("{}|", point.measurement);
    for (const auto& [name, value] : point.tags) line += fmt::format("{}={};", name, value);
    for (const LineField& field : point.fields) {
      line += fmt::format("|{}:{}:{}", field.name, "fiubt"[static_cast<size_t>(field.type)], field.value);
    }
    if (point.timestamp) line += fmt::format("|{}", *point.timestamp);
    result.push_back(line);
  }
}

using Lines = std::vector<std::string>;

TEST(LineProtocol, ReadsPoints) {
  EXPECT_EQ(Parse("cpu,host=a,region=b usage=1.5,n=3i 1556813561098000000\n"
                  "# a comment\n\n"
                  "mem free=7u,ok=T,bad=FALSE,note=\"a b\"\r\n"
                  "x v=-1e-3 -5"),
            (Lines{"cpu|host=a;region=b;|usage:f:1.5|n:i:3|1556813561098000000",
                   "mem||free:u:7|ok:b:true|bad:b:false|note:t:a b", "x||v:f:-1e-3|-5"}));
}

TEST(LineProtocol, TakesBackslashesAway) {
  EXPECT_EQ(Parse(R"(my\ table\,1,t\ ag=va\=l\,ue f\ 1="say \"hi\" \\ \n" 1)"),
            Lines{R"(my table,1|t ag=va=l,ue;|f 1:t:say "hi" \ \n|1)"});
  EXPECT_EQ(Parse(R"(a\b,c\d=e\f g=1)"), Lines{R"(a\b|c\d=e\f;|g:f:1)"});
}

TEST(LineProtocol, TextsMayHoldLineEnds) {
  EXPECT_EQ(Parse("a x=\"1\n2\",y=1 3\nb x=1"), (Lines{"a||x:t:1\n2|y:f:1|3", "b||x:f:1"}));
  EXPECT_EQ(Parse("a,t=\"q x=1\nb x=1"), (Lines{"a|t=\"q;|x:f:1", "b||x:f:1"}));
}

// The quote of a comment, or of what is no value, begins no text.
TEST(LineProtocol, OnlyTheTextOfAFieldHoldsLineEnds) {
  EXPECT_EQ(Parse(" # note=\"x\nm,a=b x=1\nm2,a=b x=\"z\""), (Lines{"m|a=b;|x:f:1", "m2|a=b;|x:t:z"}));
  EXPECT_EQ(Parse("\t# note=\"x\nm x=1\nm x=\"z\" 2"), (Lines{"m||x:f:1", "m||x:t:z|2"}));
  EXPECT_EQ(Parse(" m,t=\"q x=1\nb x=\"z\""), (Lines{"m|t=\"q;|x:f:1", "b||x:t:z"}));
  EXPECT_EQ(Parse("m x=1 t=\"q\nb x=\"z\""), (Lines{"1: 't=\"q' is no time", "b||x:t:z"}));
  EXPECT_EQ(Parse("m\\ =\"q x=1\nb x=\"z\""), (Lines{"m =\"q||x:f:1", "b||x:t:z"}));
  // Lines are counted with those that texts hold, and each text ends with its own quote.
  EXPECT_EQ(Parse("a x=\"1\r\n\\\"2 \n\",y=\"\n\" 3 \r\nbad\nb x=1"),
            (Lines{"a||x:t:1\r\n\"2 \n|y:t:\n|3", "5: the fields are missing", "b||x:f:1"}));
}

TEST(LineProtocol, ATextEndsWithinTheBytesOfALine) {
  const std::string long_text(kLineBytesMax - 20, 'x');
  EXPECT_EQ(Parse("a x=\"\n" + long_text + "\"\nb x=1").size(), 2);
  // The quote is no beginning then, and the line behind it is read for itself.
  EXPECT_EQ(Parse("a x=\"\nb y=1," + std::string(kLineBytesMax, 'x') + "=1\nc x=\"z\""),
            (Lines{"1: the text of field 'x' never ends",
                   fmt::format("2: a line of {} bytes; allowed: up to {}", kLineBytesMax + 8, kLineBytesMax),
                   "c||x:t:z"}));
  EXPECT_EQ(Parse("a x=\"\n\"" + std::string(kLineBytesMax, ' ') + "y\nb x=1"),
            (Lines{fmt::format("1: a line of {} bytes; allowed: up to {}", kLineBytesMax + 8, kLineBytesMax),
                   "b||x:f:1"}));
}

TEST(LineProtocol, PassesOverAByteOrderMark) {
  EXPECT_EQ(Parse("\xEF\xBB\xBFm x=1\n\xEF\xBB\xBFm x=1"), (Lines{"m||x:f:1", "\xEF\xBB\xBFm||x:f:1"}));
}

TEST(LineProtocol, ReadsNumbersAsTheyAreWritten) {
  EXPECT_EQ(Parse("m a=1e-400,b=-1e-400,c=1e-310,d=+5,e=+.5,f=+5i"),
            Lines{"m||a:f:0|b:f:-0|c:f:1e-310|d:f:5|e:f:.5|f:i:5"});
  for (const char* value : {"1e400", "-1e400", "+-5", "+-5i", "++5", "+", "-", "+i", "+5u", "-+5"}) {
    EXPECT_THAT(Parse(std::string("m x=") + value), testing::ElementsAre(testing::StartsWith("1: field 'x'")))
        << value;
  }
}

TEST(LineProtocol, SaysWhatIsWrong) {
  EXPECT_EQ(Parse("cpu\ncpu,host=a\n,host=a x=1\ncpu, x=1\ncpu,host= x=1\ncpu,=a x=1\ncpu,host x=1\ncpu x\n"
                  "cpu x=\ncpu x=1,\ncpu x=nan\ncpu x=1.5i\ncpu x=99999999999999999999i\ncpu x=1 now\n"
                  "cpu x=\"a\"b\ncpu x=inf\ncpu,a=b, x=1\ncpu,a=b=c x=1\ncpu x=0x10\ncpu x=1\ncpu x=\"a"),
            (Lines{"1: the fields are missing",
                   "2: the fields are missing",
                   "3: the measurement is missing",
                   "4: a comma behind the measurement and no tag",
                   "5: tag 'host' has no value",
                   "6: a tag has no name",
                   "7: tag 'host' has no value",
                   "8: field 'x' has no value",
                   "9: field 'x': '' is no value",
                   "10: field '' has no value",
                   "11: field 'x': 'nan' is no finite number, integer (3i), boolean or quoted text",
                   "12: field 'x': '1.5i' is no integer of 64 bits",
                   "13: field 'x': '99999999999999999999i' is no integer of 64 bits",
                   "14: 'now' is no time",
                   "15: text behind the value of field 'x'",
                   "16: field 'x': 'inf' is no finite number, integer (3i), boolean or quoted text",
                   "17: a comma behind the last tag",
                   "18: the value of tag 'a' holds an equals sign without a backslash",
                   "19: field 'x': '0x10' is no finite number, integer (3i), boolean or quoted text",
                   "cpu||x:f:1",
                   "21: the text of field 'x' never ends"}));
}

// Whatever comes, the parser ends, and views lie where they may.
TEST(LineProtocol, TakesAnyBytes) {
  SeededRandom random(3);
  constexpr std::string_view kSigns = "a1 ,=\\\"\n#it.-e\r\t\0";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t n = random.Uniform(40); n > 0; --n) text += kSigns[random.Uniform(kSigns.size())];
    size_t bytes = 0;
    for (const std::string& line : Parse(text)) bytes += line.size();
    EXPECT_LT(bytes, 10'000);
  }
}

}  // namespace
}  // namespace sonde::series
