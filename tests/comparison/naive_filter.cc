#include "naive_filter.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace sonde {
namespace {

using google::bigtable::v2::ColumnRange;
using google::bigtable::v2::RowFilter;
using google::bigtable::v2::ValueRange;

constexpr int kDepthMax = 20;
constexpr size_t kBytesMax = 20'480;
// A row sample lets through everything or nothing here; see RandomFilter.
constexpr double kAlways = 0.5;

const RE2& Regex(const std::string& pattern) {
  static std::map<std::string, std::unique_ptr<RE2>> compiled;
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  std::unique_ptr<RE2>& regex = compiled[pattern];
  if (regex == nullptr) regex = std::make_unique<RE2>(pattern, options);
  return *regex;
}

// The smallest string that is in the range, and the smallest that is not any more; none: infinity.
struct Bounds {
  std::string start;
  std::string end;
  bool has_end = false;

  void Start(const std::string& bytes, bool is_open) { start = is_open ? bytes + '\0' : bytes; }
  void End(const std::string& bytes, bool is_open) {
    end = is_open ? bytes : bytes + '\0';
    has_end = true;
  }
  bool Contains(const std::string& bytes) const { return bytes >= start && (!has_end || bytes < end); }
};

// Not one that says of itself that it is empty: [b, a), [a, a), (a, a], (a, a).  Without a start it starts
// with
// "", without an end it is one.
bool IsRange(const std::string& start, bool is_start_open, const std::string& end, bool is_end_open) {
  return start < end || (start == end && !is_start_open && !is_end_open);
}

bool IsRange(const ColumnRange& range) {
  if (range.end_qualifier_case() == ColumnRange::END_QUALIFIER_NOT_SET) return true;
  return IsRange(range.start_qualifier_closed() + range.start_qualifier_open(),
                 range.has_start_qualifier_open(), range.end_qualifier_closed() + range.end_qualifier_open(),
                 range.has_end_qualifier_open());
}

bool IsRange(const ValueRange& range) {
  if (range.end_value_case() == ValueRange::END_VALUE_NOT_SET) return true;
  return IsRange(range.start_value_closed() + range.start_value_open(), range.has_start_value_open(),
                 range.end_value_closed() + range.end_value_open(), range.has_end_value_open());
}

bool IsFamilyName(const std::string& name) {
  static const RE2 regex("[-_.a-zA-Z0-9]{1,64}");
  return RE2::FullMatch(name, regex);
}

// What a pattern matches that is a literal: each character by itself, or quoted by a backslash or as \xHH.
std::optional<std::string> Literal(const std::string& pattern) {
  static const RE2 regex("(?:[^\\\\.+*?()|\\[\\]{}^$]|\\\\[!-/:-@\\[-^`{-~]|\\\\x[[:xdigit:]]{2})*",
                         RE2::Latin1);
  if (!RE2::FullMatch(pattern, regex)) return std::nullopt;
  std::string literal;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\') {
      literal += pattern[i];
    } else if (pattern[++i] == 'x') {
      literal += static_cast<char>(std::stoi(pattern.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      literal += pattern[i];
    }
  }
  return literal;
}

Bounds BoundsOf(const ColumnRange& range) {
  Bounds bounds;
  if (range.has_start_qualifier_closed()) bounds.Start(range.start_qualifier_closed(), false);
  if (range.has_start_qualifier_open()) bounds.Start(range.start_qualifier_open(), true);
  if (range.has_end_qualifier_closed()) bounds.End(range.end_qualifier_closed(), false);
  if (range.has_end_qualifier_open()) bounds.End(range.end_qualifier_open(), true);
  return bounds;
}

Bounds BoundsOf(const ValueRange& range) {
  Bounds bounds;
  if (range.has_start_value_closed()) bounds.Start(range.start_value_closed(), false);
  if (range.has_start_value_open()) bounds.Start(range.start_value_open(), true);
  if (range.has_end_value_closed()) bounds.End(range.end_value_closed(), false);
  if (range.has_end_value_open()) bounds.End(range.end_value_open(), true);
  return bounds;
}

// --- The check.

bool HasLabel(const RowFilter& filter) {
  const auto any = [](const auto& filters) { return std::any_of(filters.begin(), filters.end(), HasLabel); };
  switch (filter.filter_case()) {
    case RowFilter::kApplyLabelTransformer:
      return true;
    case RowFilter::kChain:
      return any(filter.chain().filters());
    case RowFilter::kInterleave:
      return any(filter.interleave().filters());
    case RowFilter::kCondition:
      return HasLabel(filter.condition().predicate_filter()) || HasLabel(filter.condition().true_filter()) ||
             HasLabel(filter.condition().false_filter());
    default:
      return false;
  }
}

bool IsWellFormed(const RowFilter& filter, int depth, bool in_condition);

template <typename List>
bool AreWellFormed(const List& list, int depth, bool in_condition) {
  return list.filters_size() >= 2 &&
         std::all_of(list.filters().begin(), list.filters().end(),
                     [&](const RowFilter& each) { return IsWellFormed(each, depth + 1, in_condition); });
}

bool IsWellFormed(const RowFilter& filter, int depth, bool in_condition) {
  if (depth > kDepthMax) return false;
  switch (filter.filter_case()) {
    case RowFilter::kChain:
      return AreWellFormed(filter.chain(), depth, in_condition) &&
             std::count_if(filter.chain().filters().begin(), filter.chain().filters().end(), HasLabel) <= 1;
    case RowFilter::kInterleave:
      return AreWellFormed(filter.interleave(), depth, in_condition);
    case RowFilter::kCondition:
      return filter.condition().has_predicate_filter() &&
             IsWellFormed(filter.condition().predicate_filter(), depth + 1, true) &&
             IsWellFormed(filter.condition().true_filter(), depth + 1, true) &&
             IsWellFormed(filter.condition().false_filter(), depth + 1, true);
    case RowFilter::kSink:
      return filter.sink() && !in_condition;
    case RowFilter::kPassAllFilter:
      return filter.pass_all_filter();
    case RowFilter::kBlockAllFilter:
      return filter.block_all_filter();
    case RowFilter::kStripValueTransformer:
      return filter.strip_value_transformer();
    case RowFilter::kRowKeyRegexFilter:
      return !filter.row_key_regex_filter().empty() && Regex(filter.row_key_regex_filter()).ok();
    case RowFilter::kRowSampleFilter:
      return filter.row_sample_filter() > 0 && filter.row_sample_filter() < 1;
    case RowFilter::kFamilyNameRegexFilter:
      return !filter.family_name_regex_filter().empty() && Regex(filter.family_name_regex_filter()).ok() &&
             filter.family_name_regex_filter().find(':') == std::string::npos;
    case RowFilter::kColumnQualifierRegexFilter:
      return Regex(filter.column_qualifier_regex_filter()).ok();
    case RowFilter::kColumnRangeFilter:
      return IsFamilyName(filter.column_range_filter().family_name()) &&
             IsRange(filter.column_range_filter());
    case RowFilter::kTimestampRangeFilter: {
      const int64_t start = filter.timestamp_range_filter().start_timestamp_micros();
      const int64_t end = filter.timestamp_range_filter().end_timestamp_micros();
      return start >= 0 && end >= 0 && (end == 0 || start <= end);
    }
    case RowFilter::kValueRegexFilter:
      return Regex(filter.value_regex_filter()).ok();
    case RowFilter::kValueRangeFilter:
      return IsRange(filter.value_range_filter());
    case RowFilter::kCellsPerRowOffsetFilter:
      return filter.cells_per_row_offset_filter() > 0;
    case RowFilter::kCellsPerRowLimitFilter:
      return filter.cells_per_row_limit_filter() > 0;
    case RowFilter::kCellsPerColumnLimitFilter:
      return filter.cells_per_column_limit_filter() > 0;
    case RowFilter::kApplyLabelTransformer: {
      static const RE2 label("[a-z0-9\\-]+");
      return filter.apply_label_transformer().size() <= 15 &&
             RE2::FullMatch(filter.apply_label_transformer(), label);
    }
    case RowFilter::kValueBitmaskFilter:
      return !filter.value_bitmask_filter().mask().empty();
    case RowFilter::FILTER_NOT_SET:
      return true;
  }
  return true;
}

bool NamesOnly(const std::set<std::string>& families, const RowFilter& filter) {
  const auto all = [&](const auto& filters) {
    return std::all_of(filters.begin(), filters.end(),
                       [&](const RowFilter& each) { return NamesOnly(families, each); });
  };
  switch (filter.filter_case()) {
    case RowFilter::kChain:
      return all(filter.chain().filters());
    case RowFilter::kInterleave:
      return all(filter.interleave().filters());
    case RowFilter::kCondition:
      return NamesOnly(families, filter.condition().predicate_filter()) &&
             NamesOnly(families, filter.condition().true_filter()) &&
             NamesOnly(families, filter.condition().false_filter());
    case RowFilter::kColumnRangeFilter:
      return families.contains(filter.column_range_filter().family_name());
    case RowFilter::kFamilyNameRegexFilter: {
      const std::optional<std::string> name = Literal(filter.family_name_regex_filter());
      return !name.has_value() || families.contains(*name);
    }
    default:
      return true;
  }
}

// --- The output.

class Filterer {
 public:
  explicit Filterer(const std::string& row_key) : row_key_(row_key) {}

  NaiveRow Output(const RowFilter& filter, const NaiveRow& row) {
    NaiveRow output = Apply(filter, row);
    output.insert(output.begin(), sunk_.begin(), sunk_.end());
    return Sorted(output);
  }

 private:
  static NaiveRow Sorted(NaiveRow row) {
    std::stable_sort(row.begin(), row.end(), [](const NaiveCell& a, const NaiveCell& b) {
      return std::tie(a.family, a.qualifier, b.timestamp_micros) <
             std::tie(b.family, b.qualifier, a.timestamp_micros);
    });
    return row;
  }
  static NaiveRow Where(const NaiveRow& row, const std::function<bool(const NaiveCell&)>& passes) {
    NaiveRow output;
    std::copy_if(row.begin(), row.end(), std::back_inserter(output), passes);
    return output;
  }

  NaiveRow Interleave(const RowFilter::Interleave& interleave, const NaiveRow& row) {
    NaiveRow output;
    for (const RowFilter& filter : interleave.filters()) {
      const NaiveRow part = Apply(filter, row);
      output.insert(output.end(), part.begin(), part.end());
    }
    return Sorted(output);
  }

  NaiveRow Condition(const RowFilter::Condition& condition, const NaiveRow& row) {
    if (!Apply(condition.predicate_filter(), row).empty()) {
      return condition.has_true_filter() ? Apply(condition.true_filter(), row) : NaiveRow();
    }
    return condition.has_false_filter() ? Apply(condition.false_filter(), row) : NaiveRow();
  }

  NaiveRow Apply(const RowFilter& filter, NaiveRow row) {
    switch (filter.filter_case()) {
      case RowFilter::kChain:
        for (const RowFilter& each : filter.chain().filters()) row = Apply(each, row);
        return row;
      case RowFilter::kInterleave:
        return Interleave(filter.interleave(), row);
      case RowFilter::kCondition:
        return Condition(filter.condition(), row);
      case RowFilter::kSink:
        sunk_.insert(sunk_.end(), row.begin(), row.end());
        return {};
      case RowFilter::kPassAllFilter:
      case RowFilter::FILTER_NOT_SET:
        return row;
      case RowFilter::kBlockAllFilter:
        return {};
      case RowFilter::kStripValueTransformer:
        for (NaiveCell& cell : row) cell.value.clear();
        return row;
      case RowFilter::kApplyLabelTransformer:
        for (NaiveCell& cell : row) cell.label = filter.apply_label_transformer();
        return row;
      case RowFilter::kRowKeyRegexFilter:
        return RE2::FullMatch(row_key_, Regex(filter.row_key_regex_filter())) ? row : NaiveRow();
      case RowFilter::kRowSampleFilter:
        return filter.row_sample_filter() > kAlways ? row : NaiveRow();
      default:
        return Cells(filter, row);
    }
  }

  // Filters that choose among the cells of a row.
  static NaiveRow Cells(const RowFilter& filter, const NaiveRow& row) {
    int64_t count = 0;
    std::map<std::pair<std::string, std::string>, int64_t> counts;
    return Where(row, [&](const NaiveCell& cell) {
      switch (filter.filter_case()) {
        case RowFilter::kFamilyNameRegexFilter:
          return RE2::FullMatch(cell.family, Regex(filter.family_name_regex_filter()));
        case RowFilter::kColumnQualifierRegexFilter:
          return RE2::FullMatch(cell.qualifier, Regex(filter.column_qualifier_regex_filter()));
        case RowFilter::kColumnRangeFilter:
          return cell.family == filter.column_range_filter().family_name() &&
                 BoundsOf(filter.column_range_filter()).Contains(cell.qualifier);
        case RowFilter::kTimestampRangeFilter: {
          const auto& range = filter.timestamp_range_filter();
          return cell.timestamp_micros >= range.start_timestamp_micros() &&
                 (range.end_timestamp_micros() == 0 || cell.timestamp_micros < range.end_timestamp_micros());
        }
        case RowFilter::kValueRegexFilter:
          return RE2::FullMatch(cell.value, Regex(filter.value_regex_filter()));
        case RowFilter::kValueRangeFilter:
          return BoundsOf(filter.value_range_filter()).Contains(cell.value);
        case RowFilter::kValueBitmaskFilter: {
          const std::string& mask = filter.value_bitmask_filter().mask();
          bool passes = mask.size() == cell.value.size();
          for (size_t i = 0; passes && i < mask.size(); ++i) passes = (cell.value[i] & mask[i]) == mask[i];
          return passes;
        }
        case RowFilter::kCellsPerRowOffsetFilter:
          return ++count > filter.cells_per_row_offset_filter();
        case RowFilter::kCellsPerRowLimitFilter:
          return ++count <= filter.cells_per_row_limit_filter();
        case RowFilter::kCellsPerColumnLimitFilter:
          return ++counts[{cell.family, cell.qualifier}] <= filter.cells_per_column_limit_filter();
        default:
          return false;
      }
    });
  }

  const std::string& row_key_;
  NaiveRow sunk_;
};

}  // namespace

absl::StatusCode CheckNaively(const RowFilter& filter, const std::set<std::string>& families) {
  if (filter.ByteSizeLong() > kBytesMax || !IsWellFormed(filter, 0, false)) {
    return absl::StatusCode::kInvalidArgument;
  }
  return NamesOnly(families, filter) ? absl::StatusCode::kOk : absl::StatusCode::kNotFound;
}

NaiveRow FilterNaively(const RowFilter& filter, const std::string& row_key, const NaiveRow& row) {
  return Filterer(row_key).Output(filter, row);
}

}  // namespace sonde
