#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/loopback.h"
#include "base/random.h"
#include "base/varint.h"

namespace sonde {
namespace {

TEST(Varint, RoundTripsEveryLength) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t value : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, ~uint64_t{0} >> bit}) {
      std::string bytes;
      PutVarint(&bytes, value);
      std::string_view in = bytes;
      uint64_t got = 0;
      ASSERT_TRUE(GetVarint(&in, &got));
      EXPECT_EQ(got, value);
      EXPECT_TRUE(in.empty());
      for (size_t cut = 0; cut < bytes.size(); ++cut) {
        std::string_view part = std::string_view(bytes).substr(0, cut);
        EXPECT_FALSE(GetVarint(&part, &got));
      }
    }
  }
}

TEST(Varint, RefusesMoreThan64Bits) {
  std::string_view in = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  uint64_t got = 0;
  EXPECT_FALSE(GetVarint(&in, &got));
}

TEST(ZigZag, KeepsTheEnds) {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
  EXPECT_EQ(ZigZag(-1), 1u);
}

TEST(Fixed, SortsAsItsNumbersDo) {
  std::string a, b;
  PutFixed64(&a, 255);
  PutFixed64(&b, 256);
  EXPECT_LT(a, b);
}

TEST(Bytes, PrefixEndSkipsTrailingFf) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd("a\xff\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff"), "");
  EXPECT_EQ(PrefixEnd(""), "");
}

TEST(Bytes, PrintableEscapesWhatIsNotText) {
  EXPECT_EQ(Printable(std::string_view("a\0\xff'\\", 5)), "a\\x00\\xff\\x27\\x5c");
  EXPECT_EQ(Printable("abcdef", 3), "abc... (6 bytes)");
}

TEST(SeededRandom, RepeatsItself) {
  SeededRandom a(7), b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next(), b.Next());
  for (int i = 0; i < 1000; ++i) EXPECT_LT(a.Uniform(10), 10u);
}

TEST(Crc32c, IsTheKnownOneAndExtends) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);  // RFC 3720's check value
  const std::string bytes(1000, 'x');
  for (const size_t cut : {0, 1, 7, 8, 9, 500, 999}) {
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), Crc32c(bytes));
  }
}

TEST(Loopback, IsThisMachineAlone) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"})
    EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host :
       {"", "0.0.0.0", "127.example.com", "127.", "::", "[::]", "::2", "localhost.example.com", "[127.0.0.1"})
    EXPECT_FALSE(IsLoopback(host)) << host;
}

}  // namespace
}  // namespace sonde
