#include "cli/store/settling_progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{500};
constexpr std::chrono::seconds kLogInterval{5};

}  // namespace

std::string SettlingProgress::AfterStep(uint64_t cells_settled, Time now) {
  if (now - last_ < (terminal_ ? kTerminalInterval : kLogInterval)) return "";
  last_ = now;
  // The total is an estimate: once it is passed, it says nothing any more.
  if (!cells_total_.has_value() || *cells_total_ == 0 || cells_settled > *cells_total_) {
    return Line(fmt::format("settling: {} cells", cells_settled));
  }
  const double share = static_cast<double>(cells_settled) / static_cast<double>(*cells_total_);
  return Line(fmt::format("settling: {} of about {} cells, {:.0f}%", cells_settled, *cells_total_,
                          std::min(100 * share, 99.0)));
}

std::string SettlingProgress::Begin(const std::string& what) { return terminal_ || shown_ ? Line(what) : ""; }

std::string SettlingProgress::End() { return terminal_ && shown_ ? "\n" : ""; }

std::string SettlingProgress::Line(const std::string& text) {
  shown_ = true;
  constexpr char kEraseToEnd[] = "\x1b[K";
  return terminal_ ? fmt::format("\r{}{}", text, kEraseToEnd) : text + "\n";
}

}  // namespace sonde
