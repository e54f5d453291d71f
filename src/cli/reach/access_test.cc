#include "cli/reach/access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace sonde {
namespace {

// Or else every question to a data directory takes the slow way, by rows.
TEST(OpenAccess, GivesTheNumbersOfADataDirectory) {
  const std::string path = fmt::format("{}/sonde_access_{}", testing::TempDir(), getpid());
  std::filesystem::remove_all(path);
  {
    const auto tables = OpenAccess({.data_dir = path}, DataDir::kMayBeMade);
    ASSERT_TRUE(tables.ok()) << tables.status();
    ASSERT_TRUE((*tables)->EnsureTable("t", {{"f", {}}}).ok());
    ASSERT_TRUE((*(*tables)->MutateRows("t", {{"r", {{"f", "q", 1'000, "7"}}, {}}}))[0].ok());
    NumberAccess* const numbers = (*tables)->numbers();
    ASSERT_NE(numbers, nullptr);
    size_t cells = 0;
    const NumberRead read{.ranges = {RowRange::All()}, .family = "f", .columns = {{"q"}}};
    ASSERT_TRUE(numbers
                    ->Read("t", read,
                           [&](const NumberRow& row) {
                             cells += row.parts[0].timestamps_micros.size();
                             return true;
                           })
                    .ok());
    EXPECT_EQ(cells, 1u);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace sonde
