#include "cli/watch/tar_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace sonde {
namespace {

std::string OutputOf(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[256];
  while (const size_t bytes = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, bytes);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

TEST(TarWriter, TarReadsIt) {
  TarWriter writer;
  const std::string exact(512, 'x');
  ASSERT_TRUE(writer.Add("sonde-debug/a.txt", "hello\n", 86'400).ok());
  ASSERT_TRUE(writer.Add("sonde-debug/empty", "", 0).ok());
  ASSERT_TRUE(writer.Add(std::string(100, 'n'), exact, 0).ok());
  const std::string path = testing::TempDir() + "/sonde_tar_" + std::to_string(getpid());
  std::ofstream(path) << writer.Finish();
  EXPECT_EQ(OutputOf("TZ=UTC tar --numeric-owner -tvf " + path),
            "-rw------- 0/0               6 1970-01-02 00:00 sonde-debug/a.txt\n"
            "-rw------- 0/0               0 1970-01-01 00:00 sonde-debug/empty\n"
            "-rw------- 0/0             512 1970-01-01 00:00 " +
                std::string(100, 'n') + "\n");
  EXPECT_EQ(OutputOf("tar -xOf " + path), "hello\n" + exact);
  std::filesystem::remove(path);
}

TEST(TarWriter, RefusesNamesThatDoNotFit) {
  TarWriter writer;
  EXPECT_EQ(writer.Add(std::string(101, 'n'), "", 0).message(),
            "a name in an archive must have 1 to 100 bytes, but has 101");
  EXPECT_EQ(writer.Add("", "", 0).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
