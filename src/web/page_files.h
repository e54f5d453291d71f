// The files of the web page, as scripts/build-web put them into the program.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sonde {

struct PageFile {
  std::string_view path;  // "/index.html"
  std::string_view content_type;
  size_t bytes = 0;  // unpacked
  std::string_view gzip;
};

const std::vector<PageFile>& PageFiles();

}  // namespace sonde
