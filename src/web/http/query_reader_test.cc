#include "web/http/query_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace sonde {
namespace {

using testing::HasSubstr;

TEST(KeyText, IsReadable) {
  EXPECT_EQ(KeyToText("meter#1\\2"), "meter#1\\\\2");
  EXPECT_EQ(KeyToText(std::string_view("a\0\xff<b>", 6)), "a\\x00\\xff<b>");
}

TEST(KeyText, ComesBackAsItWas) {
  SeededRandom random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::string key;
    for (uint64_t n = random.Uniform(20); n > 0; --n) key.push_back(static_cast<char>(random.Uniform(256)));
    EXPECT_EQ(KeyFromText(KeyToText(key)).value(), key);
  }
}

TEST(KeyText, RefusesOtherEscapes) {
  for (const char* text : {"\\", "a\\n", "\\x", "\\x1", "\\xg0"})
    EXPECT_FALSE(KeyFromText(text).ok()) << text;
  EXPECT_EQ(KeyFromText("\xc3\xa9").value(), "\xc3\xa9");
}

TEST(QueryReader, SaysWhatIsAllowed) {
  HttpRequest request;
  request.query = {{"limit", "5"}, {"start", "a\\x00"}};
  QueryReader good(request);
  EXPECT_EQ(good.Int("limit", 1, 1, 10), 5);
  EXPECT_EQ(good.Int("other", 7, 1, 10), 7);
  EXPECT_EQ(good.Key("start"), std::string("a\0", 2));
  EXPECT_TRUE(good.Finish().ok());

  QueryReader too_many(request);
  too_many.Int("limit", 1, 1, 4);
  too_many.Key("start");
  EXPECT_THAT(std::string(too_many.Finish().message()), HasSubstr("from 1 to 4, but is '5'"));

  QueryReader unknown(request);
  unknown.Int("limit", 1, 1, 10);
  EXPECT_THAT(std::string(unknown.Finish().message()),
              HasSubstr("unknown parameter 'start'; allowed: limit"));
}

}  // namespace
}  // namespace sonde
