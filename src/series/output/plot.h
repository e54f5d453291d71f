// Lines over time, drawn for a terminal in Unicode braille: 2 x 4 dots a character.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::series {

constexpr size_t kPlotLinesMax = 4;
constexpr int kPlotWidthMin = 30;
constexpr int kPlotHeightMin = 6;

struct PlotLine {
  std::string name;
  std::vector<std::pair<int64_t, double>> points;  // time in microseconds, value; in any order
};

struct PlotOptions {
  std::string title;
  int width = 80;   // characters, all in all; at least kPlotWidthMin
  int height = 20;  // lines of a drawing, without title, time labels and legend; at least kPlotHeightMin
  // ANSI colors: the lines are drawn over each other.  Without, each line has a drawing of its own below the
  // others, all with the same time axis.
  bool has_color = false;
};

// Lines beyond kPlotLinesMax are not drawn, and the text says so.  A gap of more than 8 usual steps between
// two points is left open.  An empty text when there is no point.
std::string RenderPlot(const PlotOptions& options, std::vector<PlotLine> lines);

}  // namespace sonde::series
