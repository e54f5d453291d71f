#include "yaml/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sonde {

absl::Status Problems::ToStatus() const {
  if (lines_.empty()) return absl::OkStatus();
  std::string message;
  int shown = 0;
  for (const auto& [line, what] : lines_) {
    if (shown++ == kProblemsMax) {
      message += fmt::format("\n{}: and {} more", file_, lines_.size() - kProblemsMax);
      break;
    }
    if (!message.empty()) message += "\n";
    message += fmt::format("{}:{}: {}", file_, line, what);
  }
  return absl::InvalidArgumentError(message);
}

std::string JoinNames(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> TextOf(const YAML::Node& node, std::string_view what, Problems* problems) {
  if (node.IsScalar() && !node.Scalar().empty()) return node.Scalar();
  problems->Add(LineOf(node), fmt::format("{} must be a text, and not empty", what));
  return std::nullopt;
}

MapReader::MapReader(const YAML::Node& node, std::string what, std::vector<std::string> allowed,
                     Problems* problems)
    : what_(std::move(what)), problems_(problems), line_(LineOf(node)) {
  if (!node.IsMap()) {
    problems->Add(line_, fmt::format("{} must be a map; allowed keys: {}", what_, JoinNames(allowed)));
    return;
  }
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const int line = LineOf(entry.first);
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      problems->Add(line, fmt::format("unknown key '{}' in {}; allowed: {}", key, what_, JoinNames(allowed)));
    } else if (Has(key)) {
      problems->Add(line, fmt::format("key '{}' comes twice in {}", key, what_));
    } else {
      entries_.emplace_back(key, entry.second);
    }
  }
}

YAML::Node MapReader::Find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return value;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

std::optional<std::string> MapReader::Text(std::string_view key) const {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return std::nullopt;
  return TextOf(node, fmt::format("'{}' of {}", key, what_), problems_);
}

std::optional<int64_t> MapReader::Integer(std::string_view key, int64_t min, int64_t max) const {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return std::nullopt;
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty() && number >= min &&
      number <= max) {
    return number;
  }
  problems_->Add(LineOf(node), fmt::format("'{}' of {} is '{}'; allowed: a whole number from {} to {}", key,
                                           what_, text, min, max));
  return std::nullopt;
}

std::optional<bool> MapReader::Boolean(std::string_view key) const {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return std::nullopt;
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  if (text == "true") return true;
  if (text == "false") return false;
  problems_->Add(LineOf(node), fmt::format("'{}' of {} is '{}'; allowed: true, false", key, what_, text));
  return std::nullopt;
}

}  // namespace sonde
