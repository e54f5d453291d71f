#include "cellblock/fragment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/varint.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"

namespace sonde {
namespace {

// Knows the shapes that it was given.
class FixedShapes final : public ShapeSource {
 public:
  explicit FixedShapes(std::vector<Shape> shapes) : shapes_(std::move(shapes)) {}
  const Shape* Get(ShapeId id) const override { return id < shapes_.size() ? &shapes_[id] : nullptr; }
  bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const override {
    for (ShapeId i = 0; i < shapes_.size(); ++i) {
      if (std::equal(qualifiers.begin(), qualifiers.end(), shapes_[i].begin(), shapes_[i].end())) {
        *id = i;
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<Shape> shapes_;
};

// The naive model of one family of one row: edits applied one by one to a map.
class Model {
 public:
  struct Edit {
    enum Kind { kDeleteAll, kDeleteColumn, kPut, kAdd } kind;
    std::string qualifier;
    int64_t start = 0;  // timestamp, or start of a range
    int64_t end = 0;
    std::string value;
    int64_t input = 0;
  };

  explicit Model(AggregateKind kind) : kind_(kind) {}

  void Apply(const Edit& edit) {
    switch (edit.kind) {
      case Edit::kDeleteAll:
        cells_.clear();
        break;
      case Edit::kDeleteColumn:
        std::erase_if(cells_, [&](const auto& cell) {
          return cell.first.first == edit.qualifier && -cell.first.second >= edit.start &&
                 (edit.end == 0 || -cell.first.second < edit.end);
        });
        break;
      case Edit::kPut:
        cells_[{edit.qualifier, -edit.start}] = edit.value;
        break;
      case Edit::kAdd: {
        std::string& cell = cells_[{edit.qualifier, -edit.start}];
        int64_t state = edit.input;
        if (!cell.empty()) {
          const int64_t older = DecodeAggregateState(cell);
          if (kind_ == AggregateKind::kSum)
            state = static_cast<int64_t>(static_cast<uint64_t>(older) + state);
          if (kind_ == AggregateKind::kMin) state = std::min(older, state);
          if (kind_ == AggregateKind::kMax) state = std::max(older, state);
        }
        cell.clear();
        PutFixed64(&cell, static_cast<uint64_t>(state));
        break;
      }
    }
  }

  std::vector<std::tuple<std::string, int64_t, std::string>> Cells() const {
    std::vector<std::tuple<std::string, int64_t, std::string>> result;
    for (const auto& [key, value] : cells_) result.emplace_back(key.first, -key.second, value);
    return result;
  }

 private:
  AggregateKind kind_;
  std::map<std::pair<std::string, int64_t>, std::string> cells_;
};

// The fragment of a single edit.
std::string Single(const Model::Edit& edit, AggregateKind kind, const ShapeSource& shapes) {
  FamilyDelta delta;
  delta.aggregate = kind;
  switch (edit.kind) {
    case Model::Edit::kDeleteAll:
      delta.delete_all = true;
      break;
    case Model::Edit::kDeleteColumn:
      delta.deletes.push_back({edit.qualifier, {edit.start, edit.end}});
      break;
    case Model::Edit::kPut:
      delta.puts.push_back({edit.qualifier, edit.start, edit.value});
      break;
    case Model::Edit::kAdd:
      delta.adds.push_back({edit.qualifier, edit.start, edit.input});
      break;
  }
  std::string bytes;
  EncodeFragment(delta, shapes, &bytes);
  return bytes;
}

std::string CombineAll(const std::vector<std::string>& fragments, const ShapeSource& shapes,
                       bool nothing_older) {
  const std::vector<std::string_view> views(fragments.begin(), fragments.end());
  std::string out;
  const absl::Status status = Combine(views, shapes, {.nothing_older = nothing_older}, &out);
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

std::vector<std::tuple<std::string, int64_t, std::string>> CellsOf(const std::string& bytes,
                                                                   const ShapeSource& shapes) {
  Fragment fragment;
  const absl::Status status = DecodeFragment(bytes, shapes, &fragment);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<CellView> cells;
  TakeCells(&fragment, &cells);
  std::vector<std::tuple<std::string, int64_t, std::string>> result;
  for (const CellView& cell : cells) result.emplace_back(cell.qualifier, cell.timestamp_micros, cell.value);
  return result;
}

class Generator {
 public:
  Generator(uint64_t seed, AggregateKind kind) : random_(seed), kind_(kind) {}

  Model::Edit Next() {
    static const std::vector<std::string> kQualifiers = {"",  "a",    "ab",  std::string("a\0b", 3),
                                                         "b", "\xff", "cpu", "cpu_user"};
    Model::Edit edit{};
    edit.qualifier = kQualifiers[random_.Uniform(kQualifiers.size())];
    edit.start = Time();
    const uint64_t dice = random_.Uniform(20);
    if (dice == 0) {
      edit.kind = Model::Edit::kDeleteAll;
    } else if (dice < 5) {
      edit.kind = Model::Edit::kDeleteColumn;
      edit.end = random_.Uniform(3) == 0 || edit.start == INT64_MAX ? 0
                 : edit.start > (int64_t{1} << 62)
                     ? INT64_MAX
                     : edit.start + 1 + static_cast<int64_t>(random_.Uniform(4000));
      if (random_.Uniform(4) == 0) edit.start = 0;
    } else if (kind_ != AggregateKind::kNone) {
      edit.kind = Model::Edit::kAdd;
      edit.input = static_cast<int64_t>(random_.Next() >> random_.Uniform(64));
      if (random_.Uniform(2)) edit.input = -edit.input;
    } else {
      edit.kind = Model::Edit::kPut;
      edit.value = std::string(random_.Uniform(5) == 0 ? random_.Uniform(300) : random_.Uniform(4), 'v');
    }
    return edit;
  }

  SeededRandom& random() { return random_; }

 private:
  int64_t Time() {
    switch (random_.Uniform(4)) {
      case 0:
        return static_cast<int64_t>(random_.Uniform(5)) * 1000;
      case 1:
        return 1'600'000'000'000'000 + static_cast<int64_t>(random_.Uniform(100)) * 1000;
      case 2:
        return static_cast<int64_t>(random_.Uniform(5000));
      default:
        return INT64_MAX - static_cast<int64_t>(random_.Uniform(3));
    }
  }

  SeededRandom random_;
  AggregateKind kind_;
};

// Combines the fragments in a random association: neighbours are joined until one is left.
std::string CombineRandomly(std::vector<std::string> fragments, SeededRandom* random,
                            const ShapeSource& shapes) {
  while (fragments.size() > 1) {
    const size_t first = random->Uniform(fragments.size() - 1);
    const size_t count = 2 + random->Uniform(std::min<size_t>(3, fragments.size() - first - 1));
    const auto begin = fragments.begin() + static_cast<ptrdiff_t>(first);
    std::string joined = CombineAll({begin, begin + static_cast<ptrdiff_t>(count)}, shapes, false);
    *begin = std::move(joined);
    fragments.erase(begin + 1, begin + static_cast<ptrdiff_t>(count));
  }
  return fragments[0];
}

TEST(Fragment, EveryAssociationOfRandomEditsAgreesWithTheModel) {
  const FixedShapes some({{"a", "b"}, {"a"}, {"", "a", "ab"}});
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto kind = static_cast<AggregateKind>(seed % 4);
    Generator generator(seed, kind);
    Model model(kind);
    std::vector<std::string> fragments;
    for (uint64_t i = 1 + generator.random().Uniform(30); i > 0; --i) {
      const Model::Edit edit = generator.Next();
      model.Apply(edit);
      fragments.push_back(Single(edit, kind, some));
    }
    const std::string joined = CombineRandomly(fragments, &generator.random(), some);
    ASSERT_EQ(CellsOf(CombineAll({joined}, some, true), some), model.Cells());
    ASSERT_EQ(CellsOf(CombineAll(fragments, some, true), some), model.Cells());
    // The normal form is one: every association gives the same bytes.
    ASSERT_EQ(joined, CombineAll(fragments, some, false));
  }
}

TEST(Fragment, KeepsWhatItsDeletesDoToOlderOnes) {
  const NoShapes shapes;
  const auto edit = [&](Model::Edit e) { return Single(e, AggregateKind::kNone, shapes); };
  const std::string older = edit({Model::Edit::kPut, "q", 5000, 0, "old"});
  const std::string newer = CombineAll(
      {edit({Model::Edit::kDeleteColumn, "q", 1000, 6000}), edit({Model::Edit::kPut, "q", 2000, 0, "new"})},
      shapes, false);
  EXPECT_THAT(CellsOf(CombineAll({older, newer}, shapes, true), shapes),
              testing::ElementsAre(std::make_tuple("q", 2000, "new")));
}

TEST(Fragment, NamesAShapeInsteadOfItsColumns) {
  const FixedShapes shapes({{"cpu_system", "cpu_user", "memory_free"}});
  FamilyDelta delta;
  for (const std::string& qualifier : *shapes.Get(0))
    delta.puts.push_back({qualifier, 1'600'000'000'000'000, "42"});
  std::string with, without;
  EncodeFragment(delta, shapes, &with);
  EncodeFragment(delta, NoShapes(), &without);
  EXPECT_EQ(with.size(), 2 + 1 + 1 + 1 + 6 + 3 * 3);
  EXPECT_GT(without.size(), with.size() + 25);
  EXPECT_EQ(CellsOf(with, shapes), CellsOf(without, shapes));
  Fragment fragment;
  EXPECT_EQ(DecodeFragment(with, NoShapes(), &fragment).code(), absl::StatusCode::kDataLoss);
}

TEST(Fragment, RegularTimesCostAByteEach) {
  FamilyDelta delta;
  for (int64_t i = 1000; i > 0; --i) delta.puts.push_back({"q", i * 10'000'000, "1"});
  std::string bytes;
  EncodeFragment(delta, NoShapes(), &bytes);
  EXPECT_LT(bytes.size(), 2 * 1000 + 40);
}

TEST(Fragment, TellsWhetherItHasDeletes) {
  const NoShapes shapes;
  const std::string put = Single({Model::Edit::kPut, "q", 1, 0, ""}, AggregateKind::kNone, shapes);
  const std::string gone = Single({Model::Edit::kDeleteAll, "", 0, 0, ""}, AggregateKind::kNone, shapes);
  EXPECT_TRUE(IsFragmentWithoutDeletes(put));
  EXPECT_FALSE(IsFragmentWithoutDeletes(gone));
}

// Times around those of the cells.
ReadHints RandomHints(const std::vector<CellView>& cells, RandomSource* random) {
  ReadHints hints;
  const auto time = [&]() -> int64_t {
    if (cells.empty()) return 0;
    const int64_t micros = cells[random->Uniform(cells.size())].timestamp_micros;
    return micros == INT64_MAX ? micros : micros + static_cast<int64_t>(random->Uniform(2));
  };
  if (random->Uniform(2) == 0) hints.time_range.start_micros = time();
  if (random->Uniform(2) == 0) hints.time_range.end_micros = time();
  if (random->Uniform(3) == 0) hints.newest_per_column = 1 + static_cast<int64_t>(random->Uniform(3));
  if (random->Uniform(3) == 0) {
    hints.columns.emplace();
    if (random->Uniform(2) == 0) hints.columns->push_back({"", "a"});
    if (random->Uniform(2) == 0) hints.columns->push_back({"ab", random->Uniform(2) == 0 ? "" : "b"});
  }
  hints.keys_only = random->Uniform(4) == 0;
  return hints;
}

// What the hints ask for of all cells.
std::vector<CellView> Wanted(const std::vector<CellView>& cells, const ReadHints& hints) {
  std::vector<CellView> wanted;
  std::map<std::string_view, int64_t> seen;
  for (const CellView& cell : cells) {
    if (hints.columns.has_value() &&
        std::none_of(hints.columns->begin(), hints.columns->end(), [&](const auto& range) {
          return range.start <= cell.qualifier && (range.end.empty() || cell.qualifier < range.end);
        })) {
      continue;
    }
    if (cell.timestamp_micros < hints.time_range.start_micros) continue;
    if (hints.time_range.end_micros != 0 && cell.timestamp_micros >= hints.time_range.end_micros) continue;
    if (seen[cell.qualifier]++ >= hints.newest_per_column.value_or(cells.size())) continue;
    wanted.push_back({cell.qualifier, cell.timestamp_micros, hints.keys_only ? "" : cell.value});
  }
  return wanted;
}

std::string ToText(const std::vector<CellView>& cells) {
  std::string text;
  for (const CellView& cell : cells) {
    text += std::string(cell.qualifier) + "@" + std::to_string(cell.timestamp_micros) + "=" +
            std::string(cell.value) + "\n";
  }
  return text;
}

TEST(Fragment, DecodesJustWhatIsAskedFor) {
  const FixedShapes shapes({{"a", "b"}, {"a"}, {"", "a", "ab"}});
  int left_out = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const auto kind = static_cast<AggregateKind>(seed % 4);
    Generator generator(seed, kind);
    std::vector<std::string> fragments;
    for (int i = 0; i < 12; ++i) fragments.push_back(Single(generator.Next(), kind, shapes));
    const std::string bytes = CombineAll(fragments, shapes, false);
    Fragment all;
    ASSERT_TRUE(DecodeFragment(bytes, shapes, &all).ok());
    for (int i = 0; i < 10; ++i) {
      const ReadHints hints =
          RandomHints(kind == AggregateKind::kNone ? all.puts : all.adds, &generator.random());
      Fragment some;
      ASSERT_TRUE(DecodeFragment(bytes, shapes, hints, &some).ok()) << "seed " << seed;
      ASSERT_EQ(ToText(some.puts), ToText(Wanted(all.puts, hints))) << "seed " << seed;
      ASSERT_EQ(ToText(some.adds), ToText(Wanted(all.adds, hints))) << "seed " << seed;
      if (some.puts.size() < all.puts.size()) ++left_out;
    }
  }
  EXPECT_GT(left_out, 1000);
}

TEST(FragmentsReader, SeesWhatIsAskedForOfFragmentsThatWereNotCombined) {
  const FixedShapes shapes({{"a", "b"}, {"a"}, {"", "a", "ab"}});
  FragmentsReader reader;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const auto kind = static_cast<AggregateKind>(seed % 4);
    Generator generator(seed, kind);
    std::vector<std::string> fragments;
    const uint64_t count = 1 + generator.random().Uniform(12);
    for (uint64_t i = 0; i < count; ++i) fragments.push_back(Single(generator.Next(), kind, shapes));
    const std::string combined = CombineAll(fragments, shapes, true);
    Fragment whole;
    ASSERT_TRUE(DecodeFragment(combined, shapes, &whole).ok());
    std::vector<CellView> all;
    TakeCells(&whole, &all);
    const std::vector<std::string_view> views(fragments.begin(), fragments.end());
    const ReadHints hints = RandomHints(all, &generator.random());
    std::vector<CellView> read;
    ASSERT_TRUE(reader.Read(views, shapes, hints, &read).ok());
    // It may give more than was asked for; what was asked for is among it, in order.
    std::vector<CellView> wanted = Wanted(read, hints);
    EXPECT_EQ(ToText(wanted), ToText(Wanted(all, hints))) << "seed " << seed;
  }
}

// As rows are that are written step by step, in any order.
TEST(FragmentsReader, OfStepsOfOneShapeDecodesTheNewest) {
  const FixedShapes shapes({{"a", "b"}, {"a", "b", "c"}});
  FragmentsReader reader;
  int decoded_in_part = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SeededRandom random(seed);
    std::vector<std::string> fragments, values(64);
    const uint64_t steps_count = 1 + random.Uniform(30);
    for (uint64_t i = 0; i < steps_count; ++i) {
      FamilyDelta delta;
      const size_t columns_count = random.Uniform(5) == 0 ? 3 : 2;
      std::vector<int64_t> times;
      const int64_t jitter = static_cast<int64_t>(random.Uniform(4));
      for (int64_t k = 1 + static_cast<int64_t>(random.Uniform(2)); k > 0; --k) {
        times.push_back((static_cast<int64_t>(i) + k + jitter) * 1000);
      }
      values[i] = std::to_string(i);
      for (size_t column = 0; column < columns_count; ++column) {
        for (const int64_t time : times) {
          const bool alone = column == 1 && times.size() == 1 && random.Uniform(20) == 0;
          const std::string_view qualifier = std::string_view("abc").substr(column, 1);
          delta.puts.push_back({qualifier, alone ? time + 5 : time, values[i]});
        }
      }
      EncodeFragment(delta, shapes, &fragments.emplace_back());
    }
    const std::string combined = CombineAll(fragments, shapes, true);
    Fragment whole;
    ASSERT_TRUE(DecodeFragment(combined, shapes, &whole).ok());
    std::vector<CellView> all;
    TakeCells(&whole, &all);
    ReadHints hints = RandomHints(all, &random);
    hints.newest_per_column = 1 + static_cast<int64_t>(random.Uniform(3));
    const std::vector<std::string_view> views(fragments.begin(), fragments.end());
    std::vector<CellView> read;
    ASSERT_TRUE(reader.Read(views, shapes, hints, &read).ok());
    ASSERT_EQ(ToText(Wanted(read, hints)), ToText(Wanted(all, hints))) << "seed " << seed;
    // What is not decoded cannot be found damaged.
    fragments[0].back() = '\xff';
    fragments[0].resize(fragments[0].size() - 1);
    const std::vector<std::string_view> damaged(fragments.begin(), fragments.end());
    if (reader.Read(damaged, shapes, hints, &read).ok()) {
      ++decoded_in_part;
      ASSERT_EQ(ToText(Wanted(read, hints)), ToText(Wanted(all, hints))) << "seed " << seed;
    }
  }
  EXPECT_GT(decoded_in_part, 200);
  EXPECT_LT(decoded_in_part, 1900);
}

// Any bytes are either a fragment, which encodes again to something that means the same, or DATA_LOSS.
// What settles is older than every fragment, and all that is left of it is cells.
TEST(Fragment, EditsOverCellsAreLikeEditsOverTheFragmentOfTheCells) {
  const FixedShapes shapes({{"a", "b"}, {"a"}, {"", "a", "ab"}});
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const auto kind = static_cast<AggregateKind>(seed % 4);
    Generator generator(seed, kind);
    std::vector<std::string> edits;
    for (int i = 0; i < 12; ++i) edits.push_back(Single(generator.Next(), kind, shapes));
    const auto middle = edits.begin() + static_cast<ptrdiff_t>(generator.random().Uniform(edits.size()));
    const std::string settled = CombineAll({edits.begin(), middle}, shapes, true);
    const std::string newer = CombineAll({middle, edits.end()}, shapes, false);
    Fragment of_settled, of_newer;
    ASSERT_TRUE(DecodeFragment(settled, shapes, &of_settled).ok());
    ASSERT_TRUE(DecodeFragment(newer, shapes, &of_newer).ok());
    std::vector<CellView> older, cells;
    TakeCells(&of_settled, &older);
    std::deque<std::string> states;
    ASSERT_TRUE(Overlay(FragmentEdits(of_newer), older, &states, &cells).ok());
    std::vector<std::tuple<std::string, int64_t, std::string>> result;
    for (const CellView& cell : cells) result.emplace_back(cell.qualifier, cell.timestamp_micros, cell.value);
    ASSERT_EQ(result, CellsOf(CombineAll(edits, shapes, true), shapes)) << "seed " << seed;

    FragmentsReader reader;
    const std::vector<std::string_view> views(middle, edits.end());
    ASSERT_TRUE(reader.ReadOver(older, views, shapes, {}, &cells).ok());
    result.clear();
    for (const CellView& cell : cells) result.emplace_back(cell.qualifier, cell.timestamp_micros, cell.value);
    ASSERT_EQ(result, CellsOf(CombineAll(edits, shapes, true), shapes)) << "seed " << seed;
  }
}

TEST(Fragment, DecodesOrRefusesAnyBytes) {
  const FixedShapes shapes({{"a", "b"}, {"a"}, {"", "a", "ab"}});
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator generator(seed, static_cast<AggregateKind>(seed % 4));
    std::vector<std::string> fragments;
    for (int i = 0; i < 6; ++i) {
      fragments.push_back(Single(generator.Next(), static_cast<AggregateKind>(seed % 4), shapes));
    }
    std::string bytes = CombineAll(fragments, shapes, false);
    for (int i = 0; i < 20; ++i) {
      std::string hurt = bytes;
      switch (generator.random().Uniform(3)) {
        case 0:
          hurt[generator.random().Uniform(hurt.size())] ^=
              static_cast<char>(1 << generator.random().Uniform(8));
          break;
        case 1:
          hurt.resize(generator.random().Uniform(hurt.size()));
          break;
        default:
          hurt.insert(generator.random().Uniform(hurt.size()), 1,
                      static_cast<char>(generator.random().Next()));
      }
      Fragment fragment;
      const absl::Status status = DecodeFragment(hurt, shapes, &fragment);
      if (!status.ok()) {
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
        continue;
      }
      std::string out;
      EXPECT_TRUE(Combine({hurt}, shapes, {.nothing_older = true}, &out).ok());
    }
  }
}

TEST(Fragment, SketchesCombineInAnyGrouping) {
  const NoShapes shapes;
  HllSketch all(AggregateKind::kHllInt64);
  std::vector<std::string> fragments;
  for (int64_t i = 0; i < 12; ++i) {
    const HllSketch one = HllSketch::Of(i % 5);
    all.Merge(one);
    FamilyDelta delta{.family = 1, .aggregate = AggregateKind::kHllInt64};
    delta.adds.push_back({"q", 1000, 0, one.Serialize()});
    EncodeFragment(delta, shapes, &fragments.emplace_back());
  }
  using Cells = std::vector<std::tuple<std::string, int64_t, std::string>>;
  const Cells want = {{"q", 1000, all.Serialize()}};
  EXPECT_EQ(CellsOf(CombineAll(fragments, shapes, true), shapes), want);
  SeededRandom random(1);
  while (fragments.size() > 1) {
    const size_t at = random.Uniform(fragments.size() - 1);
    fragments[at] = CombineAll({fragments[at], fragments[at + 1]}, shapes, false);
    fragments.erase(fragments.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  EXPECT_EQ(CellsOf(fragments[0], shapes), want);

  // A sketch that is none is damage.
  FamilyDelta bad{.family = 1, .aggregate = AggregateKind::kHllInt64};
  bad.adds.push_back({"q", 1000, 0, "no sketch"});
  std::string bytes, out;
  EncodeFragment(bad, shapes, &bytes);
  EXPECT_EQ(Combine({{bytes, fragments[0]}}, shapes, {}, &out).code(), absl::StatusCode::kDataLoss);
}

TEST(FragmentDeathTest, ADeltaThatIsNotInNormalFormEndsTheProgram) {
  const CellView newer{"q", 20, "v"}, older{"q", 10, "v"}, later_column{"r", 10, "v"};
  std::string bytes;
  const auto encode_puts = [&bytes](std::vector<CellView> puts) {
    EncodeFragment(FamilyDelta{.puts = std::move(puts)}, NoShapes(), &bytes);
  };
  EXPECT_DEATH(encode_puts({older, newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(encode_puts({newer, newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(encode_puts({later_column, newer}), "CHECK failed: .*qualifier");
  FamilyDelta deletes{.deletes = {{"r", {}}, {"q", {}}}};
  EXPECT_DEATH(EncodeFragment(deletes, NoShapes(), &bytes), "CHECK failed: .*qualifier");
}

}  // namespace
}  // namespace sonde
