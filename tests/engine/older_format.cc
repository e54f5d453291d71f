#include "older_format.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/rocks/files/inventory.h"

namespace sonde {
namespace {

constexpr char kPrefix[] = "sonde data format ";

}  // namespace

bool MakeOlderFormat(const std::string& data_dir, int format) {
  if (FormatOf(data_dir) == 0) return false;
  std::ofstream(data_dir + "/FORMAT") << kPrefix << format << "\n";
  if (format > 1) return true;
  std::filesystem::remove(data_dir + "/" + kInventoryFile);
  std::filesystem::remove(data_dir + "/" + kInventoryBeforeFile);
  return true;
}

int FormatOf(const std::string& data_dir) {
  std::string line;
  std::getline(std::ifstream(data_dir + "/FORMAT"), line);
  return line.starts_with(kPrefix) ? std::atoi(line.c_str() + sizeof(kPrefix) - 1) : 0;
}

}  // namespace sonde
