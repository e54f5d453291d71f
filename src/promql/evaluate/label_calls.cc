// Calls that change or sort by labels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "promql/evaluate/evaluator.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

bool IsLabelName(const std::string& name) { return !name.empty() && IsUtf8(name); }

bool IsNameSign(char sign) { return absl::ascii_isalnum(sign) || sign == '_'; }

// `$1`, `${name}` and `$$` of a template, as Go expands them.
class Template {
 public:
  Template(std::string_view text, const re2::RE2& pattern)
      : text_(text), names_(pattern.NamedCapturingGroups()) {}

  std::string Expand(const std::vector<re2::StringPiece>& groups) const {
    std::string result;
    for (size_t i = 0; i < text_.size();) {
      if (text_[i] != '$') {
        result.push_back(text_[i++]);
      } else if (i + 1 < text_.size() && text_[i + 1] == '$') {
        result.push_back('$');
        i += 2;
      } else {
        i = ExpandGroup(i, groups, &result);
      }
    }
    return result;
  }

 private:
  // The position behind the group whose `$` is at `dollar`; what is no group stays a `$`.
  size_t ExpandGroup(size_t dollar, const std::vector<re2::StringPiece>& groups, std::string* out) const {
    const bool has_brace = dollar + 1 < text_.size() && text_[dollar + 1] == '{';
    const size_t begin = dollar + (has_brace ? 2 : 1);
    size_t end = begin;
    while (end < text_.size() && IsNameSign(text_[end])) ++end;
    const bool is_closed = !has_brace || (end < text_.size() && text_[end] == '}');
    if (end == begin || !is_closed) {
      out->push_back('$');
      return dollar + 1;
    }
    const std::string name(text_.substr(begin, end - begin));
    size_t group = groups.size();
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isdigit(c); });
    if (is_number && name.size() < 9) {
      group = static_cast<size_t>(std::stoi(name));
    } else if (const auto found = names_.find(name); found != names_.end()) {
      group = static_cast<size_t>(found->second);
    }
    if (group < groups.size()) out->append(groups[group].data(), groups[group].size());
    return end + (has_brace ? 1 : 0);
  }

  const std::string_view text_;
  const std::map<std::string, int>& names_;
};

// "10" behind "9": runs of digits are numbers.
bool ComesNaturallyBefore(std::string_view a, std::string_view b) {
  size_t i = 0;
  size_t j = 0;
  const auto run = [](std::string_view text, size_t at) {
    const bool is_digits = absl::ascii_isdigit(text[at]);
    size_t end = at;
    while (end < text.size() && absl::ascii_isdigit(text[end]) == is_digits) ++end;
    return text.substr(at, end - at);
  };
  while (i < a.size() && j < b.size()) {
    const std::string_view left = run(a, i);
    const std::string_view right = run(b, j);
    i += left.size();
    j += right.size();
    const bool are_numbers = absl::ascii_isdigit(left[0]) && absl::ascii_isdigit(right[0]);
    if (!are_numbers) {
      if (left != right) return left < right;
      continue;
    }
    const auto digits = [](std::string_view text) {
      return text.substr(std::min(text.find_first_not_of('0'), text.size()));
    };
    const std::string_view x = digits(left);
    const std::string_view y = digits(right);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    if (left.size() != right.size()) return left.size() < right.size();
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

absl::StatusOr<Matrix> Evaluator::ReplaceLabel(const Expression& node) {
  const std::string& target = node.operands[1]->text;
  const std::string& source = node.operands[3]->text;
  const std::string& pattern = node.operands[4]->text;
  const auto compiled = CompilePattern(pattern);
  if (!compiled.ok()) {
    return ExecutionError(fmt::format("invalid regular expression in label_replace(): {}", pattern));
  }
  if (!IsLabelName(target)) {
    return ExecutionError(fmt::format("invalid destination label name in label_replace(): {}", target));
  }
  absl::StatusOr<Matrix> rows = Evaluate(*node.operands[0]);
  if (!rows.ok()) return rows;
  const Template replacement(node.operands[2]->text, **compiled);
  std::vector<re2::StringPiece> groups(static_cast<size_t>((*compiled)->NumberOfCapturingGroups()) + 1);
  for (Row& row : *rows) {
    const std::string value(LabelOf(row.labels, source));
    const bool matches = (*compiled)->Match(value, 0, value.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                                            static_cast<int>(groups.size()));
    if (matches) SetLabel(target, replacement.Expand(groups), &row.labels);
  }
  return JoinSameLabels(*std::move(rows));
}

absl::StatusOr<Matrix> Evaluator::JoinLabels(const Expression& node) {
  const std::string& target = node.operands[1]->text;
  const std::string& separator = node.operands[2]->text;
  for (size_t i = 3; i < node.operands.size(); ++i) {
    if (IsLabelName(node.operands[i]->text)) continue;
    return ExecutionError(
        fmt::format("invalid source label name in label_join(): {}", node.operands[i]->text));
  }
  if (!IsLabelName(target)) {
    return ExecutionError(fmt::format("invalid destination label name in label_join(): {}", target));
  }
  absl::StatusOr<Matrix> rows = Evaluate(*node.operands[0]);
  if (!rows.ok()) return rows;
  for (Row& row : *rows) {
    std::string joined;
    for (size_t i = 3; i < node.operands.size(); ++i) {
      if (i > 3) joined += separator;
      joined += LabelOf(row.labels, node.operands[i]->text);
    }
    SetLabel(target, joined, &row.labels);
  }
  return JoinSameLabels(*std::move(rows));
}

absl::StatusOr<Matrix> Evaluator::SortRows(const Expression& node, Matrix rows) {
  if (start_ != end_) {
    context_->annotations().Warn(
        "sort is ineffective for range queries since results are always ordered by labels", node.place);
    return rows;
  }
  const std::string_view name = node.function->name;
  const bool is_falling = name.ends_with("_desc");
  if (!name.starts_with("sort_by_label")) {
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      const double left = a.values[0];
      const double right = b.values[0];
      if (std::isnan(left) || std::isnan(right)) return !std::isnan(left);
      return is_falling ? left > right : left < right;
    });
    return rows;
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& first, const Row& second) {
    const Row& a = is_falling ? second : first;
    const Row& b = is_falling ? first : second;
    for (size_t i = 1; i < node.operands.size(); ++i) {
      const std::string_view left = LabelOf(a.labels, node.operands[i]->text);
      const std::string_view right = LabelOf(b.labels, node.operands[i]->text);
      if (left != right) return ComesNaturallyBefore(left, right);
    }
    return a.labels < b.labels;
  });
  return rows;
}

}  // namespace sonde::promql
