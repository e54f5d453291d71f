#include "series/query/tag_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace sonde::series {
namespace {

constexpr int64_t kRegexBytesMax = 1 << 20;
constexpr int kPrefixBytesMax = 64;

// `a|b|c` without anything else that means something.
std::vector<std::string> PlainAlternatives(std::string_view pattern) {
  if (pattern.find_first_of("\\.+*?()[]{}^$") != std::string_view::npos) return {};
  std::vector<std::string> values;
  while (true) {
    const size_t bar = pattern.find('|');
    values.emplace_back(pattern.substr(0, bar));
    if (bar == std::string_view::npos) return values;
    pattern.remove_prefix(bar + 1);
  }
}

}  // namespace

absl::StatusOr<TagConditions> TagConditions::Compile(const SeriesSchema& schema,
                                                     const std::vector<TagCondition>& conditions) {
  TagConditions result;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexBytesMax);
  options.set_dot_nl(true);
  for (const TagCondition& condition : conditions) {
    const std::string& name = schema.tags[condition.tag].name;
    std::vector<std::string> values = PlainAlternatives(condition.pattern);
    if (!values.empty()) {
      absl::flat_hash_set<std::string> set(values.begin(), values.end());
      result.conditions_.push_back(
          {condition.tag, condition.is_negated, nullptr, std::move(values), std::move(set)});
      continue;
    }
    if (condition.pattern.size() > kPatternBytesMax) {
      return absl::InvalidArgumentError(fmt::format("tag '{}': a pattern of {} bytes; allowed: up to {}",
                                                    name, condition.pattern.size(), kPatternBytesMax));
    }
    auto regex = std::make_unique<re2::RE2>("^(?:" + condition.pattern + ")$", options);
    if (!regex->ok()) {
      return absl::InvalidArgumentError(fmt::format("tag '{}': '{}' is not a regular expression (RE2): {}",
                                                    name, Printable(condition.pattern), regex->error()));
    }
    result.conditions_.push_back({condition.tag, condition.is_negated, std::move(regex), {}, {}});
  }
  return result;
}

void TagConditions::Narrow(const SeriesSchema& schema, Selection* selection) const {
  selection->tags.resize(std::max(selection->tags.size(), schema.tags.size()));
  for (const Condition& condition : conditions_) {
    TagFilter& filter = selection->tags[condition.tag];
    if (condition.is_negated || !filter.IsAny() || schema.tags[condition.tag].type != TagType::kString)
      continue;
    if (condition.regex == nullptr) {
      if (!condition.set.contains("")) filter.values = condition.values;
      continue;
    }
    std::string low;
    std::string high;
    if (!condition.regex->PossibleMatchRange(&low, &high, kPrefixBytesMax)) continue;
    const size_t same = std::mismatch(low.begin(), low.end(), high.begin(), high.end()).first - low.begin();
    if (same > 0) filter.prefix = low.substr(0, same);
  }
}

bool TagConditions::Match(const std::vector<std::string>& tags) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    const std::string& tag = tags[condition.tag];
    const bool matches =
        condition.regex == nullptr ? condition.set.contains(tag) : re2::RE2::FullMatch(tag, *condition.regex);
    return matches != condition.is_negated;
  });
}

}  // namespace sonde::series
