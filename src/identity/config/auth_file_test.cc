#include "identity/config/auth_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace sonde {
namespace {

class AuthFile : public ::testing::Test {
 protected:
  AuthFile() { std::filesystem::create_directory(directory_); }
  ~AuthFile() override { std::filesystem::remove_all(directory_); }

  absl::Status AddGroup(const std::string& name) {
    return UpdateAuthFile(path_, [&](AuthConfig* config) {
      config->groups.push_back({.name = name, .members = {}});
      return absl::OkStatus();
    });
  }
  mode_t ModeOf(const std::string& path) {
    struct stat facts{};
    EXPECT_EQ(stat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }

  const std::string directory_ =
      std::filesystem::path(::testing::TempDir()) / fmt::format("auth_file{}", getpid());
  const std::string path_ = directory_ + "/auth.yaml";
};

TEST_F(AuthFile, IsMadeForItsOwnerAlone) {
  const mode_t old = umask(0);
  EXPECT_TRUE(AddGroup("a").ok());
  umask(old);
  EXPECT_EQ(ModeOf(path_), 0600);
  EXPECT_EQ(ReadAuthFile(path_)->groups.size(), 1);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(AuthFile, IsRefusedWhereOthersMayUseIt) {
  ASSERT_TRUE(AddGroup("a").ok());
  for (const mode_t mode : {0640, 0620, 0610, 0604, 0602, 0601}) {
    chmod(path_.c_str(), mode);
    const absl::Status status = ReadAuthFile(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(),
              fmt::format("{} has mode {:04o}: others than its owner may use it; run: chmod 600 {}", path_,
                          mode, path_));
  }
  EXPECT_EQ(AddGroup("b").code(), absl::StatusCode::kFailedPrecondition);
  chmod(path_.c_str(), 0400);
  EXPECT_TRUE(ReadAuthFile(path_).ok());
}

TEST_F(AuthFile, StaysAsItWasWhenAChangeFails) {
  ASSERT_TRUE(AddGroup("a").ok());
  EXPECT_EQ(UpdateAuthFile(path_,
                           [](AuthConfig* config) {
                             config->groups.clear();
                             return absl::AbortedError("no");
                           }),
            absl::AbortedError("no"));
  EXPECT_EQ(AddGroup("NOT A NAME").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadAuthFile(path_)->groups.size(), 1);
}

TEST_F(AuthFile, IsWrittenAfterACommandThatWasKilled) {
  std::ofstream(path_ + ".part") << "half";
  EXPECT_TRUE(AddGroup("a").ok());
  EXPECT_EQ(ReadAuthFile(path_)->groups.size(), 1);
}

TEST_F(AuthFile, LosesNoChangeOfTwoCommandsAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(AddGroup(fmt::format("g{}.{}", thread, i)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadAuthFile(path_)->groups.size(), 40);
}

TEST_F(AuthFile, SaysWhichFileIsNotThere) {
  EXPECT_EQ(ReadAuthFile(path_).status(), absl::NotFoundError(path_ + " does not exist"));
  EXPECT_EQ(ReadAuthFile(directory_).status(),
            absl::FailedPreconditionError(directory_ + " is no regular file"));
  EXPECT_EQ(
      UpdateAuthFile(directory_ + "/none/auth.yaml", [](AuthConfig*) { return absl::OkStatus(); }).code(),
      absl::StatusCode::kUnavailable);
}

TEST_F(AuthFile, OverwritesNoSecret) {
  const std::string path = directory_ + "/key.json";
  EXPECT_TRUE(WriteSecretFile(path, "secret").ok());
  EXPECT_EQ(ModeOf(path), 0600);
  EXPECT_EQ(WriteSecretFile(path, "another"),
            absl::AlreadyExistsError(path + " exists already, and is not overwritten"));
}

}  // namespace
}  // namespace sonde
