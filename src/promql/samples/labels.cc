#include "promql/samples/labels.h"

#include <algorithm>

#include "promql/syntax/matcher.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

Labels::const_iterator Find(const Labels& labels, std::string_view name) {
  const auto found = std::lower_bound(labels.begin(), labels.end(), name,
                                      [](const auto& label, std::string_view b) { return label.first < b; });
  return found != labels.end() && found->first == name ? found : labels.end();
}

Labels Select(const Labels& labels, const std::vector<std::string>& names, bool keeps) {
  Labels result;
  for (const auto& label : labels) {
    const bool is_named = std::find(names.begin(), names.end(), label.first) != names.end();
    if (is_named == keeps) result.push_back(label);
  }
  return result;
}

}  // namespace

std::string_view LabelOf(const Labels& labels, std::string_view name) {
  const auto found = Find(labels, name);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

void SetLabel(std::string_view name, std::string_view value, Labels* labels) {
  if (value.empty()) return RemoveLabel(name, labels);
  const auto at = std::lower_bound(labels->begin(), labels->end(), name,
                                   [](const auto& label, std::string_view b) { return label.first < b; });
  if (at != labels->end() && at->first == name) {
    at->second = value;
  } else {
    labels->insert(at, {std::string(name), std::string(value)});
  }
}

void RemoveLabel(std::string_view name, Labels* labels) {
  const auto found = Find(*labels, name);
  if (found != labels->end()) labels->erase(found);
}

Labels WithoutName(Labels labels) {
  RemoveLabel(kMetricLabel, &labels);
  return labels;
}

Labels KeepLabels(const Labels& labels, const std::vector<std::string>& names) {
  return Select(labels, names, true);
}

Labels DropLabels(const Labels& labels, const std::vector<std::string>& names) {
  return Select(labels, names, false);
}

std::string LabelsText(const Labels& labels) {
  std::string result = "{";
  for (const auto& [name, value] : labels) {
    if (result.size() > 1) result += ", ";
    result += IsPlainLabelName(name) ? name : Quoted(name);
    result += "=" + Quoted(value);
  }
  return result + "}";
}

}  // namespace sonde::promql
