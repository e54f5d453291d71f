#include "web/http/http_counts.h"

#include <string>

namespace sonde {
namespace {

constexpr std::array<const char*, static_cast<size_t>(HttpCounts::Cut::kCount)> kCutNames = {
    "connections", "no_files", "tls_handshake", "tls_rate", "slow_request", "slow_reader", "broken_off"};

}  // namespace

void HttpCounts::AddAnswer(int http_code) {
  if (http_code < kCodeMin || http_code > kCodeMax) return;
  answers_[static_cast<size_t>(http_code - kCodeMin)].fetch_add(1, std::memory_order_relaxed);
}

std::vector<Figure> HttpCounts::Figures() const {
  const auto read = [](const std::atomic<int64_t>& count) {
    return static_cast<double>(count.load(std::memory_order_relaxed));
  };
  std::vector<Figure> figures = {
      Figure::Gauge("sonde_http_connections", "Connections to the HTTP port.").Add(read(connections_)),
      Figure::Counter("sonde_http_connections_total", "Connections that were taken.").Add(read(accepted_)),
      Figure::Counter("sonde_http_answers_total", "Answers, refusals included, by HTTP code."),
      Figure::Counter(
          "sonde_http_cut_total",
          "Connections that the HTTP port ended without an answer, or in the midst of one, by the "
          "limit.")};
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (const double count = read(answers_[i]); count > 0)
      figures[2].Add(count, {{"code", std::to_string(static_cast<int>(i) + kCodeMin)}});
  }
  for (size_t i = 0; i < cuts_.size(); ++i) figures[3].Add(read(cuts_[i]), {{"reason", kCutNames[i]}});
  return figures;
}

}  // namespace sonde
