#include "metrics/text_writer.h"

#include <array>

#include "base/format.h"

namespace sonde {
namespace {

void AppendEscaped(std::string_view value, bool in_quotes, std::string* out) {
  for (const char c : value) {
    if (c == '\\') {
      out->append("\\\\");
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '"' && in_quotes) {
      out->append("\\\"");
    } else {
      out->push_back(c);
    }
  }
}

}  // namespace

void MetricText::Begin(std::string_view name, MetricKind kind, std::string_view help) {
  static constexpr std::array<std::string_view, 3> kKinds = {"counter", "gauge", "histogram"};
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {} ", name);
  AppendEscaped(help, false, &text_);
  fmt::format_to(std::back_inserter(text_), "\n# TYPE {} {}\n", name, kKinds[static_cast<size_t>(kind)]);
}

void MetricText::Sample(double value, const Labels& labels, std::string_view suffix) {
  text_.append(name_).append(suffix);
  char separator = '{';
  for (const auto& [label, its_value] : labels) {
    text_.push_back(separator);
    text_.append(label).append("=\"");
    AppendEscaped(its_value, true, &text_);
    text_.push_back('"');
    separator = ',';
  }
  if (!labels.empty()) text_.push_back('}');
  fmt::format_to(std::back_inserter(text_), " {}\n", value);
}

void MetricText::Write(const Figure& figure) {
  if (figure.samples.empty()) return;
  Begin(figure.name, figure.kind, figure.help);
  for (const Figure::Sample& sample : figure.samples) {
    Sample(sample.value, Labels(sample.labels.begin(), sample.labels.end()));
  }
}

}  // namespace sonde
