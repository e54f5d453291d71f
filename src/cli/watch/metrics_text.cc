#include "cli/watch/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace sonde {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_' || c == ':'; }

// Takes `prefix` off the front, if it is there.
bool Consume(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Takes a name off the front.
std::string TakeName(std::string_view* text) {
  size_t length = 0;
  while (length < text->size() && IsNameByte((*text)[length])) ++length;
  std::string name(text->substr(0, length));
  text->remove_prefix(length);
  return name;
}

// Takes a value in quotes off the front; nothing: there is none.
std::optional<std::string> TakeQuoted(std::string_view* text) {
  if (!Consume(text, "\"")) return std::nullopt;
  std::string value;
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c == '"') {
      text->remove_prefix(i + 1);
      return value;
    }
    if (c != '\\' || i + 1 == text->size()) {
      value.push_back(c);
      continue;
    }
    const char escaped = (*text)[++i];
    value.push_back(escaped == 'n' ? '\n' : escaped);
  }
  return std::nullopt;
}

std::optional<MetricSample> ParseSample(std::string_view line) {
  MetricSample sample{.name = TakeName(&line)};
  if (sample.name.empty()) return std::nullopt;
  if (Consume(&line, "{")) {
    while (!Consume(&line, "}")) {
      std::string label = TakeName(&line);
      if (label.empty() || !Consume(&line, "=")) return std::nullopt;
      std::optional<std::string> value = TakeQuoted(&line);
      if (!value.has_value()) return std::nullopt;
      sample.labels.insert_or_assign(std::move(label), *std::move(value));
      Consume(&line, ",");
    }
  }
  if (!Consume(&line, " ") || !absl::SimpleAtod(std::string(line), &sample.value)) return std::nullopt;
  return sample;
}

}  // namespace

std::string_view MetricSample::Label(std::string_view label) const {
  const auto found = labels.find(label);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

absl::StatusOr<MetricSamples> MetricSamples::Parse(std::string_view text) {
  MetricSamples samples;
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    if (samples.samples_.size() == kSamplesMax)
      return absl::ResourceExhaustedError(fmt::format("there are more than {} samples", kSamplesMax));
    std::optional<MetricSample> sample = ParseSample(line);
    if (!sample.has_value())
      return absl::InvalidArgumentError(fmt::format("line {} is no sample of a metric", number));
    samples.samples_.push_back(*std::move(sample));
  }
  return samples;
}

std::vector<const MetricSample*> MetricSamples::Find(std::string_view name) const {
  std::vector<const MetricSample*> found;
  for (const MetricSample& sample : samples_) {
    if (sample.name == name) found.push_back(&sample);
  }
  return found;
}

double MetricSamples::Value(std::string_view name, double otherwise) const {
  const std::vector<const MetricSample*> found = Find(name);
  return found.empty() ? otherwise : found.front()->value;
}

double MetricSamples::Sum(std::string_view name) const {
  double sum = 0;
  for (const MetricSample* const sample : Find(name)) sum += sample->value;
  return sum;
}

}  // namespace sonde
