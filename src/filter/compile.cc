// From FilterSpec to CompiledFilter.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "filter/compiled_filter.h"
#include "filter/regex_cost.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

using Kind = FilterNode::Kind;

// The memory that RE2 may need while it compiles a filter's regexes, as RegexCost estimates it.
constexpr int64_t kRegexCostOfFilterMax = 5 << 19;
// For the programs and automata of all regexes of a filter.  Each first gets its share of a quarter, then
// twice as much until its program fits.  The largest program is bounded by what an automaton may have: it
// takes tens of milliseconds to fill that.
constexpr int64_t kRegexMemoryBytesMax = 7 << 18;
constexpr int64_t kRegexMemoryBytesEachMin = 4 << 10;
constexpr int64_t kRegexMemoryBytesEachMax = 3 << 18;
constexpr size_t kLabelBytesMax = 15;
// Each takes 200 bytes, and time for every cell.
constexpr size_t kNodesMax = 4'096;

absl::Status Invalid(const std::string& place, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", place, what));
}

std::string PrintableBound(const Bound& bound, bool is_start) {
  if (bound.kind == Bound::Kind::kUnbounded) return is_start ? "(-infinity" : "infinity)";
  const bool closed = bound.kind == Bound::Kind::kClosed;
  return is_start ? fmt::format("{}'{}'", closed ? '[' : '(', Printable(bound.value))
                  : fmt::format("'{}'{}", Printable(bound.value), closed ? ']' : ')');
}

absl::Status CheckRange(const Bound& start, const Bound& end, const std::string& place) {
  if (!IsEmptyByConstruction(start, end)) return absl::OkStatus();
  return Invalid(place, fmt::format("the range {}, {} is empty", PrintableBound(start, true),
                                    PrintableBound(end, false)));
}

// In production's words, which name no place.
absl::Status CheckNotEmpty(std::string_view argument, std::string_view field) {
  if (!argument.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : argument must not be empty", field));
}

absl::Status CheckLabel(std::string_view label, const std::string& place) {
  const bool is_label =
      !label.empty() && label.size() <= kLabelBytesMax && std::all_of(label.begin(), label.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (is_label) return absl::OkStatus();
  return Invalid(place,
                 fmt::format("a label is 1 to {} of [a-z0-9-], is '{}'", kLabelBytesMax, Printable(label)));
}

}  // namespace

// Walks a spec, children first, and appends nodes.
class FilterCompiler {
 public:
  explicit FilterCompiler(CompiledFilter* filter) : filter_(filter) {}

  absl::Status Compile(const FilterSpec& spec) {
    Count(spec, 0);
    if (regex_cost_ > kRegexCostOfFilterMax) {
      return absl::ResourceExhaustedError(fmt::format(
          "filter: its regular expressions are too large: they would take about {} bytes of memory "
          "to compile, {} are allowed",
          regex_cost_, kRegexCostOfFilterMax));
    }
    if (nodes_count_ > kNodesMax) {
      return absl::ResourceExhaustedError(
          fmt::format("filter: has {} filters in it, at most {} are allowed", nodes_count_, kNodesMax));
    }
    filter_->nodes_.reserve(nodes_count_);
    return Add(spec, "filter", 0, false).status();
  }

 private:
  // How deep a spec may go is checked by Add; here, what is too deep is not counted.
  void Count(const FilterSpec& spec, int depth) {
    if (depth > kFilterDepthMax) return;
    ++nodes_count_;
    const auto count_all = [&](const std::vector<FilterSpec>& filters) {
      for (const FilterSpec& filter : filters) Count(filter, depth + 1);
    };
    if (const auto* chain = std::get_if<FilterSpec::Chain>(&spec.filter)) {
      count_all(chain->filters);
    } else if (const auto* interleave = std::get_if<FilterSpec::Interleave>(&spec.filter)) {
      count_all(interleave->filters);
    } else if (const auto* condition = std::get_if<FilterSpec::Condition>(&spec.filter)) {
      for (const auto& filter : {condition->predicate, condition->true_filter, condition->false_filter}) {
        if (filter != nullptr) Count(*filter, depth + 1);
      }
    } else if (const std::string* pattern = PatternOf(spec); pattern != nullptr) {
      if (matchers_.try_emplace(*pattern).second && !RegexMatcher::IsSimplePattern(*pattern)) {
        ++automata_count_;
        regex_cost_ += RegexCost(*pattern);
      }
    }
  }

  // Null: not a regex.
  static const std::string* PatternOf(const FilterSpec& spec) {
    if (const auto* filter = std::get_if<FilterSpec::RowKeyRegex>(&spec.filter)) return &filter->pattern;
    if (const auto* filter = std::get_if<FilterSpec::FamilyRegex>(&spec.filter)) return &filter->pattern;
    if (const auto* filter = std::get_if<FilterSpec::QualifierRegex>(&spec.filter)) return &filter->pattern;
    if (const auto* filter = std::get_if<FilterSpec::ValueRegex>(&spec.filter)) return &filter->pattern;
    return nullptr;
  }

  // The matcher of a pattern, made when it is first asked for.
  absl::StatusOr<std::shared_ptr<const RegexMatcher>> Matcher(const std::string& pattern) {
    std::shared_ptr<const RegexMatcher>& matcher = matchers_[pattern];
    if (matcher != nullptr) return matcher;
    if (RegexMatcher::IsSimplePattern(pattern)) {
      absl::StatusOr<std::unique_ptr<const RegexMatcher>> made = RegexMatcher::Create(pattern, 0);
      if (!made.ok()) return made.status();
      return matcher = *std::move(made);
    }
    int64_t bytes = std::clamp(kRegexMemoryBytesMax / 4 / std::max<int64_t>(automata_count_, 1),
                               kRegexMemoryBytesEachMin, kRegexMemoryBytesEachMax);
    while (true) {
      const int64_t bytes_max = std::min(regex_memory_bytes_, kRegexMemoryBytesEachMax);
      if (bytes_max < kRegexMemoryBytesEachMin) {
        return absl::ResourceExhaustedError(fmt::format(
            "the filter has too many regular expressions ({}), or too large ones: there are {} bytes "
            "of memory for them",
            automata_count_, kRegexMemoryBytesMax));
      }
      bytes = std::min(bytes, bytes_max);
      absl::StatusOr<std::unique_ptr<const RegexMatcher>> made = RegexMatcher::Create(pattern, bytes);
      if (made.ok()) {
        regex_memory_bytes_ -= bytes;
        return matcher = *std::move(made);
      }
      if (!absl::IsResourceExhausted(made.status()) || bytes == bytes_max) return made.status();
      bytes *= 2;
    }
  }

  absl::StatusOr<NodeIndex> Add(const FilterSpec& spec, const std::string& place, int depth,
                                bool in_condition) {
    if (depth > kFilterDepthMax) {
      return Invalid(place, fmt::format("filters nest at most {} deep", kFilterDepthMax));
    }
    place_ = &place;
    depth_ = depth;
    in_condition_ = in_condition;
    FilterNode node;
    absl::Status status = std::visit([&](const auto& filter) { return Fill(filter, &node); }, spec.filter);
    if (!status.ok()) return status;
    for (const NodeIndex child : node.children) {
      if (child == kNoNode) continue;
      const FilterNode& below = filter_->nodes_[child];
      node.has_sink |= below.has_sink;
      node.has_label |= below.has_label;
      node.depends_on_row_key |= below.depends_on_row_key;
    }
    filter_->nodes_.push_back(std::move(node));
    return static_cast<NodeIndex>(filter_->nodes_.size() - 1);
  }

  // Containers: they remember where they are, as place_ and the rest change below them.
  absl::Status AddAll(const std::vector<FilterSpec>& filters, const char* name, FilterNode* node) {
    const std::string place = fmt::format("{}.{}", *place_, name);
    const int depth = depth_;
    const bool in_condition = in_condition_;
    if (filters.size() < 2) {
      return Invalid(place, fmt::format("must have at least 2 filters, has {}", filters.size()));
    }
    for (size_t i = 0; i < filters.size(); ++i) {
      absl::StatusOr<NodeIndex> child =
          Add(filters[i], fmt::format("{}[{}]", place, i), depth + 1, in_condition);
      if (!child.ok()) return child.status();
      node->children.push_back(*child);
    }
    if (node->kind != Kind::kChain) return absl::OkStatus();
    const auto labels = std::count_if(node->children.begin(), node->children.end(),
                                      [&](NodeIndex child) { return filter_->nodes_[child].has_label; });
    if (labels <= 1) return absl::OkStatus();
    return Invalid(place, fmt::format("at most one filter of a chain may apply labels, {} do", labels));
  }
  absl::Status Fill(const FilterSpec::Chain& chain, FilterNode* node) {
    node->kind = Kind::kChain;
    return AddAll(chain.filters, "chain", node);
  }
  absl::Status Fill(const FilterSpec::Interleave& interleave, FilterNode* node) {
    node->kind = Kind::kInterleave;
    return AddAll(interleave.filters, "interleave", node);
  }
  absl::Status Fill(const FilterSpec::Condition& condition, FilterNode* node) {
    node->kind = Kind::kCondition;
    const std::string place = fmt::format("{}.condition", *place_);
    const int depth = depth_;
    if (condition.predicate == nullptr) return Invalid(place, "has no predicate_filter");
    if (condition.true_filter == nullptr && condition.false_filter == nullptr)
      node->depends_on_row_key = true;
    for (const auto& [filter, name] : {std::pair{condition.predicate.get(), "predicate_filter"},
                                       std::pair{condition.true_filter.get(), "true_filter"},
                                       std::pair{condition.false_filter.get(), "false_filter"}}) {
      NodeIndex index = kNoNode;
      if (filter != nullptr) {
        absl::StatusOr<NodeIndex> child = Add(*filter, fmt::format("{}.{}", place, name), depth + 1, true);
        if (!child.ok()) return child.status();
        index = *child;
      }
      node->children.push_back(index);
    }
    return absl::OkStatus();
  }

  absl::Status Fill(const FilterSpec::PassAll&, FilterNode*) { return absl::OkStatus(); }
  absl::Status Fill(const FilterSpec::BlockAll&, FilterNode* node) {
    node->kind = Kind::kBlockAll;
    node->depends_on_row_key = true;
    return absl::OkStatus();
  }
  absl::Status Fill(const FilterSpec::Sink&, FilterNode* node) {
    node->kind = Kind::kSink;
    node->has_sink = true;
    if (!in_condition_) return absl::OkStatus();
    return Invalid(Place("sink"), "a sink may not be used in a condition");
  }
  absl::Status Fill(const FilterSpec::StripValue&, FilterNode* node) {
    node->kind = Kind::kStripValue;
    return absl::OkStatus();
  }

  absl::Status FillRegex(const std::string& pattern, const char* name, Kind kind, FilterNode* node) {
    node->kind = kind;
    absl::StatusOr<std::shared_ptr<const RegexMatcher>> matcher = Matcher(pattern);
    if (!matcher.ok()) {
      return absl::Status(matcher.status().code(),
                          fmt::format("{}: {}", Place(name), std::string(matcher.status().message())));
    }
    node->matcher = std::move(*matcher);
    return absl::OkStatus();
  }
  absl::Status Fill(const FilterSpec::RowKeyRegex& filter, FilterNode* node) {
    if (absl::Status status = CheckNotEmpty(filter.pattern, "row_key_regex_filter"); !status.ok())
      return status;
    node->depends_on_row_key = true;
    return FillRegex(filter.pattern, "row_key_regex", Kind::kRowKeyRegex, node);
  }
  absl::Status Fill(const FilterSpec::FamilyRegex& filter, FilterNode* node) {
    if (absl::Status status = CheckNotEmpty(filter.pattern, "family_name_regex_filter"); !status.ok())
      return status;
    if (filter.pattern.find(':') != std::string::npos) {
      return Invalid(Place("family_name_regex"),
                     fmt::format("must not contain ':', is '{}'", Printable(filter.pattern)));
    }
    return FillRegex(filter.pattern, "family_name_regex", Kind::kFamilyRegex, node);
  }
  absl::Status Fill(const FilterSpec::QualifierRegex& filter, FilterNode* node) {
    return FillRegex(filter.pattern, "column_qualifier_regex", Kind::kQualifierRegex, node);
  }
  absl::Status Fill(const FilterSpec::ValueRegex& filter, FilterNode* node) {
    return FillRegex(filter.pattern, "value_regex", Kind::kValueRegex, node);
  }

  absl::Status Fill(const FilterSpec::RowSample& filter, FilterNode* node) {
    node->kind = Kind::kRowSample;
    node->probability = filter.probability;
    if (filter.probability > 0 && filter.probability < 1) return absl::OkStatus();
    return Invalid(
        Place("row_sample"),
        fmt::format("the probability must be greater than 0 and less than 1, is {}", filter.probability));
  }
  absl::Status Fill(const FilterSpec::ColumnRange& filter, FilterNode* node) {
    node->kind = Kind::kColumnRange;
    node->text = filter.family;
    node->range = MakeByteRange(filter.start, filter.end);
    if (!CheckFamilyName(filter.family).ok()) {
      return absl::InvalidArgumentError(
          "Error in field 'column_range_filter' : Invalid id for collection columnFamilies");
    }
    return CheckRange(filter.start, filter.end, Place("column_range"));
  }
  absl::Status Fill(const FilterSpec::ValueRange& filter, FilterNode* node) {
    node->kind = Kind::kValueRange;
    node->range = MakeByteRange(filter.start, filter.end);
    return CheckRange(filter.start, filter.end, Place("value_range"));
  }
  absl::Status Fill(const FilterSpec::TimestampRange& filter, FilterNode* node) {
    node->kind = Kind::kTimestampRange;
    node->time_range = filter.range;
    const auto [start_micros, end_micros] = filter.range;
    if (start_micros >= 0 && end_micros >= 0 && (end_micros == 0 || start_micros <= end_micros)) {
      return absl::OkStatus();
    }
    return Invalid(Place("timestamp_range"),
                   fmt::format("[{}, {}) is negative or reversed", start_micros, end_micros));
  }
  absl::Status Fill(const FilterSpec::ValueBitmask& filter, FilterNode* node) {
    node->kind = Kind::kValueBitmask;
    node->text = filter.mask;
    return CheckNotEmpty(filter.mask, "value_bitmask_filter");
  }

  absl::Status FillCount(int32_t count, const char* name, Kind kind, FilterNode* node) {
    node->kind = kind;
    node->count = count;
    if (count >= 1) return absl::OkStatus();
    return Invalid(Place(name), fmt::format("must be at least 1, is {}", count));
  }
  absl::Status Fill(const FilterSpec::CellsPerRowOffset& filter, FilterNode* node) {
    return FillCount(filter.count, "cells_per_row_offset", Kind::kCellsPerRowOffset, node);
  }
  absl::Status Fill(const FilterSpec::CellsPerRowLimit& filter, FilterNode* node) {
    return FillCount(filter.count, "cells_per_row_limit", Kind::kCellsPerRowLimit, node);
  }
  absl::Status Fill(const FilterSpec::CellsPerColumnLimit& filter, FilterNode* node) {
    return FillCount(filter.count, "cells_per_column_limit", Kind::kCellsPerColumnLimit, node);
  }
  absl::Status Fill(const FilterSpec::ApplyLabel& filter, FilterNode* node) {
    node->kind = Kind::kApplyLabel;
    node->has_label = true;
    absl::Status status = CheckLabel(filter.label, Place("apply_label"));
    if (!status.ok()) return status;
    std::vector<std::string>& labels = filter_->labels_;
    const auto at = std::find(labels.begin(), labels.end(), filter.label);
    node->label = static_cast<uint32_t>(at - labels.begin());
    if (at == labels.end()) labels.push_back(filter.label);
    return absl::OkStatus();
  }

  std::string Place(const char* name) const { return fmt::format("{}.{}", *place_, name); }

  CompiledFilter* filter_;
  std::map<std::string, std::shared_ptr<const RegexMatcher>> matchers_;  // null until it is needed
  size_t nodes_count_ = 0;
  int64_t automata_count_ = 0;
  int64_t regex_cost_ = 0;
  int64_t regex_memory_bytes_ = kRegexMemoryBytesMax;  // not given out yet
  // The place of the filter that is being filled in.
  const std::string* place_ = nullptr;
  int depth_ = 0;
  bool in_condition_ = false;
};

absl::StatusOr<std::shared_ptr<const CompiledFilter>> CompiledFilter::Create(const FilterSpec& spec) {
  std::shared_ptr<CompiledFilter> filter(new CompiledFilter());
  absl::Status status = FilterCompiler(filter.get()).Compile(spec);
  if (!status.ok()) return status;
  return filter;
}

}  // namespace sonde
