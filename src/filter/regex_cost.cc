#include "filter/regex_cost.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr int64_t kRepeatMax = 1000;  // RE2 refuses more, nested repetitions multiplied
constexpr int64_t kWayMax = 1 << 20;  // a way as long costs more than any pattern may

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
// More, of each two things that may be left out with nothing between them that may not: RE2 follows every way
// past them, which takes it some 6 ns.
constexpr int64_t kPassedPair = 1;
// The same of a copy that may be left out, one of a thousand.
constexpr int64_t kNestedCopy = 500;

// Walks over the pattern once.  A way past things that may be left out is as long as their number, and is
// told rather too long: RE2 starts one at each of them.
class CostScanner {
 public:
  explicit CostScanner(std::string_view pattern) : rest_(pattern) {}

  int64_t Scan() {
    while (!rest_.empty()) Next();
    while (groups_.size() > 1) CloseGroup();
    return groups_.back().cost.once;
  }

 private:
  // The part between parentheses that are still open.
  struct Group {
    Cost cost = kGroup;
    int64_t way_before = 0;       // of things that end where it begins
    int64_t optional_before = 0;  // of the pattern
    int64_t way_of_branches = 0;  // the longest one that ends where a branch ended
  };

  // The part that a quantifier would stand behind.
  struct Last {
    Cost cost;
    int64_t way_before = 0;
    int64_t way_in_it = 0;  // at most; 0: nothing in it may be left out
  };

  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void Next() {
    switch (const char c = Take()) {
      case '(':
        return OpenGroup();
      case ')':
        if (groups_.size() > 1) CloseGroup();
        return;
      case '|': {
        Group& group = groups_.back();
        group.way_of_branches = std::max(group.way_of_branches, way_);
        way_ = group.way_before;
        Charge(kBranch);
        ChargeWay(way_);
        last_ = {.way_before = way_};
        return;
      }
      case '[':
        return Class();
      case '\\':
        return Escape();
      case '{':
        return Repeat();
      case '*':
      case '?':
        Quantify(kQuantifier);
        return LeaveOut();
      case '+':
        return Quantify(kQuantifier);
      case '.':
        return Add(kDot);
      case '^':
      case '$':
        return AddAssertion();
      default:
        (void)c;
        Add(kLiteral);
    }
  }

  void Charge(const Cost& cost) { groups_.back().cost.Add(cost); }

  void ChargeWay(int64_t length) {
    const int64_t bytes = length * kPassedPair;
    Quantify({bytes, bytes});
  }

  // A thing that takes a character.
  void Add(const Cost& cost) {
    last_ = {.cost = cost, .way_before = way_};
    way_ = 0;
    Charge(cost);
  }

  void AddAssertion() {
    Add(kDot);
    LeaveOut();
  }

  // The part before the quantifier remains the last one.
  void Quantify(const Cost& cost) {
    Charge(cost);
    last_.cost.Add(cost);
  }

  // The last thing may be left out.
  void LeaveOut() {
    ++optional_count_;
    way_ = last_.way_before + ++last_.way_in_it;
    ChargeWay(way_);
  }

  void OpenGroup() {
    last_ = {.way_before = way_};
    if (rest_.starts_with("?")) {  // "(?i:", "(?P<name>", and "(?i)", which opens none
      const size_t end = std::min(rest_.find_first_of(":>)"), rest_.size() - 1);
      const bool opens = rest_[end] != ')';
      rest_.remove_prefix(end + 1);
      if (!opens) return Charge(kGroup);
    }
    groups_.push_back({.way_before = way_, .optional_before = optional_count_});
  }

  void CloseGroup() {
    const Group group = groups_.back();
    groups_.pop_back();
    last_ = {.cost = group.cost,
             .way_before = group.way_before,
             .way_in_it = optional_count_ - group.optional_before};
    way_ = std::max(group.way_of_branches, way_);
    Charge(group.cost);
  }

  void Escape() {
    if (rest_.empty()) return;
    switch (Take()) {
      case 'b':
      case 'B':
      case 'A':
      case 'z':
        return AddAssertion();
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

  // Skips the name behind "\\p": "L", "{Greek}".
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
    const int64_t bytes = copies * last_.cost.copy + nested * kNestedCopy;
    Quantify({bytes, bytes});
    // One way past those in all copies.
    const int64_t in_copies = std::min(last_.way_in_it * copies, kWayMax);
    ChargeWay(in_copies * in_copies / 2);
    const int64_t more = in_copies - last_.way_in_it;
    last_.way_in_it = in_copies;
    optional_count_ = std::min(optional_count_ + more, kWayMax);
    if (way_ > 0) way_ = std::min(way_ + more, kWayMax);
    if (least.value_or(number) == 0) LeaveOut();
  }

  std::string_view rest_;
  std::vector<Group> groups_ = {Group()};
  Last last_;
  int64_t way_ = 0;             // that ends here
  int64_t optional_count_ = 0;  // things that may be left out, up to here
};

}  // namespace

int64_t RegexCost(std::string_view pattern) { return CostScanner(pattern).Scan(); }

}  // namespace sonde
