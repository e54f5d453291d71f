#include "server/serve_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace sonde {
namespace {

std::string Load(const std::string& text, ServeSettings* settings) {
  // Tests run beside each other, each in a process of its own.
  const std::string file = testing::TempDir() + "/sonde_serve_settings_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(file) << text;
  const absl::Status status = LoadServeSettings(file, settings);
  std::remove(file.c_str());
  std::string message(status.message());
  if (const size_t at = message.find(file); at != std::string::npos) message.replace(at, file.size(), "FILE");
  return message;
}

TEST(ServeSettings, AFileSetsWhatItNames) {
  ServeSettings settings;
  EXPECT_EQ(Load("port: 9000\nmemory: 256MiB\ndurability: os\nsql_dialect: production\nclusters: refuse\n",
                 &settings),
            "");
  EXPECT_EQ(settings.port, 9000);
  EXPECT_EQ(settings.memory_bytes, 256u << 20);
  EXPECT_EQ(settings.durability, "os");
  EXPECT_EQ(settings.sql_dialect, "production");
  EXPECT_EQ(settings.clusters, "refuse");
  EXPECT_EQ(settings.host, "127.0.0.1");
  EXPECT_EQ(settings.data_dir, std::nullopt);
  EXPECT_FALSE(settings.temporary);
  EXPECT_EQ(Load("data_dir: d\ntemporary: true\n", &settings), "");
  EXPECT_EQ(settings.data_dir, "d");
  EXPECT_TRUE(settings.temporary);
}

TEST(ServeSettings, ErrorsNameFileAndLine) {
  ServeSettings settings;
  EXPECT_THAT(Load("port: 1\nprot: 2\n", &settings),
              testing::StartsWith("FILE:2: unknown key 'prot'; known are host"));
  EXPECT_EQ(Load("port: many\n", &settings), "FILE:1: 'port' has a value of the wrong kind");
  EXPECT_THAT(Load("memory: lots\n", &settings), testing::StartsWith("FILE:1: 'lots' is no number of bytes"));
  EXPECT_THAT(Load("a: b: c\n", &settings), testing::StartsWith("FILE:1: "));
}

TEST(ServeSettings, RefusesWhatIsOutOfBounds) {
  const auto message = [](ServeSettings settings) {
    return std::string(CheckServeSettings(settings).message());
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.port = 65536}), "--port must be from 0 to 65535, but is 65536");
  EXPECT_EQ(message({.http_port = -1}), "--http-port must be from 0 to 65535, but is -1");
  EXPECT_EQ(message({.http_port = 0, .no_http = true}), "--http-port and --no-http do not go together");
  EXPECT_EQ(message({.sql_dialect = "production"}), "");
  EXPECT_EQ(message({.sql_dialect = "ansi"}), "--sql-dialect must be extended or production, but is 'ansi'");
  EXPECT_EQ(message({.clusters = "refuse"}), "");
  EXPECT_EQ(message({.clusters = "copies"}), "--clusters must be names or refuse, but is 'copies'");
  EXPECT_EQ(message({.undelete_days = 0}), "");
  EXPECT_EQ(message({.undelete_days = -1}), "--undelete-days must be from 0 (off) to 3650, but is -1");
  EXPECT_EQ(message({.undelete_days = 3'651}), "--undelete-days must be from 0 (off) to 3650, but is 3651");
  EXPECT_EQ(message({.durability = "maybe"}), "--durability must be fsync or os, but is 'maybe'");
  EXPECT_THAT(message({.host = "0.0.0.0"}), testing::HasSubstr("--insecure-allow-remote"));
  EXPECT_EQ(message({.host = "0.0.0.0", .insecure_allow_remote = true}), "");
  EXPECT_EQ(message({.writes_per_second = -1}),
            "--writes-per-second must be from 0 (no quota) to 1000000000, but is -1");
  EXPECT_EQ(message({.data_dir = ""}), "--data-dir must not be empty");
  EXPECT_THAT(message({.memory_bytes = 1}), testing::HasSubstr("--memory must be at least"));
}

TEST(ServeSettings, ParsesBytes) {
  uint64_t bytes = 0;
  EXPECT_TRUE(ParseBytes("10", &bytes).ok());
  EXPECT_EQ(bytes, 10u);
  EXPECT_TRUE(ParseBytes("2g", &bytes).ok());
  EXPECT_EQ(bytes, uint64_t{2} << 30);
  for (const char* bad : {"", "-1", "1x", "1mb2", "99999999999t"})
    EXPECT_FALSE(ParseBytes(bad, &bytes).ok()) << bad;
}

TEST(ServeSettings, TakesTheEmulatorsForm) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(AcceptEmulatorForm({"-host", "[127.0.0.1]", "-port", "9000"}),
            (Words{"serve", "--temporary", "--host", "127.0.0.1", "--port", "9000"}));
  EXPECT_EQ(AcceptEmulatorForm({"serve", "-host=[127.0.0.1]", "-port=0"}),
            (Words{"serve", "--host=127.0.0.1", "--port=0"}));
  EXPECT_EQ(AcceptEmulatorForm({"serve", "--host", "[::1]"}), (Words{"serve", "--host", "[::1]"}));
  EXPECT_EQ(AcceptEmulatorForm({"version"}), (Words{"version"}));
}

}  // namespace
}  // namespace sonde
