#include "audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "audit/full_disk_test_support.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuditLogTest : public testing::Test {
 protected:
  AuditLogTest() : path_(testing::TempDir() + "audit_" + std::to_string(getpid()) + ".log") {
    std::remove(path_.c_str());
  }
  ~AuditLogTest() override { std::remove(path_.c_str()); }

  static std::vector<std::string> Lines(const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  const std::string path_;
  const absl::Time now_ = absl::FromUnixMillis(1'770'000'000'500);
};

TEST_F(AuditLogTest, WritesALineAnEvent) {
  auto log = AuditLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)
                  ->Write({.kind = AuditEvent::Kind::kDenied,
                           .time = now_,
                           .principal = "user:a@b",
                           .proof = "token",
                           .address = "127.0.0.1:4000",
                           .method = "S/M",
                           .resource = "projects/\"p\\\n",
                           .permission = "bigtable.tables.get",
                           .status = absl::StatusCode::kPermissionDenied,
                           .request = "ff-1",
                           .trace = "4bf92f3577b34da6a3ce929d0e0e4736"})
                  .ok());
  EXPECT_THAT(
      Lines(path_),
      ElementsAre(
          R"({"time":"2026-02-02T02:40:00.500000Z","event":"denied","principal":"user:a@b","proof":"token",)"
          R"("address":"127.0.0.1:4000","method":"S/M","resource":"projects/\"p\\x5c\\x0a",)"
          R"("permission":"bigtable.tables.get","status":"PERMISSION_DENIED","request":"ff-1",)"
          R"("trace":"4bf92f3577b34da6a3ce929d0e0e4736"})"));
  struct stat facts{};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(AuditLogTest, RefusesAFileThatOthersMayRead) {
  std::ofstream(path_) << "";
  chmod(path_.c_str(), 0644);
  const absl::Status status = AuditLog::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be a file of mode 0600, but its mode is 0644"));
}

TEST_F(AuditLogTest, LimitsFailuresOfAnAddressAndCountsTheRest) {
  auto log = AuditLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  AuditEvent event{.kind = AuditEvent::Kind::kUnauthenticated, .time = now_, .address = "10.0.0.1:1"};
  constexpr int kFailures = 25;
  for (int i = 0; i < kFailures; ++i) ASSERT_TRUE((*log)->Write(event).ok());
  EXPECT_EQ(Lines(path_).size(), static_cast<size_t>(AuditLog::kFailuresPerSecond));
  event.address = "10.0.0.2:1";
  ASSERT_TRUE((*log)->Write(event).ok());
  EXPECT_EQ(Lines(path_).size(), AuditLog::kFailuresPerSecond + 1U);
  event.address = "10.0.0.1:2";  // another port of the first
  ASSERT_TRUE((*log)->Write(event).ok());
  EXPECT_EQ(Lines(path_).size(), AuditLog::kFailuresPerSecond + 1U);
  event.time += absl::Seconds(1);
  ASSERT_TRUE((*log)->Write(event).ok());
  EXPECT_THAT(Lines(path_).back(), HasSubstr("\"left_out\":16}"));
  event.kind = AuditEvent::Kind::kDenied;
  for (int i = 0; i < kFailures; ++i) ASSERT_TRUE((*log)->Write(event).ok());
  EXPECT_EQ(Lines(path_).size(), AuditLog::kFailuresPerSecond + 2U + kFailures);
  EXPECT_EQ((*log)->counts().unauthenticated, kFailures + 3);
  EXPECT_EQ((*log)->counts().denied, kFailures);
  EXPECT_EQ((*log)->counts().lost_lines, 0);
}

TEST_F(AuditLogTest, GoesOnInANewFileWhenReopened) {
  auto log = AuditLog::Open(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Write({.time = now_, .method = "A"}).ok());
  const std::string moved = path_ + ".1";
  ASSERT_EQ(std::rename(path_.c_str(), moved.c_str()), 0);
  ASSERT_TRUE((*log)->Write({.time = now_, .method = "B"}).ok());
  ASSERT_TRUE((*log)->Reopen().ok());
  ASSERT_TRUE((*log)->Write({.time = now_, .method = "C"}).ok());
  EXPECT_EQ(Lines(moved).size(), 2U);
  EXPECT_EQ(Lines(path_).size(), 1U);
  std::remove(moved.c_str());
}

TEST_F(AuditLogTest, ACallMayBeginWithoutItsLineUnlessTheLineIsRequired) {
  for (const bool is_required : {false, true}) {
    std::remove(path_.c_str());
    auto log = AuditLog::Open(path_, {.is_required = is_required});
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->Begin({.time = now_, .method = "A"}).ok());
    EXPECT_THAT(Lines(path_),
                ElementsAre(R"({"time":"2026-02-02T02:40:00.500000Z","event":"begun","method":"A"})"));
    {
      const FullDisk full;
      const absl::Status status = (*log)->Begin({.time = now_, .method = "B"});
      EXPECT_EQ(status.ok(), !is_required) << status;
      if (is_required) {
        EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
        EXPECT_EQ(status.message(),
                  "A line of the audit log cannot be written: File too large; the server's setting `audit: "
                  "required` "
                  "refuses the call without it");
      }
      EXPECT_EQ((*log)->counts().lost_lines, 1);
    }
    EXPECT_TRUE((*log)->Begin({.time = now_, .method = "C"}).ok());
    EXPECT_EQ(Lines(path_).size(), 2U);
  }
}

TEST_F(AuditLogTest, TakesNoDevice) {
  auto log = AuditLog::Open("/dev/full");
  EXPECT_EQ(log.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace sonde
