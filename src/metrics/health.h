// How a server is, in sentences: made from its figures, for the page and for `sonde status`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct HealthReason {
  enum class Level : uint8_t {
    kWarning,  // all is answered, but somebody should look
    kFailing,  // requests are refused, or data is damaged
  };
  Level level = Level::kWarning;
  std::string text;  // a sentence without its full stop: "Writes are refused: the disk is full"
};

// The largest sample of a figure of /metrics by its name; nothing: the server has no such figure.
using LargestFigure = std::function<std::optional<double>(std::string_view name)>;

// What is wrong, the worst first.  Empty: all goes well.  The thresholds are those of the alerts in ops/alerts.yaml.
std::vector<HealthReason> FindHealthReasons(const LargestFigure& figure, double now_seconds);

}  // namespace sonde
