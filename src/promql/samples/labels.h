// The labels of a series, sorted by name, without empty values; `__name__` is one of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::promql {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Empty: there is no such label.
std::string_view LabelOf(const Labels& labels, std::string_view name);
// An empty `value` takes the label away.
void SetLabel(std::string_view name, std::string_view value, Labels* labels);
void RemoveLabel(std::string_view name, Labels* labels);
Labels WithoutName(Labels labels);
// Those whose names are in `names`, or those whose are not.
Labels KeepLabels(const Labels& labels, const std::vector<std::string>& names);
Labels DropLabels(const Labels& labels, const std::vector<std::string>& names);

// {a="b", c="d"}
std::string LabelsText(const Labels& labels);

}  // namespace sonde::promql
