#include "filter/regex_cost.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr int64_t kRepeatMax = 1000;  // RE2 refuses more, nested repetitions multiplied

// Bytes at RE2's most: of a thing where it is written, measured on patterns of 20 kB that are made of it, and
// of each copy that a repetition makes of it, measured on repetitions of 1,000.
struct Cost {
  int64_t once = 0;
  int64_t copy = 0;

  void Add(const Cost& other) {
    once = std::min(once + other.once, kRegexCostMax);
    copy = std::min(copy + other.copy, kRegexCostMax / kRepeatMax);
  }
};

constexpr Cost kLiteral{48, 80};
constexpr Cost kDot{290, 240};         // and assertions
constexpr Cost kClass{530, 80 - 260};  // with the first in it
constexpr Cost kNegatedClass{1370, 500};
constexpr Cost kNamedClass{980, 530};
constexpr Cost kUnicodeClass{16384, 8192};  // the time that it takes, more than its memory
constexpr Cost kInClass{48, 260};
constexpr Cost kQuantifier{340, 160};
constexpr Cost kBranch{640, 190};
constexpr Cost kGroup{100, 0};
// More, of a copy that may be left out: those that lead to one place take time by their number's square.
constexpr int64_t kNestedCopy = 500;

class CostScanner {
 public:
  explicit CostScanner(std::string_view pattern) : rest_(pattern) {}

  int64_t Scan() {
    while (!rest_.empty()) Next();
    while (groups_.size() > 1) CloseGroup();
    return groups_.back().once;
  }

 private:
  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void Next() {
    switch (const char c = Take()) {
      case '(':
        groups_.push_back(kGroup);
        last_ = {};
        return;
      case ')':
        if (groups_.size() > 1) CloseGroup();
        return;
      case '|':
        Add(kBranch);
        return;
      case '[':
        return Class();
      case '\\':
        return Escape();
      case '{':
        return Repeat();
      case '*':
      case '+':
      case '?':
        // What it stands behind remains the last.
        groups_.back().Add(kQuantifier);
        last_.Add(kQuantifier);
        return;
      case '.':
      case '^':
      case '$':
        return Add(kDot);
      default:
        (void)c;
        Add(kLiteral);
    }
  }

  void Add(const Cost& cost) {
    last_ = cost;
    groups_.back().Add(cost);
  }

  void CloseGroup() {
    const Cost cost = groups_.back();
    groups_.pop_back();
    Add(cost);
  }

  void Escape() {
    if (rest_.empty()) return;
    switch (Take()) {
      case 'p':
      case 'P':
        SkipUnicodeName();
        return Add(kUnicodeClass);
      case 'Q':
        while (!rest_.empty() && !rest_.starts_with("\\E")) {
          Take();
          Add(kLiteral);
        }
        return;
      case 'x':  // its braces are no repetition
        if (rest_.starts_with("{")) SkipBraces();
        return Add(kLiteral);
      case 'w':
      case 'W':
      case 'd':
      case 'D':
      case 's':
      case 'S':
        return Add(kNamedClass);
      default:
        return Add(kDot);
    }
  }

  void SkipBraces() { rest_.remove_prefix(std::min(rest_.find('}'), rest_.size() - 1) + 1); }

  // What follows "\\p": "L", "{Greek}".
  void SkipUnicodeName() {
    if (rest_.starts_with("{")) return SkipBraces();
    if (!rest_.empty()) Take();
  }

  void Class() {
    const bool is_negated = rest_.starts_with("^");
    if (is_negated) Take();
    Cost cost = is_negated ? kNegatedClass : kClass;
    char before = 0;
    for (bool is_first = true; !rest_.empty(); is_first = false) {
      const char c = Take();
      const bool ends_range = std::exchange(before, c) == '-';
      if (c == ']' && !is_first) break;
      if (c == '[' && rest_.starts_with(":")) {  // "[:alpha:]"
        const size_t end = rest_.find(":]");
        if (end != std::string_view::npos) rest_.remove_prefix(end + 2);
        cost.Add(kNamedClass);
      }
      if (c != '\\' || rest_.empty()) {
        if (c != '-' && !ends_range) cost.Add(kInClass);
        continue;
      }
      const char escaped = Take();
      if (escaped == 'p' || escaped == 'P') {
        SkipUnicodeName();
        cost.Add(kUnicodeClass);
      } else {
        cost.Add(kNamedClass);
      }
    }
    Add(cost);
  }

  // "{n}", "{n,}", "{n,m}"; anything else is a literal brace.
  void Repeat() {
    if (rest_.starts_with(",")) return Add(kLiteral);
    std::optional<int64_t> least;
    size_t at = 0;
    int64_t number = 0;
    for (; at < rest_.size() && rest_[at] != '}'; ++at) {
      if (rest_[at] == ',') {
        least = number;
        number = 0;
      } else if (rest_[at] >= '0' && rest_[at] <= '9') {
        number = std::min(number * 10 + (rest_[at] - '0'), kRepeatMax);
      } else {
        return Add(kLiteral);
      }
    }
    if (at == rest_.size() || at == 0) return Add(kLiteral);
    rest_.remove_prefix(at + 1);
    // Those past the least are one in the other: a?, (a(a?)?)?.
    const int64_t copies = std::max<int64_t>({least.value_or(0), number, 1});
    const int64_t nested = least.has_value() ? std::max<int64_t>(number - *least, 0) : 0;
    const int64_t bytes = copies * last_.copy + nested * kNestedCopy;
    const Cost more{bytes, bytes};
    groups_.back().Add(more);
    last_.Add(more);
  }

  std::string_view rest_;
  std::vector<Cost> groups_ = {kGroup};  // what is in each that is open
  Cost last_;                            // what a repetition would repeat
};

}  // namespace

int64_t RegexCost(std::string_view pattern) { return CostScanner(pattern).Scan(); }

}  // namespace sonde
