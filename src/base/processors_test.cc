#include "base/processors.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class ProcessorsTest : public testing::Test {
 protected:
  ProcessorsTest() {
    std::string name = testing::TempDir() + "sonde_processors_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~ProcessorsTest() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
  const double all_ = UsableProcessors("/nowhere");
};

TEST_F(ProcessorsTest, AreThoseThatItMayRunOn) {
  EXPECT_GE(all_, 1);
  Write("proc/self/cgroup", "0::/a/b\n");
  Write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(UsableProcessors(root_), all_);
}

TEST_F(ProcessorsTest, AreFewerByTheQuotaOfAGroupOrOneThatItIsIn) {
  Write("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
  Write("sys/fs/cgroup/a/b/cpu.max", "80000 100000\n");
  EXPECT_EQ(UsableProcessors(root_), 0.8);
  Write("sys/fs/cgroup/a/cpu.max", "25000 100000\n");
  EXPECT_EQ(UsableProcessors(root_), 0.25);
}

TEST_F(ProcessorsTest, AContainerSeesItsOwnGroupAsTheRoot) {
  Write("proc/self/cgroup", "0::/of/the/host\n");
  Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(UsableProcessors(root_), 0.5);
}

TEST_F(ProcessorsTest, VersionOneHasFilesOfItsOwn) {
  Write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/g\n");
  Write("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(UsableProcessors(root_), all_);
  Write("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us", "40000\n");
  EXPECT_EQ(UsableProcessors(root_), 0.4);
}

}  // namespace
}  // namespace sonde
