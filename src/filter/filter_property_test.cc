// Random nested filters on random small rows: the evaluator against a naive one, written from the comments of
// data.proto, and against itself on what Needs() leaves of a row.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "filter/filter_test_support.h"

namespace sonde {
namespace {

using namespace filter_test;  // NOLINT: the words of the tests

// --- The naive evaluator: a list in, a list out.

// Always the same answer: a row sample then depends on its probability only.
class ConstantRandom final : public RandomSource {
 public:
  explicit ConstantRandom(uint64_t value) : value_(value) {}
  uint64_t Next() override { return value_; }

 private:
  uint64_t value_;
};

bool FullMatch(const std::string& pattern, const std::string& text) {
  static std::map<std::string, RE2> compiled;
  const RE2::Options options(RE2::Latin1);
  return RE2::FullMatch(text, compiled.try_emplace(pattern, pattern, options).first->second);
}

bool InRange(const std::string& bytes, const Bound& start, const Bound& end) {
  if (start.kind == Bound::Kind::kClosed && bytes < start.value) return false;
  if (start.kind == Bound::Kind::kOpen && bytes <= start.value) return false;
  if (end.kind == Bound::Kind::kClosed && bytes > end.value) return false;
  if (end.kind == Bound::Kind::kOpen && bytes >= end.value) return false;
  return true;
}

class Naive {
 public:
  Naive(std::string row_key, double sample) : row_key_(std::move(row_key)), sample_(sample) {}

  TestRow Output(const FilterSpec& spec, const TestRow& row) {
    TestRow output = Apply(spec, row);
    output.insert(output.begin(), sunk_.begin(), sunk_.end());
    return Sorted(output);
  }

 private:
  static TestRow Sorted(TestRow row) {
    std::stable_sort(row.begin(), row.end(), [](const TestCell& a, const TestCell& b) {
      return std::tuple(a.family, a.qualifier, -a.timestamp_micros) <
             std::tuple(b.family, b.qualifier, -b.timestamp_micros);
    });
    return row;
  }
  static TestRow Where(const TestRow& row, const std::function<bool(const TestCell&)>& passes) {
    TestRow out;
    std::copy_if(row.begin(), row.end(), std::back_inserter(out), passes);
    return out;
  }

  TestRow Apply(const FilterSpec& spec, const TestRow& row) {
    return std::visit([&](const auto& filter) { return Do(filter, row); }, spec.filter);
  }
  TestRow Do(const FilterSpec::PassAll&, const TestRow& row) { return row; }
  TestRow Do(const FilterSpec::BlockAll&, const TestRow&) { return {}; }
  TestRow Do(const FilterSpec::Sink&, const TestRow& row) {
    sunk_.insert(sunk_.end(), row.begin(), row.end());
    return {};
  }
  TestRow Do(const FilterSpec::StripValue&, TestRow row) {
    for (TestCell& cell : row) cell.value.clear();
    return row;
  }
  TestRow Do(const FilterSpec::Chain& chain, TestRow row) {
    for (const FilterSpec& filter : chain.filters) row = Apply(filter, row);
    return row;
  }
  TestRow Do(const FilterSpec::Interleave& interleave, const TestRow& row) {
    TestRow out;
    for (const FilterSpec& filter : interleave.filters) {
      const TestRow part = Apply(filter, row);
      out.insert(out.end(), part.begin(), part.end());
    }
    return Sorted(out);
  }
  TestRow Do(const FilterSpec::Condition& condition, const TestRow& row) {
    const auto& branch =
        Apply(*condition.predicate, row).empty() ? condition.false_filter : condition.true_filter;
    return branch == nullptr ? TestRow{} : Apply(*branch, row);
  }
  TestRow Do(const FilterSpec::RowKeyRegex& filter, const TestRow& row) {
    return FullMatch(filter.pattern, row_key_) ? row : TestRow{};
  }
  TestRow Do(const FilterSpec::RowSample& filter, const TestRow& row) {
    return sample_ < filter.probability ? row : TestRow{};
  }
  TestRow Do(const FilterSpec::FamilyRegex& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) { return FullMatch(filter.pattern, cell.family); });
  }
  TestRow Do(const FilterSpec::QualifierRegex& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) { return FullMatch(filter.pattern, cell.qualifier); });
  }
  TestRow Do(const FilterSpec::ValueRegex& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) { return FullMatch(filter.pattern, cell.value); });
  }
  TestRow Do(const FilterSpec::ColumnRange& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) {
      return cell.family == filter.family && InRange(cell.qualifier, filter.start, filter.end);
    });
  }
  TestRow Do(const FilterSpec::TimestampRange& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) {
      return cell.timestamp_micros >= filter.range.start_micros &&
             (filter.range.end_micros == 0 || cell.timestamp_micros < filter.range.end_micros);
    });
  }
  TestRow Do(const FilterSpec::ValueRange& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) { return InRange(cell.value, filter.start, filter.end); });
  }
  TestRow Do(const FilterSpec::ValueBitmask& filter, const TestRow& row) {
    return Where(row, [&](const TestCell& cell) {
      if (cell.value.size() != filter.mask.size()) return false;
      for (size_t i = 0; i < filter.mask.size(); ++i) {
        if ((cell.value[i] & filter.mask[i]) != filter.mask[i]) return false;
      }
      return true;
    });
  }
  TestRow Do(const FilterSpec::CellsPerRowOffset& filter, const TestRow& row) {
    int skipped = 0;
    return Where(row, [&](const TestCell&) { return skipped++ >= filter.count; });
  }
  TestRow Do(const FilterSpec::CellsPerRowLimit& filter, const TestRow& row) {
    int passed = 0;
    return Where(row, [&](const TestCell&) { return passed++ < filter.count; });
  }
  TestRow Do(const FilterSpec::CellsPerColumnLimit& filter, const TestRow& row) {
    std::map<std::pair<std::string, std::string>, int> passed;
    return Where(
        row, [&](const TestCell& cell) { return passed[{cell.family, cell.qualifier}]++ < filter.count; });
  }
  TestRow Do(const FilterSpec::ApplyLabel& filter, TestRow row) {
    for (TestCell& cell : row) cell.label = filter.label;
    return row;
  }

  std::string row_key_;
  double sample_;
  TestRow sunk_;
};

// --- Random filters and rows, small enough to meet often.

const std::vector<std::string> kQualifiers = {"", "a", {"a\0", 2}, "ab", "b", "b\n", "c\xff"};
const std::vector<std::string> kValues = {"", {"\0", 1}, "x", {"x\0", 2}, "y", "xy", "\n", "\xff"};

template <typename T>
const T& Any(SeededRandom& random, const std::vector<T>& values) {
  return values[random.Uniform(values.size())];
}

Bound RandomBound(SeededRandom& random, const std::vector<std::string>& values) {
  return {static_cast<Bound::Kind>(random.Uniform(3)), Any(random, values)};
}

class RandomFilter {
 public:
  explicit RandomFilter(uint64_t seed) : random_(seed) {}

  FilterSpec Make() {
    while (true) {
      const FilterSpec spec = Make(static_cast<int>(random_.Uniform(5)));
      if (CompileFilter(spec).ok())
        return spec;  // else: an empty range, too many labels, a sink in a condition
    }
  }
  SeededRandom& random() { return random_; }

 private:
  FilterSpec Make(int depth) {
    if (depth > 0) {
      switch (random_.Uniform(4)) {
        case 0:
        case 1:
          return Chain(Several(depth - 1));
        case 2:
          return Interleave(Several(depth - 1));
        default:
          return If(Make(depth - 1), random_.Uniform(4) == 0 ? std::nullopt : std::optional(Make(depth - 1)),
                    random_.Uniform(4) == 0 ? std::nullopt : std::optional(Make(depth - 1)));
      }
    }
    return Leaf();
  }
  std::vector<FilterSpec> Several(int depth) {
    std::vector<FilterSpec> filters;
    for (uint64_t count = 2 + random_.Uniform(3); count > 0; --count) {
      filters.push_back(Make(static_cast<int>(random_.Uniform(depth + 1))));
    }
    return filters;
  }
  FilterSpec Leaf() {
    const auto count = static_cast<int32_t>(1 + random_.Uniform(3));
    switch (random_.Uniform(20)) {
      case 0:
        return Block();
      case 1:
        return random_.Uniform(2) == 0 ? Sink() : All();
      case 2:
        return Strip();
      case 3:
        return RowKey(Any<std::string>(random_, {"r.*", "[a-z]+", "x|row", "nothing"}));
      case 4:
        return Family(Any<std::string>(random_, {"A", "A|B", "[BC]", ".*", "none", "fo+"}));
      case 5:
      case 6:
        return Qualifier(Any<std::string>(random_, {"a", "a.*", "b\\C*", "a|b", "[ab]+", ".*b", "", "c."}));
      case 7:
        return Value(Any<std::string>(random_, {"x", "x.*", "[xy]+", "", "\\C", "."}));
      case 8:
        return Sample(Any<double>(random_, {0.3, 0.6}));
      case 9:
      case 10:
        return Columns(Any(random_, TestFamilies()), RandomBound(random_, kQualifiers),
                       RandomBound(random_, kQualifiers));
      case 11:
      case 12: {
        const auto start = static_cast<int64_t>(random_.Uniform(6));
        return Times(start, random_.Uniform(2) == 0 ? 0 : start + static_cast<int64_t>(random_.Uniform(5)));
      }
      case 13:
        return Values(RandomBound(random_, kValues), RandomBound(random_, kValues));
      case 14:
        return Bits(Any<std::string>(random_, {"x", "\x01", "xy"}));
      case 15:
        return RowOffset(count);
      case 16:
        return RowLimit(count);
      case 17:
      case 18:
        return ColumnLimit(count);
      default:
        return random_.Uniform(3) == 0 ? Label(Any<std::string>(random_, {"l1", "l2"})) : All();
    }
  }

  SeededRandom random_;
};

TestRow RandomRow(SeededRandom& random) {
  TestRow row;
  for (const char* family : {"A", "B", "C", "foo"}) {
    if (random.Uniform(3) == 0) continue;
    for (const std::string& qualifier : kQualifiers) {
      if (random.Uniform(2) == 0) continue;
      for (int64_t timestamp = 7; timestamp >= 0; --timestamp) {
        if (random.Uniform(3) == 0) row.push_back({family, qualifier, timestamp, Any(random, kValues)});
      }
    }
  }
  return row;
}

constexpr uint64_t kFilters = 5'000;
constexpr int kRowsPerFilter = 4;
const char kRowKey[] = "row";

TestRow Evaluate(FilterEvaluator& evaluator, const CompiledFilter& filter, const TestRow& row) {
  std::vector<FilterCell> cells = ToFilterCells(row);
  const absl::Status status = evaluator.Run(kRowKey, &cells);
  EXPECT_TRUE(status.ok()) << status;
  return ToTestRow(filter, cells);
}

TEST(FilterProperty, IsWhatTheCommentsSay) {
  size_t not_empty = 0;
  for (uint64_t seed = 0; seed < kFilters; ++seed) {
    RandomFilter make(seed);
    const FilterSpec spec = make.Make();
    const auto filter = Compile(spec);
    ConstantRandom sample(make.random().Next());
    FilterBudget budget;
    FilterEvaluator evaluator(*filter, TestSchema(), &budget, &sample);
    for (int i = 0; i < kRowsPerFilter; ++i) {
      const TestRow row = RandomRow(make.random());
      const TestRow expected = Naive(kRowKey, sample.UniformReal()).Output(spec, row);
      ASSERT_EQ(Evaluate(evaluator, *filter, row), expected) << "seed " << seed << " row " << i;
      not_empty += !expected.empty();
      if (expected.empty()) continue;
      ASSERT_TRUE(filter->RowKeyMayPass(kRowKey, &budget)) << "seed " << seed;
      bool is_possible = false;
      for (const RowRange& range : filter->PossibleRows()) is_possible |= range.Contains(kRowKey);
      ASSERT_TRUE(is_possible) << "seed " << seed;
    }
  }
  EXPECT_GT(not_empty, kFilters);  // else the test says little
}

// Leaves out some of the cells that the hints allow to leave out: all of them, or at random.  `counts_first`:
// the newest are counted before the time range is applied.
TestRow Reduce(const FilterNeeds& needs, const TableSchema& schema, const TestRow& row, bool counts_first,
               SeededRandom* random) {
  const ReadHints& hints = needs.hints;
  TestRow reduced;
  std::map<std::pair<std::string, std::string>, int64_t> ranks;
  for (const TestCell& cell : row) {
    const FamilyId id = schema.FindFamily(cell.family)->id;
    bool is_needed = !needs.nothing;
    if (hints.families.has_value())
      is_needed &= std::count(hints.families->begin(), hints.families->end(), id) > 0;
    if (hints.columns.has_value()) {
      is_needed &=
          std::any_of(hints.columns->begin(), hints.columns->end(), [&](const ReadHints::ColumnRange& range) {
            return cell.qualifier >= range.start && (range.end.empty() || cell.qualifier < range.end);
          });
    }
    const bool is_in_time = hints.time_range.Contains(cell.timestamp_micros);
    is_needed &= is_in_time;
    if (is_in_time || counts_first) {
      const int64_t rank = ranks[{cell.family, cell.qualifier}]++;
      if (hints.newest_per_column.has_value()) is_needed &= rank < *hints.newest_per_column;
    }
    const bool is_dropped = random == nullptr || random->Uniform(2) == 0;
    if (!is_needed && is_dropped) continue;
    reduced.push_back(cell);
    if (hints.keys_only && is_dropped) reduced.back().value.clear();
  }
  return reduced;
}

TEST(FilterProperty, NeedsLeaveTheOutputAsItIs) {
  const TableSchema schema = TestSchema();
  size_t reduced_rows = 0;
  for (uint64_t seed = 0; seed < 3 * kFilters; ++seed) {
    RandomFilter make(seed);
    const FilterSpec spec = make.Make();
    const auto filter = Compile(spec);
    FilterBudget budget;
    const FilterNeeds needs = filter->Needs(schema, &budget);
    ASSERT_TRUE(needs.hints.time_range.end_micros == 0 || !needs.hints.newest_per_column.has_value())
        << "seed " << seed;
    ConstantRandom sample(make.random().Next());
    FilterEvaluator evaluator(*filter, TestSchema(), &budget, &sample);
    for (int i = 0; i < kRowsPerFilter; ++i) {
      const TestRow row = RandomRow(make.random());
      const TestRow expected = Evaluate(evaluator, *filter, row);
      for (const bool counts_first : {false, true}) {
        for (SeededRandom* random : {static_cast<SeededRandom*>(nullptr), &make.random()}) {
          const TestRow reduced = Reduce(needs, schema, row, counts_first, random);
          reduced_rows += reduced != row;
          ASSERT_EQ(Evaluate(evaluator, *filter, reduced), expected)
              << "seed " << seed << " row " << i << " counts_first " << counts_first;
        }
      }
    }
  }
  EXPECT_GT(reduced_rows, kFilters);
}

}  // namespace
}  // namespace sonde
