// A heat map for terminals and as a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

struct HeatPicture {
  size_t columns = 0;
  std::vector<std::string> row_labels;
  std::vector<double> values;  // of columns * rows, column after column
  std::string time_left, time_right;

  size_t rows() const { return row_labels.size(); }
  // 0 nothing to 1 most: the square root of the value over nearly the largest.
  std::vector<double> Shades() const;
};

// Lines of at most `width` characters, one a row of the picture; with colours (of 256), or with characters
// alone.
std::string ToTerminal(const HeatPicture& picture, size_t width, bool colours);

// `scale` pixels a cell in either direction.
std::string ToPng(const HeatPicture& picture, size_t scale);

}  // namespace sonde
