#include "cli/watch/view_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sonde {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

ServerView Example() {
  ServerView view{.version = "1.2",
                  .uptime_seconds = 90,
                  .processors = 0.5,
                  .resident_bytes = 1536,
                  .budget_bytes = 1 << 30,
                  .disk_free_bytes = 1e9,
                  .disk_size_bytes = 1e12,
                  .backups = 2,
                  .backup_age_seconds = 7200};
  view.loads = {{"reads", 0.25}};
  view.methods = {{"ReadRows", 1234.5, 1, 0.0005, 1.5}};
  view.tables = {{"projects/p/instances/i/tables/with-a-long-name", 100, 1, 2}};
  return view;
}

TEST(ViewText, OneScreenShowsWhatThereIs) {
  EXPECT_EQ(ScreenOf(Example(), {}),
            "sonde 1.2  up 1m 30s  connections 0\n"
            "processors 0.50  memory 1.5 KiB of 1.0 GiB  disk 953.7 MiB free of 931.3 GiB\n"
            "load  reads 25 %\n"
            "settling 0 B wait, 0 cells/s  backups 2, the newest 2h 0m old\n"
            "\n"
            "method                                  calls/s   errors/s    median      99 %\n"
            "ReadRows                                 1234.5        1.0    0.5 ms     1.5 s\n"
            "\n"
            "table                                    read/s  written/s        size\n"
            "..nstances/i/tables/with-a-long-name        1.0        2.0       100 B\n");
}

TEST(ViewText, AScreenHasItsSizeWhateverThereIs) {
  ServerView view = Example();
  view.warnings = {"something is wrong"};
  for (int i = 0; i < 100; ++i) {
    view.methods.push_back({.name = std::string(200, 'm')});
    view.tables.push_back({.name = std::string(200, 't')});
  }
  for (const size_t lines : {1, 2, 10, 24, 50}) {
    const std::string screen = ScreenOf(view, {.lines = lines, .columns = 60});
    EXPECT_EQ(std::count(screen.begin(), screen.end(), '\n'), static_cast<int64_t>(lines));
    EXPECT_THAT(screen, EndsWith(" more lines)\n"));
    size_t longest = 0;
    for (size_t at = 0, end = 0; (end = screen.find('\n', at)) != std::string::npos; at = end + 1)
      longest = std::max(longest, end - at);
    EXPECT_LE(longest, 60u);
  }
  EXPECT_THAT(ScreenOf(view, {}), HasSubstr("! something is wrong\n"));
  EXPECT_THAT(ScreenOf(view, {}), HasSubstr("\ntable "));
}

TEST(ViewText, JsonHasEveryFigure) {
  const nlohmann::json json = nlohmann::json::parse(JsonOf(Example()));
  EXPECT_EQ(json.at("version"), "1.2");
  EXPECT_EQ(json.at("load").at("reads"), 0.25);
  EXPECT_EQ(json.at("methods").at(0).at("p99_seconds"), 1.5);
  EXPECT_EQ(json.at("tables").at(0).at("bytes"), 100);
  EXPECT_EQ(json.at("backup_age_seconds"), 7200);
  EXPECT_TRUE(nlohmann::json::parse(JsonOf({})).at("backup_age_seconds").is_null());
}

}  // namespace
}  // namespace sonde
