#include "cli/reach/access.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

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

// What ResolveAccess comes to: "DATA_DIR|ENDPOINT", or the error; what it tells is behind it.
std::string Resolved(AccessFlags flags, const std::map<std::string, std::string>& environment) {
  std::string told;
  const absl::StatusOr<AccessFlags> resolved = ResolveAccess(
      std::move(flags),
      [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? "" : found->second;
      },
      [&](const std::string& line) { told += " " + line; });
  if (!resolved.ok()) return std::string(resolved.status().message());
  return resolved->data_dir + "|" + resolved->endpoint + told;
}

TEST(ResolveAccess, TakesFlagsBeforeTheEnvironment) {
  EXPECT_EQ(Resolved({.data_dir = "d"}, {{"SONDE_ENDPOINT", "h:1"}, {"BIGTABLE_EMULATOR_HOST", "h:2"}}),
            "d|");
  EXPECT_EQ(Resolved({.endpoint = "h:3"}, {{"SONDE_DATA_DIR", "d"}}), "|h:3");
  EXPECT_EQ(Resolved({}, {{"SONDE_DATA_DIR", "d"}, {"BIGTABLE_EMULATOR_HOST", "h:2"}}), "d|");
  EXPECT_EQ(Resolved({}, {{"SONDE_ENDPOINT", "h:1"}, {"BIGTABLE_EMULATOR_HOST", "h:2"}}), "|h:1");
  EXPECT_EQ(Resolved({}, {{"BIGTABLE_EMULATOR_HOST", "h:2"}}), "|http://h:2");
}

TEST(ResolveAccess, TellsThatItAsksTheUsualEndpoint) {
  EXPECT_EQ(
      Resolved({.program = "sonde tables"}, {}),
      "|127.0.0.1:8086 sonde tables: no --endpoint, no --data-dir, no SONDE_ENDPOINT: asking 127.0.0.1:8086");
}

TEST(ResolveAccess, RefusesTwoPlaces) {
  EXPECT_EQ(Resolved({.data_dir = "d", .endpoint = "h:1"}, {}),
            "--data-dir and --endpoint exclude each other");
  EXPECT_EQ(Resolved({}, {{"SONDE_DATA_DIR", "d"}, {"SONDE_ENDPOINT", "h:1"}}),
            "SONDE_DATA_DIR and SONDE_ENDPOINT are both set: give --data-dir DIR or --endpoint HOST:PORT");
  EXPECT_EQ(Resolved({.data_dir = "d", .ca_file = "f"}, {}),
            "--ca-file and --key-file are for an endpoint, not for a data directory");
}

}  // namespace
}  // namespace sonde
