#include "server/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

using testing::HasSubstr;

class StateDirectoryTest : public testing::Test {
 protected:
  StateDirectoryTest() {
    std::string name = testing::TempDir() + "sonde_state_directory_XXXXXX";
    parent_ = mkdtemp(name.data());
  }
  ~StateDirectoryTest() override { std::filesystem::remove_all(parent_); }

  std::string parent_;
};

TEST_F(StateDirectoryTest, IsMadeAndTakenByOne) {
  const std::string path = parent_ + "/a/b";
  absl::StatusOr<std::unique_ptr<StateDirectory>> first = StateDirectory::Take(path);
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = StateDirectory::Take(path).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
  EXPECT_THAT(std::string(second.message()), HasSubstr("in use by another process"));
  first->reset();
  EXPECT_TRUE(StateDirectory::Take(path).ok());
}

TEST_F(StateDirectoryTest, ADirectoryWithAStoreIsRefused) {
  std::ofstream(parent_ + "/FORMAT") << "sonde data format 1\n";
  const absl::Status status = StateDirectory::Take(parent_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has a store of its own"));
}

TEST_F(StateDirectoryTest, APlaceThatIsNoDirectoryIsTold) {
  std::ofstream(parent_ + "/file") << "x";
  const absl::Status status = StateDirectory::Take(parent_ + "/file/a").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be made"));
}

}  // namespace
}  // namespace sonde
