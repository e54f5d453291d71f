#include "random_filter.h"

#include <cmath>

namespace sonde {
namespace {

using google::bigtable::v2::RowFilter;
using std::string_literals::operator""s;

class FilterMaker {
 public:
  FilterMaker(const Words& words, RandomSource* random) : words_(words), random_(random) {}

  RowFilter Make(int depth, bool in_condition) {
    RowFilter filter;
    if (depth == 0 || OneIn(5, random_)) {
      Leaf(in_condition, &filter);
      return filter;
    }
    switch (random_->Uniform(5)) {
      case 0:
      case 1:
        for (uint64_t i = Count(); i > 0; --i)
          *filter.mutable_chain()->add_filters() = Make(depth - 1, in_condition);
        break;
      case 2:
      case 3:
        for (uint64_t i = Count(); i > 0; --i) {
          *filter.mutable_interleave()->add_filters() = Make(depth - 1, in_condition);
        }
        break;
      default:
        *filter.mutable_condition()->mutable_predicate_filter() = Make(depth - 1, true);
        if (!OneIn(4, random_)) *filter.mutable_condition()->mutable_true_filter() = Make(depth - 1, true);
        if (!OneIn(4, random_)) *filter.mutable_condition()->mutable_false_filter() = Make(depth - 1, true);
    }
    return filter;
  }

 private:
  uint64_t Count() { return OneIn(100, random_) ? 1 : 2 + random_->Uniform(3); }  // 1 is refused

  std::string Regex(const std::vector<std::string>& words) {
    static const std::vector<std::string> kShapes = {
        ".*",       "\\C*",    "[a-c]+",         ".", "a.*", ".*b",    "a|b|cd",  "[^a]*", "(ab?|c)+",
        "x{2,3}|y", "\\x00.*", "[\\x80-\\xff]*", "",  "\\C", ".*\n.*", "(?i)A.*", "a\\.b"};
    if (OneIn(60, random_)) return "(";  // refused
    if (OneIn(2, random_)) return AnyOf(kShapes, random_);
    std::string pattern;
    for (const char c : AnyOf(words, random_)) {
      if (!std::isalnum(static_cast<unsigned char>(c)))
        pattern += '\\' + (c == '\0'                               ? "x00"s
                           : c == '\n'                             ? "n"s
                           : static_cast<unsigned char>(c) >= 0x80 ? "xff"s
                                                                   : std::string(1, c));
      else
        pattern += c;
    }
    if (OneIn(3, random_)) pattern += AnyOf<std::string>({".*", "\\C*", "+", "|b"}, random_);
    return pattern;
  }

  std::string FamilyRegex() {
    if (OneIn(20, random_)) {  // refused: no family's name, or not in every table
      return AnyOf<std::string>({"", "a:b", "none", "\\x6eo", "a\\-b", "z2", "\\x7a2"}, random_);
    }
    return AnyOf<std::string>(
        {"a", "a|b", "[bc].*", ".*", "none|c", ".*[0-9]", "s.m", "c", "\\x63c", "non.*"}, random_);
  }

  void ColumnRange(RowFilter* filter) {
    auto* range = filter->mutable_column_range_filter();
    range->set_family_name(OneIn(50, random_) ? "missing" : AnyOf(words_.families, random_));
    if (OneIn(60, random_)) range->set_family_name(OneIn(2, random_) ? "" : "bad:name");  // refused
    const std::string& start = AnyOf(words_.qualifiers, random_);
    const std::string& end = AnyOf(words_.qualifiers, random_);
    const uint64_t start_kind = random_->Uniform(3);
    const uint64_t end_kind = random_->Uniform(3);
    const bool swap = start_kind != 0 && end_kind != 0 && end < start && !OneIn(20, random_);
    if (start_kind == 1) range->set_start_qualifier_closed(swap ? end : start);
    if (start_kind == 2) range->set_start_qualifier_open(swap ? end : start);
    if (end_kind == 1) range->set_end_qualifier_closed(swap ? start : end);
    if (end_kind == 2 && start != end) range->set_end_qualifier_open(swap ? start : end);
  }

  void ValueRange(RowFilter* filter) {
    auto* range = filter->mutable_value_range_filter();
    const std::string& start = AnyOf(words_.values, random_);
    const std::string& end = AnyOf(words_.values, random_);
    const uint64_t start_kind = random_->Uniform(3);
    const uint64_t end_kind = random_->Uniform(3);
    const bool swap = start_kind != 0 && end_kind != 0 && end < start && !OneIn(20, random_);
    if (start_kind == 1) range->set_start_value_closed(swap ? end : start);
    if (start_kind == 2) range->set_start_value_open(swap ? end : start);
    if (end_kind == 1) range->set_end_value_closed(swap ? start : end);
    if (end_kind == 2 && start != end) range->set_end_value_open(swap ? start : end);
  }

  void TimestampRange(RowFilter* filter) {
    auto* range = filter->mutable_timestamp_range_filter();
    const auto time = [this] {
      if (OneIn(12, random_)) return INT64_MAX - static_cast<int64_t>(random_->Uniform(2));
      return AnyOf(words_.timestamps_micros, random_) + (OneIn(8, random_) ? 1 : 0);
    };
    int64_t start = time();
    int64_t end = time();
    if (start > end && !OneIn(40, random_)) std::swap(start, end);
    if (!OneIn(3, random_)) range->set_start_timestamp_micros(start);
    if (!OneIn(3, random_)) range->set_end_timestamp_micros(end);
  }

  void Leaf(bool in_condition, RowFilter* filter) {
    // 0 is refused.
    const auto count =
        static_cast<int32_t>(OneIn(60, random_) ? 0 : 1 + random_->Uniform(OneIn(4, random_) ? 20 : 3));
    switch (random_->Uniform(22)) {
      case 0:
        return filter->set_pass_all_filter(!OneIn(40, random_));
      case 1:
        return OneIn(3, random_) ? filter->set_block_all_filter(true) : filter->set_pass_all_filter(true);
      case 2:
        return in_condition && !OneIn(40, random_) ? filter->set_pass_all_filter(true)
                                                   : filter->set_sink(true);
      case 3:
        return filter->set_strip_value_transformer(true);
      case 4: {
        std::string pattern = Regex(words_.row_keys);
        if (pattern.empty() && !OneIn(5, random_)) pattern = "\\C+";  // the empty one is refused
        return filter->set_row_key_regex_filter(pattern);
      }
      case 5:
        return filter->set_row_sample_filter(OneIn(30, random_)  ? 1.0
                                             : OneIn(4, random_) ? 1e-300
                                                                 : std::nextafter(1.0, 0.0));
      case 6:
        return filter->set_family_name_regex_filter(FamilyRegex());
      case 7:
      case 8:
        return filter->set_column_qualifier_regex_filter(Regex(words_.qualifiers));
      case 9:
      case 10:
        return ColumnRange(filter);
      case 11:
      case 12:
        return TimestampRange(filter);
      case 13:
        return filter->set_value_regex_filter(Regex(words_.values));
      case 14:
        return ValueRange(filter);
      case 15:
        return filter->mutable_value_bitmask_filter()->set_mask(AnyOf<std::string>(
            {OneIn(8, random_) ? "" : "\x01", "a", "ab", "\0\0\0\0\0\0\0\1"s, "\0\0\0\0\0\0\0\0"s}, random_));
      case 16:
        return filter->set_cells_per_row_offset_filter(count);
      case 17:
        return filter->set_cells_per_row_limit_filter(count);
      case 18:
      case 19:
        return filter->set_cells_per_column_limit_filter(count);
      case 20:
        return filter->set_apply_label_transformer(
            OneIn(40, random_) ? "No" : AnyOf<std::string>({"l1", "label-2"}, random_));
      default:
        return;  // no filter is set: everything passes
    }
  }

  const Words& words_;
  RandomSource* const random_;
};

}  // namespace

Words Words::Make(int64_t now_micros) {
  Words words;
  words.families = {"a", "b", "c", "cc", "sum", "min", "max", "unique", "z2"};
  words.row_keys = {"a",   "a\0"s, "a\0b"s, "a\xff", "ab",       "abc",   "b",      "b\nc",
                    "b.c", "c",    "\0"s,   "\xff",  "\xff\xff", "row#1", "row#10", "row#2"};
  words.qualifiers = {"", "\0"s, "a", "a\0"s, "a.b", "ab", "b", "b\n", "c\xff", "\xff"};
  words.values = {"",
                  "a",
                  "a\0"s,
                  "ab",
                  "abc",
                  "b",
                  "b\nc",
                  "xx",
                  "y",
                  "\xff",
                  "\0"s,
                  "\0\0\0\0\0\0\0\1"s,
                  "\0\0\0\0\0\0\1\0"s,
                  "\xff\xff\xff\xff\xff\xff\xff\xff",
                  std::string(300, 'a')};
  words.timestamps_micros = {0, 1000, 2000, 5'000'000};
  for (int64_t i = -6; i <= 2; ++i)
    words.timestamps_micros.push_back(now_micros - now_micros % 1000 + i * 1'000'000);
  return words;
}

RowFilter RandomFilter(const Words& words, int depth_max, RandomSource* random) {
  return FilterMaker(words, random).Make(static_cast<int>(random->Uniform(depth_max + 1)), false);
}

}  // namespace sonde
