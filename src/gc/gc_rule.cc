#include "gc/gc_rule.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

absl::Status Check(const GcRule& rule, const std::string& place, int depth);

absl::Status CheckAll(const std::vector<GcRule>& rules, const std::string& place, const char* kind,
                      int depth) {
  if (depth >= kGcRuleDepthMax) {
    return absl::InvalidArgumentError(
        fmt::format("{}: garbage-collection rules nest at most {} deep", place, kGcRuleDepthMax));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    absl::Status status = Check(rules[i], fmt::format("{}.{}[{}]", place, kind, i), depth + 1);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Check(const GcRule& rule, const std::string& place, int depth) {
  if (const auto* versions = std::get_if<GcRule::MaxVersions>(&rule.rule)) {
    if (versions->count >= 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{}: max_num_versions must be at least 1, is {}", place, versions->count));
  }
  if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) {
    if (age->micros >= kGcMaxAgeMicrosMin) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("{}: max_age must be at least 1 millisecond, is {} microseconds", place, age->micros));
  }
  if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) {
    return CheckAll(all->rules, place, "intersection", depth);
  }
  if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) {
    return CheckAll(any->rules, place, "union", depth);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGcRule(const GcRule& rule) { return Check(rule, "rule", 0); }

}  // namespace sonde
