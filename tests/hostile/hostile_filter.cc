#include "hostile_filter.h"

#include <google/protobuf/io/coded_stream.h>

#include <string>
#include <vector>

#include "model/limits.h"

namespace sonde {
namespace {

using google::bigtable::v2::RowFilter;
using std::string_literals::operator""s;

constexpr int kDepthMax = 19;
constexpr uint64_t kRegexKinds = 8;  // row key, family, qualifier, value: some of them more often

class HostileMaker {
 public:
  explicit HostileMaker(RandomSource* random) : random_(random) {}

  RowFilter Make() {
    RowFilter filter;
    switch (Uniform(9)) {
      case 0:
      case 1:
        Regex(1 + Uniform(kFilterBytesMax - 16), &filter);
        break;
      case 2:
        ManyRegexes(&filter);
        break;
      case 3:
        Amplifier(&filter);
        break;
      case 4:
        Thousands(&filter);
        break;
      case 5:
        Nested(static_cast<int>(1 + Uniform(kDepthMax)), &filter);
        break;
      case 6:
        FamilyRegexes(&filter);
        break;
      default:
        Mixed(&filter);
    }
    return filter;
  }

 private:
  uint64_t Uniform(uint64_t bound) { return random_->Uniform(bound); }
  bool OneIn(uint64_t count) { return Uniform(count) == 0; }
  template <typename T>
  const T& Any(const std::vector<T>& values) {
    return values[Uniform(values.size())];
  }

  std::string Count() {
    return std::to_string(Any<int>({0, 1, 2, 3, 10, 20, 30, 100, 500, 999, 1000, 1001}));
  }

  // One thing that patterns are made of, with hostile ones among them.
  std::string Atom() {
    static const std::vector<std::string> kAtoms = {
        "a",       "b",      "ab",    ".",       "\\C",   "[ab]",       "[^a]",
        "[a-z]",   "\\w",    "\\d",   "\\pL",    "\\PN",  "[\\pL\\pN]", "[[:alpha:]]",
        "\\x61",   "\\b",    "^",     "$",       "(?i)a", "(?:)",       "(a|b)",
        "(a|ab|)", "[ab]*a", "(?s).", ".*",      ".*a",   "[^\\x80]",   "[\\x80-\\xff]",
        "a?",      "(a*)*",  "word",  "(?i)[^k]"};
    return Any(kAtoms);
  }

  std::string Quantifier() {
    switch (Uniform(10)) {
      case 0:
        return "*";
      case 1:
        return "+";
      case 2:
        return "?";
      case 3:
        return "{" + Count() + "}";
      case 4:
        return "{" + Count() + ",}";
      case 5:
        return "{" + Count() + "," + Count() + "}";
      case 6:
        return "*?";
      default:
        return "";
    }
  }

  std::string Piece(int depth) {
    switch (Uniform(depth > 0 ? 7 : 4)) {
      case 4: {
        std::string group = OneIn(2) ? "(" : "(?:";
        for (uint64_t i = 1 + Uniform(4); i > 0; --i) group += Piece(depth - 1) + (OneIn(2) ? "|" : "");
        return group + ")" + Quantifier();
      }
      case 5:
        // The classic: what an automaton needs a state for each of 2^n.
        return "[ab]*a[ab]{" + std::to_string(1 + Uniform(30)) + "}" + (OneIn(2) ? "c" : "");
      case 6:
        return "(" + Piece(depth - 1) + Piece(depth - 1) + ")" + Quantifier();
      default:
        return Atom() + Quantifier();
    }
  }

  std::string Word() {
    std::string word;
    for (uint64_t i = 2 + Uniform(10); i > 0; --i)
      word += static_cast<char>('a' + Uniform(OneIn(3) ? 2 : 26));
    return word;
  }

  std::string Pattern(size_t bytes_max) {
    std::string pattern;
    std::string unit;
    switch (Uniform(6)) {
      case 0:  // one thing again and again
        for (uint64_t i = 1 + Uniform(3); i > 0; --i) unit += Piece(2);
        if (OneIn(3)) unit += "|";
        while (pattern.size() + unit.size() <= bytes_max) pattern += unit;
        break;
      case 1:  // words
        while (pattern.size() + 16 <= bytes_max) pattern += Word() + (OneIn(4) ? "[0-9]+" : "") + "|";
        if (OneIn(2)) pattern = ".*(?:" + pattern + ").*";
        break;
      case 2:  // loops that rarely match beside ones that need a state for each of 2^n
        while (pattern.size() + 24 <= bytes_max) {
          pattern += OneIn(8) ? "[ab]*a[ab]{12}x|"s : "[\\x80-\\x" + std::to_string(90 + Uniform(10)) + "]*|";
        }
        pattern = "(?:" + pattern + ")*c";
        break;
      case 3:  // a long literal, almost there
        pattern = (OneIn(2) ? ".*" : "") + std::string(Uniform(bytes_max), OneIn(2) ? 'a' : 'b') + "b" +
                  (OneIn(2) ? ".*" : "\\C*");
        break;
      default:
        while (true) {
          unit = Piece(3) + (OneIn(6) ? "|" : "");
          if (pattern.size() + unit.size() > bytes_max || (pattern.size() > 10 && OneIn(20))) break;
          pattern += unit;
        }
    }
    pattern.resize(std::min(pattern.size(), bytes_max));
    return pattern;
  }

  // Fields of type string must be UTF-8: patterns are ASCII.
  void Regex(size_t bytes_max, RowFilter* filter) { Regex(bytes_max, Uniform(kRegexKinds), filter); }
  void Regex(size_t bytes_max, uint64_t kind, RowFilter* filter) {
    const std::string pattern = Pattern(bytes_max);
    switch (kind) {
      case 0:
        return filter->set_row_key_regex_filter(pattern);
      case 1:
        return filter->set_family_name_regex_filter(pattern);
      case 2:
      case 3:
        return filter->set_column_qualifier_regex_filter(pattern);
      default:
        return filter->set_value_regex_filter(pattern);
    }
  }

  // A chain or an interleave that grows until it is as large as a filter may be.
  class Growing {
   public:
    Growing(RowFilter* filter, bool interleave) : filter_(filter), interleave_(interleave) {}

    // The last one must be complete by now.
    RowFilter* Add() {
      Count();
      last_ = interleave_ ? filter_->mutable_interleave()->add_filters()
                          : filter_->mutable_chain()->add_filters();
      return last_;
    }
    // How much more may be added. The sizes of all but the last are known: to ask the message for its own
    // each time takes most of the test.
    size_t Room() {
      Count();
      const size_t bytes = (filters_bytes_ == 0 ? 0 : Framed(filters_bytes_)) + 16;
      return bytes >= kFilterBytesMax ? 0 : kFilterBytesMax - bytes;
    }

   private:
    void Count() {
      if (last_ != nullptr) filters_bytes_ += Framed(last_->ByteSizeLong());
      last_ = nullptr;
    }
    // A message as a field of another, whose number is small.
    static size_t Framed(size_t bytes) {
      return 1 + google::protobuf::io::CodedOutputStream::VarintSize64(bytes) + bytes;
    }

    RowFilter* const filter_;
    const bool interleave_;
    RowFilter* last_ = nullptr;  // not yet in filters_bytes_
    size_t filters_bytes_ = 0;
  };

  void ManyRegexes(RowFilter* filter) {
    const bool interleave = OneIn(2);
    const size_t each_bytes = 1 + Uniform(OneIn(2) ? 16 : 400);
    const bool one_kind = OneIn(2);
    const uint64_t kind = Uniform(kRegexKinds);
    // Of a hundred, each has room for an automaton of some size.
    const uint64_t count_max = OneIn(2) ? 20 + Uniform(200) : UINT64_MAX;
    Growing growing(filter, interleave);
    for (uint64_t i = 0; i < count_max && growing.Room() > each_bytes + 16; ++i) {
      RowFilter* child = growing.Add();
      Regex(each_bytes, one_kind ? kind : Uniform(kRegexKinds), child);
      // A chain ends with the first filter that nothing passes.
      if (!interleave && OneIn(2)) {
        RowFilter regex = *child;
        child->mutable_condition()->mutable_predicate_filter()->CopyFrom(regex);
        child->mutable_condition()->mutable_true_filter();
        child->mutable_condition()->mutable_false_filter();
      }
    }
  }

  // Each of them is to be asked of each family of a table, and slow to say no.
  void FamilyRegexes(RowFilter* filter) {
    const std::string before = Any<std::string>({"a", "[ae]", "[ab]", "[a-m]"});
    const std::string after = Any<std::string>({"a", ".", "[a-z-]", "[ab]"});
    const std::string distance = std::to_string(1 + Uniform(8));
    Growing growing(filter, true);
    for (uint64_t i = 2 + Uniform(400); i > 0 && growing.Room() > 64; --i) {
      growing.Add()->set_family_name_regex_filter("(.*" + before + ".{" + distance + "}" + after + "|.*)" +
                                                  std::to_string(i));
    }
  }

  // Interleaves in a chain, each of which multiplies the cells.
  void Amplifier(RowFilter* filter) {
    const uint64_t width = 2 + Uniform(OneIn(3) ? 1'000 : 4);
    const bool sinks = OneIn(3);
    Growing growing(filter, false);
    while (growing.Room() > width * 5 + 32) {
      RowFilter* child = growing.Add();
      for (uint64_t i = 0; i < width; ++i) {
        RowFilter* copy = child->mutable_interleave()->add_filters();
        if (sinks && OneIn(4)) copy->set_sink(true);
        if (OneIn(8)) copy->set_strip_value_transformer(true);
      }
      if (OneIn(200)) break;
    }
  }

  void Cheap(RowFilter* filter) {
    switch (Uniform(9)) {
      case 0:
        return filter->set_strip_value_transformer(true);
      case 1:
        return filter->mutable_timestamp_range_filter()->set_start_timestamp_micros(
            static_cast<int64_t>(Uniform(3)));
      case 2:
        return filter->set_cells_per_column_limit_filter(static_cast<int32_t>(1'000'000 + Uniform(5)));
      case 3:
        return filter->set_cells_per_row_limit_filter(static_cast<int32_t>(1'000'000 + Uniform(5)));
      case 4:
        return filter->mutable_column_range_filter()->set_family_name("f");
      case 5:
        return filter->mutable_value_range_filter()->set_start_value_closed(OneIn(2) ? "" : "a");
      case 6:
        return filter->set_column_qualifier_regex_filter(OneIn(2) ? "\\C*" : ".+");
      case 7:
        return filter->set_family_name_regex_filter(OneIn(2) ? "f|g" : "[fg]");
      default:
        return filter->set_row_key_regex_filter(OneIn(2) ? "r.*" : "[r].*");
    }
  }

  void Thousands(RowFilter* filter) {
    const bool interleave = OneIn(2);
    const bool one_kind = OneIn(2);
    RowFilter kind;
    Cheap(&kind);
    Growing growing(filter, interleave);
    while (growing.Room() > 32) {
      RowFilter* child = growing.Add();
      if (one_kind) {
        child->CopyFrom(kind);
      } else {
        Cheap(child);
      }
    }
  }

  void Long(RowFilter* filter, size_t bytes) {
    const std::string text(bytes, OneIn(2) ? 'a' : 'q');
    switch (Uniform(4)) {
      case 0:
        filter->mutable_column_range_filter()->set_family_name("f");
        return filter->mutable_column_range_filter()->set_start_qualifier_closed(text);
      case 1:
        return filter->mutable_value_range_filter()->set_end_value_closed(text);
      case 2:
        return filter->mutable_value_bitmask_filter()->set_mask(std::string(bytes, '\0'));
      default:
        return Regex(bytes, filter);
    }
  }

  void Nested(int depth, RowFilter* filter) {
    if (depth == 0) {
      return OneIn(3) ? Long(filter, 1 + Uniform(500)) : Cheap(filter);
    }
    switch (Uniform(3)) {
      case 0:
        Nested(depth - 1, filter->mutable_condition()->mutable_predicate_filter());
        Cheap(filter->mutable_condition()->mutable_true_filter());
        if (OneIn(2)) Nested(depth - 1, filter->mutable_condition()->mutable_false_filter());
        break;
      case 1:
        for (uint64_t i = 1 + Uniform(3); i > 0; --i) filter->mutable_interleave()->add_filters();
        Nested(depth - 1, filter->mutable_interleave()->add_filters());
        break;
      default:
        for (uint64_t i = 1 + Uniform(3); i > 0; --i) Cheap(filter->mutable_chain()->add_filters());
        Nested(depth - 1, filter->mutable_chain()->add_filters());
    }
  }

  void Mixed(RowFilter* filter) {
    const bool interleave = OneIn(2);
    Growing growing(filter, interleave);
    while (growing.Room() > 64) {
      RowFilter child;
      switch (Uniform(6)) {
        case 0:
          Nested(static_cast<int>(1 + Uniform(6)), &child);
          break;
        case 1:
        case 2:
          Regex(1 + Uniform(OneIn(4) ? 8'000 : 200), &child);
          break;
        case 3:
          Long(&child, 1 + Uniform(2'000));
          break;
        case 4:
          for (uint64_t i = 2 + Uniform(20); i > 0; --i) child.mutable_interleave()->add_filters();
          break;
        default:
          Cheap(&child);
      }
      if (child.ByteSizeLong() + 8 > growing.Room()) break;
      growing.Add()->CopyFrom(child);
    }
  }

  RandomSource* const random_;
};

}  // namespace

RowFilter HostileFilter(RandomSource* random) {
  while (true) {
    RowFilter filter = HostileMaker(random).Make();
    if (filter.ByteSizeLong() <= kFilterBytesMax) return filter;
  }
}

}  // namespace sonde
