#include "series/index/block_match.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

constexpr size_t kEntitiesAtOnce = 64;

bool IsLiteral(std::string_view pattern) {
  return pattern.find_first_of("\\.+*?()[]{}^$|") == std::string_view::npos;
}

// `a|b|c` without anything else that means something.
bool IsSet(std::string_view pattern) {
  return pattern.find_first_of("\\.+*?()[]{}^$") == std::string_view::npos;
}

// What all values begin with that the pattern matches.  Signs behind it may make the last sign of this optional, or one
// of several beginnings.
std::string_view PrefixOf(std::string_view pattern) {
  if (pattern.find('|') != std::string_view::npos || pattern.starts_with("(?")) return {};
  const size_t end = std::min(pattern.find_first_of("\\.+*?()[]{}^$"), pattern.size());
  if (end == pattern.size()) return pattern;
  const bool is_optional = pattern[end] == '*' || pattern[end] == '?' || pattern[end] == '{';
  if (!is_optional) return pattern.substr(0, end);
  // The sign before, of which these may be the last bytes.
  size_t shorter = end;
  while (shorter > 0 && (static_cast<unsigned char>(pattern[shorter - 1]) & 0xC0) == 0x80) --shorter;
  return pattern.substr(0, shorter == 0 ? 0 : shorter - 1);
}

// The codes of a column that a condition lets through; [0] is of entities without the label.
class CodeSet {
 public:
  CodeSet(const LabelColumn& column, const Matcher& matcher)
      : is_in_(column.values_count() + 1), is_negated_(IsNegated(matcher)) {
    is_in_[0] = matcher.Matches("") ? 1 : 0;
    // All values but those that the condition names, where it is a negative one.
    if (is_negated_) std::fill(is_in_.begin() + 1, is_in_.end(), uint8_t{1});
    Find(column, matcher);
  }
  bool Has(uint16_t code) const { return is_in_[code] != 0; }

 private:
  static bool IsNegated(const Matcher& matcher) {
    return matcher.kind() == MatchKind::kNotEqual || matcher.kind() == MatchKind::kMatchesNot;
  }
  void Note(size_t place) { is_in_[place + 1] = is_negated_ ? 0 : 1; }
  void NoteValue(const LabelColumn& column, std::string_view value) {
    if (const std::optional<size_t> place = column.Find(value)) Note(*place);
  }

  void Find(const LabelColumn& column, const Matcher& matcher) {
    const std::string_view pattern = matcher.value();
    const bool is_pattern = matcher.kind() == MatchKind::kMatches || matcher.kind() == MatchKind::kMatchesNot;
    if (!is_pattern || IsLiteral(pattern)) return NoteValue(column, pattern);
    if (IsSet(pattern)) {
      for (std::string_view rest = pattern;;) {
        const size_t bar = rest.find('|');
        NoteValue(column, rest.substr(0, bar));
        if (bar == std::string_view::npos) return;
        rest.remove_prefix(bar + 1);
      }
    }
    const std::string_view prefix = PrefixOf(pattern);
    const size_t begin = column.LowerBound(prefix);
    for (size_t place = begin; place < column.values_count(); ++place) {
      const std::string_view value = column.value(place);
      if (!value.starts_with(prefix)) return;
      if (matcher.Matches(value) != is_negated_) Note(place);
    }
  }

  std::vector<uint8_t> is_in_;
  const bool is_negated_;
};

PositionSet MatchOne(const EntityBlock& block, const Matcher& matcher) {
  const LabelColumn* const column = block.Find(matcher.name());
  if (column == nullptr) {
    return matcher.Matches("") ? PositionSet::Between(block.base(), block.end()) : PositionSet();
  }
  const CodeSet codes(*column, matcher);
  const std::vector<uint16_t>& of_entities = column->codes();
  PositionSet positions;
  for (size_t begin = 0; begin < block.count(); begin += kEntitiesAtOnce) {
    const size_t count = std::min(kEntitiesAtOnce, block.count() - begin);
    uint64_t bits = 0;
    for (size_t i = 0; i < count; ++i) bits |= uint64_t{codes.Has(of_entities[begin + i])} << i;
    positions.AddBits(block.base() + begin, bits);
  }
  return positions;
}

bool IsSame(const Matcher& a, const Matcher& b) {
  return a.kind() == b.kind() && a.name() == b.name() && a.value() == b.value();
}

// The cheapest first.
int CostOf(const Matcher& matcher) {
  switch (matcher.kind()) {
    case MatchKind::kEqual:
      return 0;
    case MatchKind::kNotEqual:
      return 1;
    case MatchKind::kMatches:
    case MatchKind::kMatchesNot:
      return IsSet(matcher.value()) ? 2 : 3;
  }
  return 3;
}

}  // namespace

PositionSet MatchBlock(const EntityBlock& block, const std::vector<Matcher>& matchers) {
  std::vector<const Matcher*> order;
  for (const Matcher& matcher : matchers) {
    const bool is_there = std::any_of(order.begin(), order.end(),
                                      [&](const Matcher* other) { return IsSame(*other, matcher); });
    if (!is_there) order.push_back(&matcher);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Matcher* a, const Matcher* b) { return CostOf(*a) < CostOf(*b); });
  PositionSet positions = PositionSet::Between(block.base(), block.end());
  for (const Matcher* matcher : order) {
    if (positions.IsEmpty()) break;
    positions.And(MatchOne(block, *matcher));
  }
  return positions;
}

}  // namespace sonde::series
