#include "server/process/root_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

namespace sonde {
namespace {

TEST(RootUser, RootNeedsAContainerOrAWord) {
  for (const bool is_root : {false, true}) {
    for (const bool is_in_container : {false, true}) {
      for (const bool allow_root : {false, true}) {
        const absl::Status status =
            CheckUser({.is_root = is_root, .is_in_container = is_in_container}, allow_root);
        EXPECT_EQ(status.ok(), !is_root || is_in_container || allow_root);
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
        EXPECT_THAT(std::string(status.message()), testing::HasSubstr("--allow-root"));
      }
    }
  }
}

TEST(RootUser, AContainerIsKnownByItsVariables) {
  const auto find = [](std::string_view variable, const char* value) {
    return ProcessUser::Find(
        [=](const char* name) -> const char* { return name == variable ? value : nullptr; });
  };
  const ProcessUser bare = find("", "");
  EXPECT_EQ(bare.is_root, geteuid() == 0);
  EXPECT_TRUE(find("container", "podman").is_in_container);
  EXPECT_TRUE(find("KUBERNETES_SERVICE_HOST", "10.0.0.1").is_in_container);
  // Where a file tells, the variables tell nothing more.
  EXPECT_EQ(find("container", "").is_in_container, bare.is_in_container);
  EXPECT_EQ(find("contain", "podman").is_in_container, bare.is_in_container);
}

}  // namespace
}  // namespace sonde
