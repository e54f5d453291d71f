#include "server/process/server_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

class ServerLogTest : public testing::Test {
 protected:
  ServerLogTest()
      : before_(spdlog::default_logger()), path_(absl::StrCat(testing::TempDir(), "/sonde_log_", getpid())) {
    std::filesystem::remove(path_);
  }
  ~ServerLogTest() override {
    spdlog::set_default_logger(before_);
    std::filesystem::remove(path_);
  }
  static std::vector<std::string> LinesOf(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  // Early in a second, so that what follows is in the same.
  static void AwaitBeginOfSecond() {
    absl::SleepFor(absl::Seconds(1) - absl::Milliseconds(absl::ToUnixMillis(absl::Now()) % 1'000));
  }

  const std::shared_ptr<spdlog::logger> before_;
  const std::string path_;
};

TEST_F(ServerLogTest, ALineIsOneLineInBothFormats) {
  const std::string message = "a \"b\"\\\n\x01 ä";
  EXPECT_EQ(LogLineText(LogFormat::kLogfmt, "T", "info", message),
            "time=T level=info msg=\"a \\\"b\\\"\\\\\\n\\u0001 ä\"\n");
  EXPECT_EQ(LogLineText(LogFormat::kJson, "T", "info", message),
            "{\"time\":\"T\",\"level\":\"info\",\"msg\":\"a \\\"b\\\"\\\\\\n\\u0001 ä\"}\n");
}

class OneRequest final : public RequestScope {
 public:
  explicit OneRequest(RequestTag tag) : tag_(std::move(tag)) {}
  RequestTag tag() const override { return tag_; }

 private:
  const RequestTag tag_;
};

TEST_F(ServerLogTest, ALineOfARequestNamesIt) {
  const RequestTag tag{.id = "r-1", .trace = "4bf92f3577b34da6a3ce929d0e0e4736"};
  EXPECT_EQ(LogLineText(LogFormat::kLogfmt, "T", "info", "a", tag),
            "time=T level=info msg=\"a\" request=\"r-1\" trace=\"4bf92f3577b34da6a3ce929d0e0e4736\"\n");
  EXPECT_EQ(LogLineText(LogFormat::kJson, "T", "info", "a", RequestTag{.id = "r-1"}),
            "{\"time\":\"T\",\"level\":\"info\",\"msg\":\"a\",\"request\":\"r-1\"}\n");
  ASSERT_EQ(OpenServerLog({.format = LogFormat::kJson, .file = path_}), absl::OkStatus());
  {
    const OneRequest scope(tag);
    spdlog::info("inside");
  }
  spdlog::info("outside");
  const std::vector<std::string> lines = LinesOf(path_);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], EndsWith("\"msg\":\"inside\",\"request\":\"r-1\","
                                 "\"trace\":\"4bf92f3577b34da6a3ce929d0e0e4736\"}"));
  EXPECT_THAT(lines[1], EndsWith("\"msg\":\"outside\"}"));
}

TEST_F(ServerLogTest, WritesFromItsLevelOnIntoAFileOfItsOwner) {
  ASSERT_TRUE(OpenServerLog({.level = "warn", .file = path_}).ok());
  spdlog::info("not this");
  spdlog::warn("this");
  SetServerLogLevel("info");
  spdlog::info("now this");
  SetServerLogLevel("off");
  spdlog::critical("not this");
  EXPECT_THAT(LinesOf(path_),
              ElementsAre(MatchesRegex("time=20..-..-..T..:..:..\\.......Z level=warning msg=\"this\""),
                          EndsWith(" level=info msg=\"now this\"")));
  struct stat facts{};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ServerLogTest, AFileThatWasMovedIsOpenedAgain) {
  ASSERT_TRUE(OpenServerLog({.format = LogFormat::kJson, .file = path_}).ok());
  spdlog::info("one");
  const std::string moved = path_ + ".1";
  std::filesystem::rename(path_, moved);
  spdlog::info("two");
  ASSERT_TRUE(ReopenServerLog().ok());
  spdlog::info("three");
  EXPECT_THAT(LinesOf(moved), ElementsAre(EndsWith("\"msg\":\"one\"}"), EndsWith("\"msg\":\"two\"}")));
  EXPECT_THAT(LinesOf(path_), ElementsAre(EndsWith("\"msg\":\"three\"}")));
  std::filesystem::remove(moved);
}

TEST_F(ServerLogTest, AFileThatCannotBeOpenedIsAnErrorAndTheOneBeforeStays) {
  EXPECT_EQ(OpenServerLog({.file = "/no/such/directory/log"}).message(),
            "the log file /no/such/directory/log cannot be opened: No such file or directory");
  EXPECT_EQ(spdlog::default_logger(), before_);
  const std::string directory = path_ + ".d";
  std::filesystem::create_directory(directory);
  ASSERT_TRUE(OpenServerLog({.file = directory + "/log"}).ok());
  std::filesystem::rename(directory, path_ + ".e");
  EXPECT_EQ(ReopenServerLog().code(), absl::StatusCode::kUnavailable);
  spdlog::info("still here");
  EXPECT_THAT(LinesOf(path_ + ".e/log"), SizeIs(1));
  std::filesystem::remove_all(path_ + ".e");
}

TEST_F(ServerLogTest, AMessageThatRepeatsIsCutAndCounted) {
  ASSERT_TRUE(OpenServerLog({.file = path_}).ok());
  AwaitBeginOfSecond();
  for (int i = 0; i < kRepeatsMax + 7; ++i) spdlog::warn("again");
  spdlog::info("another");
  EXPECT_THAT(LinesOf(path_), SizeIs(kRepeatsMax + 1));
  AwaitBeginOfSecond();
  spdlog::info("later");
  const std::vector<std::string> lines = LinesOf(path_);
  ASSERT_THAT(lines, SizeIs(kRepeatsMax + 3));
  EXPECT_THAT(lines[kRepeatsMax + 1],
              HasSubstr("level=warning msg=\"7 more of this message were left out within a second: again\""));
  EXPECT_THAT(lines.back(), EndsWith("msg=\"later\""));
}

}  // namespace
}  // namespace sonde
