// The flags of commands that can draw their answers over time.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "series/output/plot.h"

namespace sonde {

struct PlotFlags {
  bool has_plot = false;
  std::string title;
  int width = 0;  // 0: the terminal's
  int height = 16;
  std::string color = "auto";
};

// --plot, --title, --width, --height, --color.
void AddPlotFlags(CLI::App& command, PlotFlags* flags);

// Draws the lines on stdout.  `usual_title` is used where the flags have none.
void PrintPlot(const PlotFlags& flags, const std::string& usual_title, std::vector<series::PlotLine> lines);

}  // namespace sonde
