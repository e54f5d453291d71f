#include "cli/reach/plot_flags.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace sonde {
namespace {

constexpr int kUsualWidth = 100;

int TerminalWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualWidth;
}

}  // namespace

void AddPlotFlags(CLI::App& command, PlotFlags* flags) {
  command.add_flag("--plot", flags->has_plot, "draw the numbers over time");
  command.add_option("--title", flags->title, "Title of the plot");
  command
      .add_option("--width", flags->width, "Width of the plot in characters (default: that of the terminal)")
      ->check(CLI::Range(30, 1000));
  command.add_option("--height", flags->height, "Height of the plot in lines")
      ->check(CLI::Range(6, 200))
      ->capture_default_str();
  command.add_option("--color", flags->color, "Colours of the plot")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

void PrintPlot(const PlotFlags& flags, const std::string& usual_title, std::vector<series::PlotLine> lines) {
  series::PlotOptions plot;
  plot.title = flags.title.empty() ? usual_title : flags.title;
  plot.width = flags.width > 0 ? flags.width : std::min(TerminalWidth(), 2 * kUsualWidth);
  plot.height = flags.height;
  plot.has_color = flags.color == "always" || (flags.color == "auto" && isatty(STDOUT_FILENO) == 1 &&
                                               std::getenv("NO_COLOR") == nullptr);
  const std::string text = series::RenderPlot(plot, std::move(lines));
  std::cout << (text.empty() ? "no numbers to plot\n" : "\n" + text);
}

}  // namespace sonde
