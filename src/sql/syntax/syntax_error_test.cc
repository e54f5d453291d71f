#include "sql/syntax/syntax_error.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"

namespace sonde::sql {
namespace {

std::string At(std::string_view text, uint32_t offset) {
  return std::string(ErrorAt(text, Position{offset}, "Wrong").message());
}

TEST(SyntaxError, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(At("", 0), "Wrong [at 1:1]");
  EXPECT_EQ(At("abc", 2), "Wrong [at 1:3]");
  EXPECT_EQ(At("a\nbc", 3), "Wrong [at 2:2]");
  EXPECT_EQ(At("a\r\nb\rc", 3), "Wrong [at 2:1]");
  EXPECT_EQ(At("a\r\nb\rc", 5), "Wrong [at 3:1]");
}

TEST(SyntaxError, CountsCharactersAndTabs) {
  EXPECT_EQ(At("\xC3\xA9\xE2\x82\xAC"
               "a",
               5),
            "Wrong [at 1:3]");
  EXPECT_EQ(At("\tb", 1), "Wrong [at 1:9]");
  EXPECT_EQ(At("abcdefg\tb", 8), "Wrong [at 1:9]");
  EXPECT_EQ(At("abcdefgh\tb", 9), "Wrong [at 1:17]");
}

TEST(SyntaxError, TakesAPlaceBeyondTheEnd) { EXPECT_EQ(At("ab", 9), "Wrong [at 1:3]"); }

TEST(SyntaxError, KeepsCodeAndPayloads) {
  absl::Status status = absl::NotFoundError("Table not found: t");
  status.SetPayload("type", absl::Cord("payload"));
  const absl::Status placed = ErrorAt("SELECT", Position{1}, status);
  EXPECT_EQ(placed.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(placed.message()), "Table not found: t [at 1:2]");
  EXPECT_TRUE(placed.GetPayload("type").has_value());
  EXPECT_TRUE(ErrorAt("SELECT", Position{1}, absl::OkStatus()).ok());
}

}  // namespace
}  // namespace sonde::sql
