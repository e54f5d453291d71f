// A filter's need: the part of a row that an engine must give it, so that its output is that of the whole
// row.
//
// The need of a filter f is a set of cells S, described by hints.  For every row R and every R' with
// R ∩ S ⊆ R' ⊆ R, f gives the same output for R' as for R.  (An engine may return any such R'.)
//
// A chain starts with the need of its first filter.  A later filter's restriction (to families, columns,
// times, the newest n cells) moves to the front only if no earlier filter can tell whether the cells outside
// of it are there.  How far the earlier filters reach decides that:
//
//   reach     a cell's fate so far depends on           restrictions that move to the front
//   kCell     the cell alone                            all
//   kColumn   the cell and newer cells of its column    to whole columns; a lower end of the time range, as
//             (cells_per_column_limit)                  older cells bear on nothing
//   kRow      the rest of the row (limits of a row,     none
//             conditions); or cells have left through
//             a sink already
//
// A limit of n cells a column becomes "the newest n cells" only while each column is a run of its newest
// cells: no filter so far may drop a cell and keep an older one of its column.
//
// Hints do not say whether an engine counts the newest cells before or after it applies the time range.  Both
// orders come to the same cells where the range has a lower end only.  So an upper end and a count are never
// given together.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "filter/compiled_filter.h"

namespace sonde {
namespace {

using Kind = FilterNode::Kind;

enum class Reach : uint8_t { kCell, kColumn, kRow };

// Some of a table's families, by their places in the schema: a filter may have thousands of them to join.
class FamilySet {
 public:
  void Add(size_t place) {
    if (place / kBits >= words_.size()) words_.resize(place / kBits + 1);
    words_[place / kBits] |= uint64_t{1} << place % kBits;
  }
  bool Has(size_t place) const {
    return place / kBits < words_.size() && (words_[place / kBits] >> place % kBits & 1) != 0;
  }
  void KeepThoseOf(const FamilySet& other) {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  void AddThoseOf(const FamilySet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  // Ascending.
  std::vector<FamilyId> Ids(const TableSchema& schema) const {
    std::vector<FamilyId> ids;
    for (size_t place = 0; place < schema.families.size(); ++place) {
      if (Has(place)) ids.push_back(schema.families[place].id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

 private:
  static constexpr size_t kBits = 64;
  std::vector<uint64_t> words_;
};

struct Need {
  bool nothing = false;  // no output, whatever the row
  std::optional<FamilySet> families;
  std::optional<ByteRanges> columns;
  TimeRange time_range;
  std::optional<int64_t> newest_per_column;
  bool values_decide = false;  // a filter looks at values
  bool values_leave = true;    // values come out at the end of the filter
  bool values_sink = false;    // or through a sink

  // How far the filter's effect reaches, for the filters after it.
  Reach reach = Reach::kCell;
  bool keeps_newest_runs = true;  // never drops a cell and keeps an older one of its column
  bool has_sink = false;
};

Need NeedOfNothing() {
  Need need;
  need.nothing = true;
  need.families.emplace();
  need.values_leave = false;
  return need;
}

TimeRange Hull(const TimeRange& a, const TimeRange& b) {
  return {std::min(a.start_micros, b.start_micros),
          a.end_micros == 0 || b.end_micros == 0 ? 0 : std::max(a.end_micros, b.end_micros)};
}

// An end of 0 is infinity.
int64_t EarlierEnd(int64_t a, int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

class NeedsOf {
 public:
  NeedsOf(const std::vector<FilterNode>& nodes, const TableSchema& schema, FilterBudget* budget)
      : nodes_(nodes), schema_(schema), budget_(budget) {}

  Need Of(NodeIndex index) {
    if (index == kNoNode) return NeedOfNothing();
    const FilterNode& node = nodes_[index];
    Need need;
    switch (node.kind) {
      case Kind::kPassAll:
      case Kind::kRowKeyRegex:
      case Kind::kRowSample:
      case Kind::kApplyLabel:
        return need;
      case Kind::kBlockAll:
        return NeedOfNothing();
      case Kind::kSink:
        need.values_leave = false;
        need.values_sink = true;
        need.has_sink = true;
        return need;
      case Kind::kStripValue:
        need.values_leave = false;
        return need;
      case Kind::kFamilyRegex:
        need.families = OfFamilyRegex(*node.matcher);
        return need;
      case Kind::kQualifierRegex:
        need.columns = node.matcher->PossibleMatches();
        return need;
      case Kind::kColumnRange:
        if (node.range.IsEmpty()) return NeedOfNothing();
        need.families = OfFamily(node.text);
        need.columns = {node.range};
        return need;
      case Kind::kTimestampRange:
        if (node.time_range.end_micros != 0 && node.time_range.start_micros >= node.time_range.end_micros) {
          return NeedOfNothing();
        }
        need.time_range = node.time_range;
        need.keeps_newest_runs = node.time_range.end_micros == 0;
        return need;
      case Kind::kValueRegex:
      case Kind::kValueRange:
      case Kind::kValueBitmask:
        if (node.kind == Kind::kValueRange && node.range.IsEmpty()) return NeedOfNothing();
        need.values_decide = true;
        need.keeps_newest_runs = false;
        return need;
      case Kind::kCellsPerColumnLimit:
        need.newest_per_column = node.count;
        need.reach = Reach::kColumn;
        return need;
      case Kind::kCellsPerRowLimit:
        need.newest_per_column = node.count;  // of a row's first n cells, no column has more than n
        need.reach = Reach::kRow;
        return need;
      case Kind::kCellsPerRowOffset:
        need.reach = Reach::kRow;
        need.keeps_newest_runs = false;
        return need;
      case Kind::kChain:
        for (const NodeIndex child : node.children) {
          if (!Append(Of(child), &need)) break;
        }
        return need;
      case Kind::kInterleave:
        return OfInterleave(node);
      case Kind::kCondition:
        return OfCondition(node);
    }
    return need;
  }

 private:
  FamilySet OfFamily(std::string_view name) const {
    FamilySet families;
    if (const FamilySchema* family = schema_.FindFamily(name); family != nullptr) {
      families.Add(static_cast<size_t>(family - schema_.families.data()));
    }
    return families;
  }

  const FamilySet& OfFamilyRegex(const RegexMatcher& matcher) {
    const auto [known, is_new] = of_family_regexes_.try_emplace(&matcher);
    if (!is_new) return known->second;
    for (size_t place = 0; place < schema_.families.size(); ++place) {
      // Once the budget refuses, any may match.
      if (matcher.Matches(schema_.families[place].name, budget_) || !budget_->status().ok()) {
        known->second.Add(place);
      }
    }
    return known->second;
  }

  // Adds the needs of a chain's next filter to those of the filters before it.  Returns false if nothing comes
  // out any more.
  static bool Append(Need next, Need* need) {
    if (next.nothing) {
      if (!need->has_sink) {
        *need = NeedOfNothing();
      } else {
        need->values_leave = false;
      }
      return false;
    }
    if (need->reach != Reach::kRow) {
      if (next.families.has_value()) {
        if (need->families.has_value()) {
          need->families->KeepThoseOf(*next.families);
        } else {
          need->families = std::move(next.families);
        }
      }
      if (next.columns.has_value()) {
        need->columns =
            need->columns.has_value() ? IntersectionOf(*need->columns, *next.columns) : *next.columns;
      }
      need->time_range.start_micros = std::max(need->time_range.start_micros, next.time_range.start_micros);
      if (need->reach == Reach::kCell) {
        need->time_range.end_micros = EarlierEnd(need->time_range.end_micros, next.time_range.end_micros);
      }
      if (next.newest_per_column.has_value() && need->keeps_newest_runs && need->time_range.end_micros == 0) {
        const int64_t count = *next.newest_per_column;
        need->newest_per_column = std::min(need->newest_per_column.value_or(count), count);
      }
    }
    if (need->values_leave) {
      need->values_decide |= next.values_decide;
      need->values_sink |= next.values_sink;
      need->values_leave = next.values_leave;
    }
    need->has_sink |= next.has_sink;
    need->reach = next.has_sink ? Reach::kRow : std::max(need->reach, next.reach);
    need->keeps_newest_runs &= next.keeps_newest_runs;
    return true;
  }

  // Two filters of an interleave, each of which gets the row.
  static Need EitherOf(const Need& a, const Need& b) {
    Need need;
    need.nothing = a.nothing && b.nothing;
    need.values_decide = a.values_decide || b.values_decide;
    need.values_leave = a.values_leave || b.values_leave;
    need.values_sink = a.values_sink || b.values_sink;
    need.has_sink = a.has_sink || b.has_sink;
    need.reach = std::max(a.reach, b.reach);
    need.keeps_newest_runs = a.keeps_newest_runs && b.keeps_newest_runs;
    if (a.nothing || b.nothing) {  // then the need of the other one alone
      const Need& other = a.nothing ? b : a;
      need.families = other.families;
      need.columns = other.columns;
      need.time_range = other.time_range;
      need.newest_per_column = other.newest_per_column;
      return need;
    }
    if (a.families.has_value() && b.families.has_value()) {
      need.families = a.families;
      need.families->AddThoseOf(*b.families);
    }
    if (a.columns.has_value() && b.columns.has_value()) need.columns = UnionOf(*a.columns, *b.columns);
    need.time_range = Hull(a.time_range, b.time_range);
    if (a.newest_per_column.has_value() && b.newest_per_column.has_value()) {
      need.newest_per_column = std::max(*a.newest_per_column, *b.newest_per_column);
    }
    return need;
  }

  // As EitherOf one after the other; but of thousands of columns, each would copy those before it.
  Need OfInterleave(const FilterNode& node) {
    Need need = Of(node.children.front());
    ByteRanges columns = need.columns.value_or(ByteRanges());
    bool are_all_limited = need.nothing || need.columns.has_value();
    for (size_t i = 1; i < node.children.size(); ++i) {
      Need next = Of(node.children[i]);
      are_all_limited &= next.nothing || next.columns.has_value();
      if (next.columns.has_value())
        std::move(next.columns->begin(), next.columns->end(), std::back_inserter(columns));
      if (next.columns.has_value()) next.columns.emplace();
      if (need.columns.has_value()) need.columns.emplace();
      need = EitherOf(need, next);
    }
    need.columns.reset();
    if (are_all_limited) {
      need.columns = AtMost(RegexMatcher::kPossibleRangesMax, NormalizeByteRanges(std::move(columns)));
    }
    return need;
  }

  Need OfCondition(const FilterNode& node) {
    const Need branches = EitherOf(Of(node.children[1]), Of(node.children[2]));
    if (branches.nothing) return NeedOfNothing();
    Need predicate = Of(node.children[0]);
    predicate.values_leave = false;
    Need need = EitherOf(predicate, branches);
    need.reach = Reach::kRow;
    need.keeps_newest_runs = false;
    return need;
  }

  const std::vector<FilterNode>& nodes_;
  const TableSchema& schema_;
  FilterBudget* const budget_;
  std::map<const RegexMatcher*, FamilySet> of_family_regexes_;
};

}  // namespace

FilterNeeds CompiledFilter::Needs(const TableSchema& schema, FilterBudget* budget) const {
  FilterBudget planning = budget->StartPlanning();
  Need need = NeedsOf(nodes_, schema, &planning).Of(root_index());
  budget->EndPlanning(std::move(planning));
  FilterNeeds needs;
  if (need.families.has_value()) needs.hints.families = need.families->Ids(schema);
  const bool no_family = needs.hints.families.has_value() && needs.hints.families->empty();
  const bool no_column = need.columns.has_value() && need.columns->empty();
  needs.nothing = need.nothing || no_family || no_column;
  if (need.columns.has_value()) {
    needs.hints.columns.emplace();
    for (ByteRange& range : *need.columns) {
      needs.hints.columns->push_back({std::move(range.start), range.end.value_or("")});
    }
    // [empty, infinity) restricts nothing.
    const auto& columns = *needs.hints.columns;
    if (columns.size() == 1 && columns[0].start.empty() && columns[0].end.empty())
      needs.hints.columns.reset();
  }
  needs.hints.time_range = need.time_range;
  needs.hints.newest_per_column = need.newest_per_column;
  needs.hints.keys_only = !need.values_decide && !need.values_leave && !need.values_sink;
  return needs;
}

absl::Status CompiledFilter::CheckFamilies(const TableSchema& schema) const {
  const auto names_none = [&schema](const FilterNode& node) {
    const std::string* name = nullptr;
    if (node.kind == Kind::kColumnRange) name = &node.text;
    if (node.kind == Kind::kFamilyRegex) name = node.matcher->Literal();
    return name != nullptr && schema.FindFamily(*name) == nullptr;
  };
  if (std::none_of(nodes_.begin(), nodes_.end(), names_none)) return absl::OkStatus();
  return absl::NotFoundError(
      fmt::format("Error while reading table '{}' : Requested column family not found", schema.name));
}

}  // namespace sonde
