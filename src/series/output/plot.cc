#include "series/output/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/text_table.h"
#include "series/output/plot_axis.h"
#include "series/output/result_writer.h"
#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

constexpr int kDotsAcross = 2;  // of one character
constexpr int kDotsDown = 4;
constexpr double kGapSteps = 8;
constexpr int kLinesPerValueTick = 3;
constexpr std::array<const char*, kPlotLinesMax> kColors = {"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m"};
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

void AppendCodePoint(uint32_t code_point, std::string* out) {
  out->push_back(static_cast<char>(0xE0 | (code_point >> 12)));
  out->push_back(static_cast<char>(0x80 | ((code_point >> 6) & 0x3F)));
  out->push_back(static_cast<char>(0x80 | (code_point & 0x3F)));
}

// A field of dots, each character of which belongs to the line that drew into it last.
class Canvas {
 public:
  Canvas(int width, int height) : width_(width), cells_(width * height) {}

  void Dot(int x, int y, int line) {
    // The bits of U+2800: columns of 3 dots, then the fourth of both.
    constexpr uint8_t kBits[kDotsDown][kDotsAcross] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = cells_[(y / kDotsDown) * width_ + x / kDotsAcross];
    cell.dots |= kBits[y % kDotsDown][x % kDotsAcross];
    cell.line = line;
  }

  // A straight line of dots (Bresenham).
  void Segment(int x0, int y0, int x1, int y1, int line) {
    const int dx = std::abs(x1 - x0);
    const int dy = -std::abs(y1 - y0);
    const int step_x = x0 < x1 ? 1 : -1;
    const int step_y = y0 < y1 ? 1 : -1;
    for (int error = dx + dy;;) {
      Dot(x0, y0, line);
      if (x0 == x1 && y0 == y1) return;
      const int twice = 2 * error;
      if (twice >= dy) {
        error += dy;
        x0 += step_x;
      }
      if (twice <= dx) {
        error += dx;
        y0 += step_y;
      }
    }
  }

  std::string Line(int y, bool has_color) const {
    std::string text;
    int last_line = -1;
    for (int x = 0; x < width_; ++x) {
      const Cell& cell = cells_[y * width_ + x];
      if (cell.dots == 0) {
        text += ' ';
        continue;
      }
      if (has_color && cell.line != last_line) {
        text += kColors[cell.line];
        last_line = cell.line;
      }
      AppendCodePoint(0x2800 + cell.dots, &text);
    }
    if (last_line >= 0) text += kPlain;
    return text;
  }

 private:
  struct Cell {
    uint8_t dots = 0;
    int line = 0;
  };
  int width_;
  std::vector<Cell> cells_;
};

struct Frame {
  int64_t first_micros = 0;
  int64_t last_micros = 0;
  double min = 0;
  double max = 0;
};

Frame FrameOf(const std::vector<PlotLine>& lines) {
  Frame frame{INT64_MAX, INT64_MIN, INFINITY, -INFINITY};
  for (const PlotLine& line : lines) {
    for (const auto& [time, value] : line.points) {
      frame.first_micros = std::min(frame.first_micros, time);
      frame.last_micros = std::max(frame.last_micros, time);
      frame.min = std::min(frame.min, value);
      frame.max = std::max(frame.max, value);
    }
  }
  return frame;
}

// The time between two neighbours, as it mostly is.
int64_t UsualStep(const PlotLine& line) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < line.points.size(); ++i)
    steps.push_back(line.points[i].first - line.points[i - 1].first);
  if (steps.empty()) return 0;
  std::nth_element(steps.begin(), steps.begin() + static_cast<int64_t>(steps.size() / 2), steps.end());
  return steps[steps.size() / 2];
}

class Drawing {
 public:
  Drawing(const PlotOptions& options, const Frame& frame, int label_width, int height)
      : options_(options),
        frame_(frame),
        label_width_(label_width),
        height_(height),
        width_(options.width - label_width - 2),
        canvas_(width_, height),
        axis_(MakeValueAxis(frame.min, frame.max, std::max(2, height / kLinesPerValueTick + 1))) {}

  void Draw(const PlotLine& line, int index) {
    const double gap_micros = kGapSteps * static_cast<double>(UsualStep(line));
    for (size_t i = 0; i < line.points.size(); ++i) {
      const auto& [time, value] = line.points[i];
      const bool is_joined = i > 0 && static_cast<double>(time - line.points[i - 1].first) <= gap_micros;
      if (is_joined) {
        canvas_.Segment(X(line.points[i - 1].first), Y(line.points[i - 1].second), X(time), Y(value), index);
      } else {
        canvas_.Dot(X(time), Y(value), index);
      }
    }
  }

  std::string Text(bool has_time_labels) const {
    std::vector<std::string> labels(height_);
    for (const auto& [value, label] : axis_.ticks) labels[Y(value) / kDotsDown] = label;
    std::string text;
    for (int y = 0; y < height_; ++y) {
      const std::string blanks(label_width_ - std::min<size_t>(labels[y].size(), label_width_), ' ');
      std::string line =
          blanks + labels[y] + Dimmed(labels[y].empty() ? " │" : " ┤") + canvas_.Line(y, options_.has_color);
      if (!options_.has_color) line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text + TimeAxis(has_time_labels);
  }

 private:
  int X(int64_t time) const {
    const double share = frame_.last_micros == frame_.first_micros
                             ? 0.5
                             : static_cast<double>(time - frame_.first_micros) /
                                   static_cast<double>(frame_.last_micros - frame_.first_micros);
    return static_cast<int>(std::lround(share * (width_ * kDotsAcross - 1)));
  }
  int Y(double value) const {
    const double share = (value - axis_.low) / (axis_.high - axis_.low);
    return static_cast<int>(std::lround((1 - share) * (height_ * kDotsDown - 1)));
  }
  std::string Dimmed(const std::string& text) const {
    return options_.has_color ? fmt::format("{}{}{}", kDim, text, kPlain) : text;
  }

  std::string TimeAxis(bool has_labels) const {
    const std::vector<TimeTick> ticks = MakeTimeTicks(frame_.first_micros, frame_.last_micros, width_);
    std::vector<bool> has_tick(width_);
    std::string labels(options_.width + 1, ' ');
    int free_from = 0;
    for (const TimeTick& tick : ticks) {
      const int x = X(tick.micros) / kDotsAcross;
      has_tick[x] = true;
      const int size = static_cast<int>(tick.label.size());
      const int begin = std::min(label_width_ + 2 + x - size / 2, options_.width - size);
      if (begin < free_from) continue;
      labels.replace(begin, size, tick.label);
      free_from = begin + size + 1;
    }
    std::string rule = " └";
    for (int x = 0; x < width_; ++x) rule += has_tick[x] ? "┬" : "─";
    labels.erase(labels.find_last_not_of(' ') + 1);
    std::string text = std::string(label_width_, ' ') + Dimmed(rule) + "\n";
    if (has_labels && !ticks.empty()) text += labels + "\n";
    return text;
  }

  const PlotOptions& options_;
  Frame frame_;
  int label_width_;
  int height_;
  int width_;
  Canvas canvas_;
  ValueAxis axis_;
};

std::string Centered(const std::string& text, int width, bool has_color) {
  const size_t shown = DisplayWidth(text);
  const std::string blanks(shown < static_cast<size_t>(width) ? (width - shown) / 2 : 0, ' ');
  return has_color ? fmt::format("{}{}{}{}\n", blanks, kBold, text, kPlain) : blanks + text + "\n";
}

std::string LegendOf(const PlotLine& line, size_t name_width, std::optional<size_t> color) {
  double min = INFINITY;
  double max = -INFINITY;
  double sum = 0;
  for (const auto& [time, value] : line.points) {
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
  }
  const std::string name = line.name + std::string(name_width - DisplayWidth(line.name), ' ');
  const std::string mark = color ? fmt::format("{}━━{} ", kColors[*color], kPlain) : "";
  return fmt::format("{}{}  min {:<8.5g} avg {:<8.5g} max {:<8.5g} last {:.5g}\n", mark, name, min,
                     sum / static_cast<double>(line.points.size()), max, line.points.back().second);
}

int LabelWidth(const Frame& frame, int height) {
  size_t width = 1;
  for (const auto& [value, label] :
       MakeValueAxis(frame.min, frame.max, std::max(2, height / kLinesPerValueTick + 1)).ticks) {
    width = std::max(width, label.size());
  }
  return static_cast<int>(width) + 1;
}

}  // namespace

std::string RenderPlot(const PlotOptions& asked, std::vector<PlotLine> lines) {
  PlotOptions options = asked;
  options.width = std::max(options.width, kPlotWidthMin);
  options.height = std::max(options.height, kPlotHeightMin);
  std::erase_if(lines, [](const PlotLine& line) { return line.points.empty(); });
  if (lines.empty()) return "";
  const size_t lines_left_out = lines.size() > kPlotLinesMax ? lines.size() - kPlotLinesMax : 0;
  if (lines_left_out > 0) lines.resize(kPlotLinesMax);
  size_t name_width = 0;
  for (PlotLine& line : lines) {
    line.name = DisplayText(line.name);
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    name_width = std::max(name_width, DisplayWidth(line.name));
  }
  const Frame whole = FrameOf(lines);
  std::string text = options.title.empty() ? "" : Centered(options.title, options.width, options.has_color);
  if (options.has_color || lines.size() == 1) {
    const int label_width = LabelWidth(whole, options.height);
    Drawing drawing(options, whole, label_width, options.height);
    for (size_t i = 0; i < lines.size(); ++i) drawing.Draw(lines[i], static_cast<int>(i));
    text += drawing.Text(true);
    const std::string indent(label_width + 2, ' ');
    for (size_t i = 0; i < lines.size(); ++i) {
      text += indent + LegendOf(lines[i], name_width, options.has_color ? std::optional(i) : std::nullopt);
    }
  } else {
    const int height = std::max<int>(kPlotHeightMin, options.height / static_cast<int>(lines.size()));
    int label_width = 0;
    for (const PlotLine& line : lines)
      label_width = std::max(label_width, LabelWidth(FrameOf({line}), height));
    for (size_t i = 0; i < lines.size(); ++i) {
      Frame frame = FrameOf({lines[i]});
      frame.first_micros = whole.first_micros;
      frame.last_micros = whole.last_micros;
      Drawing drawing(options, frame, label_width, height);
      drawing.Draw(lines[i], static_cast<int>(i));
      text += std::string(label_width + 2, ' ') + LegendOf(lines[i], name_width, std::nullopt);
      text += drawing.Text(i + 1 == lines.size());
    }
  }
  if (lines_left_out > 0) {
    text += fmt::format("{} more {} not drawn: a plot has up to {} lines\n", lines_left_out,
                        lines_left_out == 1 ? "series is" : "series are", kPlotLinesMax);
  }
  return text;
}

}  // namespace sonde::series
