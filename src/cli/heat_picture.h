// A heat map for terminals and as a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct HeatPicture {
  size_t columns = 0;
  std::vector<std::string> row_labels;
  std::vector<double> values;  // of columns * rows, column after column
  std::string time_left, time_right;

  size_t rows() const { return row_labels.size(); }
  // Nearly the largest value, which is drawn as the most.
  double Scale() const;
  // 0 nothing to 1 most: the square root of the value over Scale().
  std::vector<double> Shades() const;
};

// The characters that stand for shades, from nothing to most.
std::string_view ShadeCharacters();

// Lines of at most `width` characters, one a row of the picture; with colours (of 256), or with characters
// alone.
std::string ToTerminal(const HeatPicture& picture, size_t width, bool colours);

// `scale` pixels a cell in either direction.
std::string ToPng(const HeatPicture& picture, size_t scale);

}  // namespace sonde
