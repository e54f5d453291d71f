#include "filter/regex_cost.h"

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

// Bytes at RE2's most, measured on patterns of 20 kB that are made of the one thing.
constexpr int64_t kLiteral = 24;
constexpr int64_t kDot = 130;  // and assertions
constexpr int64_t kClass = 480;
constexpr int64_t kNegatedClass = 870;
constexpr int64_t kUnicodeClass = 8192;  // the time that it takes, more than its 2 kB
constexpr int64_t kQuantifier = 320;
constexpr int64_t kBranch = 620;
constexpr int64_t kGroup = 100;
constexpr int64_t kInstruction = 24;
// For each copy that a repetition makes, measured on patterns of repetitions.
constexpr int64_t kDotInstructions = 160;
constexpr int64_t kClassInstructions = 500;
constexpr int64_t kUnicodeClassInstructions = 8192;
constexpr int64_t kCopy = 120;
constexpr int64_t kRepeatMax = 1000;  // RE2 refuses more, nested repetitions multiplied

// The tree of a repetition holds what is repeated once, the program as often as it is repeated.
struct Cost {
  int64_t tree = 0;
  int64_t program = 0;

  void Add(const Cost& other) {
    tree = std::min(tree + other.tree, kRegexCostMax / 2);
    program = std::min(program + other.program, kRegexCostMax / 2);
  }
};

class CostScanner {
 public:
  explicit CostScanner(std::string_view pattern) : rest_(pattern) {}

  int64_t Scan() {
    while (!rest_.empty()) Next();
    while (groups_.size() > 1) CloseGroup();
    return groups_.back().tree + groups_.back().program;
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
        groups_.push_back({kGroup, 0});
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
        groups_.back().Add({kQuantifier, kInstruction});
        last_.Add({kQuantifier, kInstruction});
        return;
      case '.':
      case '^':
      case '$':
        AddPart({kDot, kDotInstructions});
        return;
      default:
        (void)c;
        Add(kLiteral);
    }
  }

  void Add(int64_t tree) { AddPart({tree, kInstruction}); }
  void AddPart(const Cost& cost) {
    last_ = cost;
    groups_.back().Add(cost);
  }

  void CloseGroup() {
    const Cost cost = groups_.back();
    groups_.pop_back();
    AddPart(cost);
  }

  void Escape() {
    if (rest_.empty()) return;
    switch (Take()) {
      case 'p':
      case 'P':
        return AddPart({kUnicodeClass, kUnicodeClassInstructions});
      case 'Q':
        while (!rest_.empty() && !rest_.starts_with("\\E")) {
          Take();
          Add(kLiteral);
        }
        return;
      case 'x':  // its braces are no repetition
        if (rest_.starts_with("{")) rest_.remove_prefix(std::min(rest_.find('}'), rest_.size() - 1) + 1);
        return Add(kLiteral);
      case 'w':
      case 'W':
      case 'd':
      case 'D':
      case 's':
      case 'S':
        return AddPart({kClass, kClassInstructions});
      default:
        return Add(kDot);
    }
  }

  void Class() {
    const bool is_negated = rest_.starts_with("^");
    if (is_negated) Take();
    Cost cost = is_negated ? Cost{kNegatedClass, kClassInstructions} : Cost{kClass, 2 * kInstruction};
    for (bool is_first = true; !rest_.empty(); is_first = false) {
      const char c = Take();
      if (c == ']' && !is_first) break;
      cost.Add({kLiteral, kInstruction});
      if (c == '[' && rest_.starts_with(":")) {  // "[:alpha:]"
        const size_t end = rest_.find(":]");
        if (end != std::string_view::npos) rest_.remove_prefix(end + 2);
        cost.Add({kClass, kClassInstructions});
      }
      if (c != '\\' || rest_.empty()) continue;
      const char escaped = Take();
      cost.Add(escaped == 'p' || escaped == 'P' ? Cost{kUnicodeClass, kUnicodeClassInstructions}
                                                : Cost{kDot, kDotInstructions});
    }
    AddPart(cost);
  }

  // "{n}", "{n,}", "{n,m}"; anything else is a literal brace.
  void Repeat() {
    if (rest_.starts_with(",")) return Add(kLiteral);
    int64_t count = 0;
    size_t at = 0;
    int64_t number = 0;
    for (; at < rest_.size() && rest_[at] != '}'; ++at) {
      if (rest_[at] == ',') {
        number = 0;
      } else if (rest_[at] >= '0' && rest_[at] <= '9') {
        number = std::min(number * 10 + (rest_[at] - '0'), kRepeatMax);
        count = std::max(count, number);
      } else {
        return Add(kLiteral);
      }
    }
    if (at == rest_.size() || at == 0) return Add(kLiteral);
    rest_.remove_prefix(at + 1);
    const int64_t copies = std::max<int64_t>(count, 1);
    const Cost more{copies * kCopy, std::min(last_.program, kRegexCostMax / kRepeatMax) * copies};
    groups_.back().Add(more);
    last_.Add(more);
  }

  std::string_view rest_;
  std::vector<Cost> groups_ = {{kGroup, 0}};  // what is in each that is open
  Cost last_;                                 // what a repetition would repeat
};

}  // namespace

int64_t RegexCost(std::string_view pattern) { return CostScanner(pattern).Scan(); }

}  // namespace sonde
