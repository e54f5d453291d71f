#include "metrics/disk_parts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class DiskPartsTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, size_t bytes) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << std::string(bytes, 'x');
  }
  // In KiB, rounded up to the blocks of the file system: each file that is written here takes whole ones.
  std::map<std::string, uint64_t> Kibibytes(absl::Time now) {
    std::map<std::string, uint64_t> found;
    for (const DiskParts::Part& part : parts_.List(now)) {
      if (part.bytes != 0) found[part.name] = part.bytes / 1024;
    }
    return found;
  }

  const fs::path root_ = fs::path(testing::TempDir()) / ("disk_parts_" + std::to_string(getpid()));
  DiskParts parts_{root_.native()};
  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
};

TEST_F(DiskPartsTest, EachFileCountsForItsPart) {
  constexpr size_t kKib = 1024;
  Write("cells/000015.sst", 64 * kKib);
  Write("cells/000016.log", 32 * kKib);
  Write("records/000009.sst", 8 * kKib);
  Write("records/000008.log", 4 * kKib);
  Write("keyviz/1s-1.log", 16 * kKib);
  Write("latency/day-1.log", 4 * kKib);
  Write("BALLAST", 128 * kKib);
  Write("FORMAT", 4 * kKib);
  Write("snapshots/a@1/cells/000001.sst", 12 * kKib);
  EXPECT_EQ(Kibibytes(now_), (std::map<std::string, uint64_t>{{"cells", 64},
                                                              {"log", 36},
                                                              {"records", 8},
                                                              {"history", 20},
                                                              {"ballast", 128},
                                                              {"copies", 12},
                                                              {"other", 4}}));
}

TEST_F(DiskPartsTest, AFileThatACopySharesCountsOnceAndIsTheCopysWhenTheCellsLetItGo) {
  Write("cells/000015.sst", 65'536);
  fs::create_directories(root_ / "snapshots/a@1/cells");
  fs::create_hard_link(root_ / "cells/000015.sst", root_ / "snapshots/a@1/cells/000015.sst");
  EXPECT_EQ(Kibibytes(now_), (std::map<std::string, uint64_t>{{"cells", 64}}));
  fs::remove(root_ / "cells/000015.sst");
  EXPECT_EQ(Kibibytes(now_ + DiskParts::kAgeMax), (std::map<std::string, uint64_t>{{"copies", 64}}));
}

TEST_F(DiskPartsTest, TheDirectoryIsLookedAtNowAndThen) {
  Write("cells/1.sst", 4'096);
  EXPECT_EQ(Kibibytes(now_).at("cells"), 4U);
  Write("cells/2.sst", 4'096);
  EXPECT_EQ(Kibibytes(now_ + DiskParts::kAgeMax - absl::Seconds(1)).at("cells"), 4U);
  EXPECT_EQ(Kibibytes(now_ + DiskParts::kAgeMax).at("cells"), 8U);
  Write("cells/3.sst", 4'096);
  EXPECT_EQ(Kibibytes(now_ - absl::Hours(1)).at("cells"), 12U) << "the clock was set back";
}

TEST_F(DiskPartsTest, ADirectoryThatIsNotThereHasNothing) {
  EXPECT_TRUE(DiskParts("").List(now_).empty());
  EXPECT_TRUE(DiskParts("").Figures(now_).empty());
  const std::vector<Figure> figures = DiskParts((root_ / "none").native()).Figures(now_);
  ASSERT_EQ(figures.size(), 1U);
  for (const Figure::Sample& sample : figures.front().samples) EXPECT_EQ(sample.value, 0);
}

}  // namespace
}  // namespace sonde
