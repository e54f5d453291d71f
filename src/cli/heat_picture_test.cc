#include "cli/heat_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

HeatPicture Example() {
  return {.columns = 3,
          .row_labels = {"first", "m"},
          .values = {0, 100, 1, 100, 0, 25},
          .time_left = "1",
          .time_right = "2"};
}

TEST(HeatPicture, IsDrawnWithCharacters) {
  EXPECT_EQ(ToTerminal(Example(), 80, false),
            "first  . \n"
            "    m @@+\n"
            "      1 2\n");
  EXPECT_EQ(ToTerminal(Example(), 8, false),
            "first  .\n"
            "    m @@\n"
            "      1 2\n");
}

TEST(HeatPicture, HasTheScaleOfItsShades) {
  EXPECT_EQ(Example().Scale(), 100);
  EXPECT_EQ(HeatPicture{}.Scale(), 1);
  EXPECT_EQ(ShadeCharacters().front(), ' ');
  EXPECT_EQ(ShadeCharacters().back(), '@');
}

TEST(HeatPicture, IsDrawnWithColours) {
  EXPECT_THAT(ToTerminal(Example(), 80, true), testing::HasSubstr("    m \x1b[48;5;229m \x1b[48;5;229m "));
}

TEST(HeatPicture, IsAPngFile) {
  const std::string png = ToPng(Example(), 2);
  EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\x06\0\0\0\x04", 8));
  EXPECT_TRUE(png.ends_with(std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12)));
}

TEST(HeatPicture, MayBeEmpty) {
  EXPECT_EQ(ToTerminal({}, 80, false), "  \n");
  EXPECT_FALSE(ToPng({}, 2).empty());
}

}  // namespace
}  // namespace sonde
