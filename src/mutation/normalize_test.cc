#include "mutation/normalize.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>

#include "base/random.h"
#include "base/varint.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"
#include "model/limits.h"

namespace sonde {
namespace {

TableSchema Schema() {
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/t";
  schema.families = {{.name = "a", .id = 5},
                     {.name = "b", .id = 2},
                     {.name = "names", .id = 10, .aggregate = AggregateKind::kHllBytes},
                     {.name = "numbers", .id = 11, .aggregate = AggregateKind::kHllInt64},
                     {.name = "sum", .id = 9, .aggregate = AggregateKind::kSum}};
  return schema;
}

RowDelta Normal(const std::vector<Mutation>& mutations, int64_t now_micros = 1'234'567,
                const TableSchema& schema = Schema()) {
  RowDelta delta;
  const absl::Status status = Normalize(schema, "row-1", mutations, now_micros, &delta);
  EXPECT_TRUE(status.ok()) << status;
  return delta;
}

TableSchema SchemaOfMicros() {
  TableSchema schema = Schema();
  schema.granularity = TimestampGranularity::kMicros;
  return schema;
}

absl::Status Error(const std::vector<Mutation>& mutations) {
  RowDelta delta;
  return Normalize(Schema(), "row-1", mutations, 0, &delta);
}

TEST(Normalize, PutsSortByColumnAndNewestFirst) {
  const RowDelta delta = Normal({SetCell{"a", "q", 1000, "1"}, SetCell{"b", "x", 0, ""},
                                 SetCell{"a", "q", 3000, "3"}, SetCell{"a", "p", 2000, "2"}});
  ASSERT_EQ(delta.families.size(), 2u);
  EXPECT_EQ(delta.families[0].family, 2u);  // by id
  EXPECT_EQ(delta.families[1].puts,
            (std::vector<CellView>{{"p", 2000, "2"}, {"q", 3000, "3"}, {"q", 1000, "1"}}));
}

TEST(Normalize, RowsAfterEachOtherNeedNotNameTheSameColumns) {
  const auto columns = [](const std::string& names) {
    std::vector<Mutation> mutations;
    for (size_t i = 0; i < names.size(); ++i) {
      mutations.push_back(SetCell{"a", std::string_view(names).substr(i, 1), 1000,
                                  std::string_view("0123456789").substr(i, 1)});
    }
    const RowDelta delta = Normal(mutations);
    std::string sorted;
    for (const CellView& cell : delta.families[0].puts) sorted.append(cell.qualifier).append(cell.value);
    return sorted;
  };
  EXPECT_EQ(columns("dbca"), "a3b1c2d0");
  EXPECT_EQ(columns("dbca"), "a3b1c2d0");
  EXPECT_EQ(columns("hfge"), "e3f1g2h0");  // likewise ordered
  EXPECT_EQ(columns("acbd"), "a0b2c1d3");  // not
  EXPECT_EQ(columns("acca"), "a3c2");      // the later of two of a cell
  EXPECT_EQ(columns("acca"), "a3c2");
  EXPECT_EQ(columns("abcd"), "a0b1c2d3");
  EXPECT_EQ(columns("dbcae"), "a3b1c2d0e4");
}

TEST(Normalize, ARowLikeTheOneBeforeIsCheckedAsThatWas) {
  const std::vector<Mutation> row = {SetCell{"b", "y", 2000, "1"}, SetCell{"a", "q", 1000, "2"},
                                     SetCell{"b", "x", 1000, "3"}};
  const RowDelta expected = Normal(row);
  ASSERT_EQ(expected.families.size(), 2u);
  EXPECT_EQ(Normal(row), expected);
  for (size_t i = 0; i < row.size(); ++i) {
    const auto with = [&](auto change) {
      std::vector<Mutation> changed = row;
      change(&std::get<SetCell>(changed[i]));
      return changed;
    };
    EXPECT_EQ(Error(with([](SetCell* m) { m->family = "none"; })).code(), absl::StatusCode::kNotFound);
    EXPECT_TRUE(IsTypeMismatch(Error(with([](SetCell* m) { m->family = "sum"; }))));
    EXPECT_EQ(Error(with([](SetCell* m) { m->timestamp_micros = 1001; })).code(),
              absl::StatusCode::kInvalidArgument);
    const RowDelta of_server = Normal(with([](SetCell* m) { m->timestamp_micros = kServerTimestamp; }));
    const RowDelta truncated = Normal(with([](SetCell* m) {
      m->timestamp_micros = 1'234'001;
      m->client_generated_timestamp = true;
    }));
    EXPECT_EQ(of_server, truncated);
    EXPECT_NE(of_server, expected);
    EXPECT_EQ(Normal(row), expected);
  }
}

TEST(Normalize, TheLaterOfTwoPutsOfACellWins) {
  EXPECT_EQ(Normal({SetCell{"a", "q", 1000, "1"}, SetCell{"a", "q", 1000, "2"}}).families[0].puts,
            (std::vector<CellView>{{"q", 1000, "2"}}));
}

TEST(Normalize, APutSurvivesADeleteBeforeItAndNotOneAfterIt) {
  const RowDelta delta = Normal(
      {SetCell{"a", "q", 1000, "gone"}, DeleteFromColumn{"a", "q", {}}, SetCell{"a", "q", 2000, "here"}});
  EXPECT_EQ(delta.families[0].deletes, (std::vector<FamilyDelta::ColumnDelete>{{"q", {}}}));
  EXPECT_EQ(delta.families[0].puts, (std::vector<CellView>{{"q", 2000, "here"}}));
}

TEST(Normalize, DeletingTheRowDeletesEveryFamily) {
  const RowDelta delta =
      Normal({SetCell{"a", "q", 1000, "gone"}, DeleteFromRow{}, SetCell{"b", "q", 1000, "here"}});
  ASSERT_EQ(delta.families.size(), 5u);
  for (const FamilyDelta& family : delta.families) EXPECT_TRUE(family.delete_all);
  EXPECT_TRUE(delta.families[1].puts.empty());
  EXPECT_EQ(delta.families[0].puts.size(), 1u);
}

TEST(Normalize, DeletesOfAColumnJoin) {
  EXPECT_EQ(
      Normal({DeleteFromColumn{"a", "q", {1000, 3000}}, DeleteFromColumn{"a", "q", {2000, 4000}},
              DeleteFromColumn{"a", "q", {9000, 0}}, DeleteFromColumn{"a", "p", {0, 1000}}})
          .families[0]
          .deletes,
      (std::vector<FamilyDelta::ColumnDelete>{{"p", {0, 1000}}, {"q", {1000, 4000}}, {"q", {9000, 0}}}));
}

TEST(Normalize, AddsFold) {
  const std::string state(std::string("\0\0\0\0\0\0\0\x07", 8));
  EXPECT_EQ(Normal({AddToCell{"sum", "q", 1000, 3}, MergeToCell{"sum", "q", 1000, state},
                    AddToCell{"sum", "q", 0, -1}})
                .families[0]
                .adds,
            (std::vector<FamilyDelta::Add>{{"q", 1000, 10}, {"q", 0, -1}}));
}

TEST(Normalize, SketchesFold) {
  HllSketch numbers = HllSketch::Of(1);
  const std::string state = HllSketch::Of(2).Serialize();
  numbers.Merge(HllSketch::Of(2));
  numbers.Merge(HllSketch::Of(1));
  EXPECT_EQ(Normal({AddToCell{"numbers", "q", 1000, 1}, MergeToCell{"numbers", "q", 1000, state},
                    AddToCell{"numbers", "q", 1000, 1}, AddToCell{"numbers", "p", 0, {}}})
                .families[0]
                .adds,
            (std::vector<FamilyDelta::Add>{{"p", 0, 0, HllSketch(AggregateKind::kHllInt64).Serialize()},
                                           {"q", 1000, 0, numbers.Serialize()}}));
  EXPECT_EQ(Normal({AddToCell{"names", "q", 0, "a"}}).families[0].adds[0].sketch,
            HllSketch::Of("a").Serialize());
}

TEST(Normalize, AnInputIsOfItsFamilysType) {
  const auto must_use = [](std::string_view field) {
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'Mutation list' : Error in element #1 : Error in field 'input' : must use `{}`",
        field));
  };
  const Mutation good = AddToCell{"sum", "q", 0, 1};
  EXPECT_EQ(Error({good, AddToCell{"sum", "q", 0, "text"}}), must_use("int_value"));
  EXPECT_EQ(Error({good, AddToCell{"numbers", "q", 0, "text"}}), must_use("int_value"));
  EXPECT_EQ(Error({good, AddToCell{"names", "q", 0, 1}}), must_use("bytes_value"));
  const std::string of_numbers = HllSketch::Of(1).Serialize();
  for (const std::string_view state : {std::string_view("12345678"), std::string_view(of_numbers)}) {
    const absl::Status status = Error({MergeToCell{"names", "q", 0, state}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("no HLL++ sketch"));
  }
}

TEST(Normalize, MergingNullChangesNothingButIsChecked) {
  EXPECT_TRUE(Normal({MergeToCell{"sum", "q", 0, std::nullopt}}).families.empty());
  EXPECT_TRUE(Normal({MergeToCell{"numbers", "q", 0, std::nullopt}}).families.empty());
  EXPECT_EQ(Error({MergeToCell{"none", "q", 0, std::nullopt}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Error({MergeToCell{"a", "q", 0, std::nullopt}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Error({MergeToCell{"sum", "q", 1, std::nullopt}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Normalize, TheServersTimeIsTruncatedToMilliseconds) {
  EXPECT_EQ(Normal({SetCell{"a", "q", kServerTimestamp, ""}}).families[0].puts[0].timestamp_micros,
            1'234'000);
  EXPECT_EQ(Normal({SetCell{"a", "q", 1'234'567, "", true}}).families[0].puts[0].timestamp_micros, 1'234'000);
  const std::string state(8, '\0');
  EXPECT_EQ(
      Normal({AddToCell{"sum", "q", 1'234'567, 1, true}, MergeToCell{"sum", "p", 1'234'567, state, true}})
          .families[0]
          .adds,
      (std::vector<FamilyDelta::Add>{{"p", 1'234'000, 0}, {"q", 1'234'000, 1}}));
}

TEST(Normalize, TheGreatestTimestampIsOneOfMicroseconds) {
  const auto normal = [](const std::vector<Mutation>& mutations) {
    return Normal(mutations, 0, SchemaOfMicros()).families[0];
  };
  const Mutation last = SetCell{"a", "q", INT64_MAX, "last"};
  const std::vector<CellView> put = {{"q", INT64_MAX, "last"}};
  EXPECT_EQ(normal({last}).puts, put);
  // A range without an end holds it, whichever comes later.
  EXPECT_TRUE(normal({last, DeleteFromColumn{"a", "q", {}}}).puts.empty());
  EXPECT_EQ(normal({DeleteFromColumn{"a", "q", {}}, last}).puts, put);
  EXPECT_TRUE(normal({last, DeleteFromColumn{"a", "q", {INT64_MAX, 0}}}).puts.empty());
  // A range that ends at it does not, and does not become one without an end.
  const FamilyDelta up_to_it = normal({last, DeleteFromColumn{"a", "q", {1, INT64_MAX}}});
  EXPECT_EQ(up_to_it.puts, put);
  EXPECT_EQ(up_to_it.deletes, (std::vector<FamilyDelta::ColumnDelete>{{"q", {1, INT64_MAX}}}));
  EXPECT_EQ(normal({DeleteFromColumn{"a", "q", {1, INT64_MAX}}, DeleteFromColumn{"a", "q", {INT64_MAX, 0}}})
                .deletes,
            (std::vector<FamilyDelta::ColumnDelete>{{"q", {1, 0}}}));
}

TEST(Normalize, OfMillisecondsTheGreatestTimestampIsCutOrRefused) {
  constexpr int64_t kCut = 9'223'372'036'854'775'000;
  EXPECT_EQ(Normal({SetCell{"a", "q", INT64_MAX, "", true}}).families[0].puts[0].timestamp_micros, kCut);
  EXPECT_EQ(Normal({SetCell{"a", "q", kCut, ""}}).families[0].puts[0].timestamp_micros, kCut);
  EXPECT_EQ(Normal({AddToCell{"sum", "q", INT64_MAX, 1, true}}).families[0].adds[0].timestamp_micros, kCut);
  EXPECT_EQ(Error({SetCell{"a", "q", INT64_MAX, ""}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Normalize, RefusesWithProductionsWords) {
  const std::string head = "Error while mutating the row 'row-1' (projects/p/instances/i/tables/t) : ";
  EXPECT_EQ(Error({SetCell{"none", "q", 0, ""}}),
            absl::NotFoundError(head + "Requested column family not found."));
  EXPECT_EQ(Error({DeleteFromFamily{"none"}}),
            absl::NotFoundError(head + "Requested column family not found."));
  EXPECT_EQ(Error({SetCell{"sum", "q", 0, ""}}),
            absl::InvalidArgumentError(head + "Column family type mismatch"));
  EXPECT_EQ(Error({AddToCell{"a", "q", 0, 1}}),
            absl::InvalidArgumentError(head + "Column family type mismatch"));
  EXPECT_EQ(Error({SetCell{"a", "q", 1001, ""}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Error({MergeToCell{"sum", "q", 0, "seven.."}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Normalize, RangesOfTimestampsHaveTheTablesGranularity) {
  const absl::Status refused = absl::InvalidArgumentError(
      "Error while mutating the row 'row-1' (projects/p/instances/i/tables/t) : Timestamp granularity "
      "mismatch. Expected a multiple of 1000 (millisecond granularity), but got 1001.");
  EXPECT_EQ(Error({DeleteFromColumn{"a", "q", {1001, 0}}}), refused);
  EXPECT_EQ(Error({DeleteFromColumn{"a", "q", {0, 1001}}}), refused);
  EXPECT_EQ(Error({DeleteFromColumn{"a", "q", {1000, 2000}}, DeleteFromColumn{"a", "q", {1000, 1001}}}),
            refused);
  EXPECT_EQ(Normal({DeleteFromColumn{"a", "q", {1001, 1002}}}, 0, SchemaOfMicros()).families[0].deletes,
            (std::vector<FamilyDelta::ColumnDelete>{{"q", {1001, 1002}}}));
}

TEST(Normalize, ATableWithoutFamiliesHasNoRowToDelete) {
  TableSchema schema = Schema();
  schema.families.clear();
  const std::vector<Mutation> mutations = {DeleteFromRow{}};
  RowDelta delta;
  EXPECT_EQ(Normalize(schema, "row-1", mutations, 0, &delta),
            absl::NotFoundError("Error while mutating the row 'row-1' (projects/p/instances/i/tables/t) : "
                                "Requested column family not found."));
}

// Hostile: must not be quadratic.
TEST(Normalize, ManyDeletesAndPutsOfOneColumnAreQuick) {
  std::vector<Mutation> mutations;
  for (int64_t i = 0; i < 50'000; ++i) {
    mutations.push_back(SetCell{"a", "q", i * 1000, ""});
    mutations.push_back(DeleteFromColumn{"a", "q", {i * 2000, i * 2000 + 1000}});
  }
  const RowDelta delta = Normal(mutations);
  EXPECT_EQ(delta.families[0].deletes.size(), 50'000u);
}

// 100,000 mutations of one row of a table of a thousand families: each kind alone, and after each a
// DeleteFromRow.  All of them together took minutes when each DeleteFromRow asked each family.
class LargeRequestTest : public testing::Test {
 protected:
  static constexpr size_t kFamilies = 1'000;

  static std::vector<std::vector<Mutation>> Units() {
    static const std::string sketch = HllSketch::Of(int64_t{7}).Serialize();
    return {{DeleteFromRow{}},
            {DeleteFromFamily{"f1000"}},
            {DeleteFromColumn{"f1000", "q", {}}},
            {DeleteFromColumn{"f1000", "q", {1000, 2000}}, DeleteFromColumn{"f1000", "q", {0, 0}}},
            {SetCell{"f1000", "q", 0, "v"}},
            {SetCell{"f1000", "q", 0, "v"}, SetCell{"f1997", "p", 0, "v"}},
            {AddToCell{"sum", "q", 0, int64_t{1}}},
            {MergeToCell{"sum", "q", 0, "12345678"}},
            {AddToCell{"unique", "q", 0, int64_t{1}}},
            {MergeToCell{"unique", "q", 0, sketch}},
            {SetCell{"f1000", "q", 0, "v"}, DeleteFromFamily{"f1000"}}};
  }
  static TableSchema WideSchema() {
    TableSchema schema;
    for (FamilyId id = 1'000; id < 1'000 + kFamilies - 2; ++id) {
      schema.families.push_back({.name = fmt::format("f{}", id), .id = id});
    }
    schema.families.push_back({.name = "sum", .id = 1, .aggregate = AggregateKind::kSum});
    schema.families.push_back({.name = "unique", .id = 2, .aggregate = AggregateKind::kHllInt64});
    return schema;
  }
  static RowDelta Take(const std::vector<Mutation>& mutations) {
    RowDelta delta;
    const std::clock_t start = std::clock();
    EXPECT_EQ(Normalize(WideSchema(), "r", mutations, 0, &delta), absl::OkStatus());
    EXPECT_LT((std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC), 2.0) << "s of CPU time";
    return delta;
  }
};

class LargeRequestOf : public LargeRequestTest, public testing::WithParamInterface<size_t> {};

TEST_P(LargeRequestOf, CostsNoMoreThanItsMutations) {
  std::vector<Mutation> unit = Units()[GetParam()];
  for (const bool deletes_rows : {false, true}) {
    if (deletes_rows) unit.push_back(DeleteFromRow{});
    std::vector<Mutation> mutations;
    while (mutations.size() + unit.size() <= kMutationsPerRequestMax) {
      mutations.insert(mutations.end(), unit.begin(), unit.end());
    }
    const RowDelta delta = Take(mutations);
    size_t edits = 0;
    for (const FamilyDelta& family : delta.families) {
      edits += family.deletes.size() + family.puts.size() + family.adds.size();
      EXPECT_TRUE(!deletes_rows || family.delete_all);
    }
    EXPECT_LE(edits, deletes_rows ? 0 : 2);
    EXPECT_TRUE(!deletes_rows || delta.families.size() == kFamilies);
  }
}

INSTANTIATE_TEST_SUITE_P(Units, LargeRequestOf, testing::Range<size_t>(0, 11));

TEST_F(LargeRequestTest, OfSketchesOfManyValuesIsQuick) {
  std::vector<Mutation> mutations;
  for (size_t i = 0; i < kMutationsPerRequestMax; ++i) {
    mutations.push_back(AddToCell{"unique", "q", 0, static_cast<int64_t>(i)});
  }
  EXPECT_EQ(Take(mutations).families[0].adds.size(), 1u);
}

TEST_F(LargeRequestTest, OverAllFamiliesIsQuick) {
  std::vector<std::string> names;
  for (const FamilySchema& family : WideSchema().families) names.push_back(family.name);
  std::vector<Mutation> mutations;
  for (size_t i = 0; i < kMutationsPerRequestMax; ++i) {
    mutations.push_back(SetCell{names[i * 7 % (kFamilies - 2)], "q", 0, "v"});
  }
  EXPECT_EQ(Take(mutations).families.size(), kFamilies - 2);
}

using Cells = std::map<std::tuple<FamilyId, std::string, int64_t>, std::string>;

void ApplyNaively(const Mutation& mutation, const TableSchema& schema, Cells* cells) {
  const auto erase = [&](FamilyId id, const std::string* qualifier, TimeRange range) {
    std::erase_if(*cells, [&](const auto& cell) {
      const auto& [family, column, micros] = cell.first;
      return family == id && (qualifier == nullptr || column == *qualifier) && range.Contains(micros);
    });
  };
  if (const auto* set = std::get_if<SetCell>(&mutation)) {
    (*cells)[{schema.FindFamily(set->family)->id, std::string(set->qualifier), set->timestamp_micros}] =
        set->value;
  } else if (const auto* add = std::get_if<AddToCell>(&mutation)) {
    std::string& cell =
        (*cells)[{schema.FindFamily(add->family)->id, std::string(add->qualifier), add->timestamp_micros}];
    const int64_t state =
        FoldAggregate(AggregateKind::kSum, DecodeAggregateState(cell), std::get<int64_t>(add->input));
    cell.clear();
    PutFixed64(&cell, static_cast<uint64_t>(state));
  } else if (const auto* column = std::get_if<DeleteFromColumn>(&mutation)) {
    const std::string qualifier(column->qualifier);
    erase(schema.FindFamily(column->family)->id, &qualifier, column->time_range);
  } else if (const auto* family = std::get_if<DeleteFromFamily>(&mutation)) {
    erase(schema.FindFamily(family->family)->id, nullptr, {});
  } else {
    cells->clear();
  }
}

void ApplyDelta(const RowDelta& delta, Cells* cells) {
  for (const FamilyDelta& family : delta.families) {
    std::erase_if(*cells, [&](const auto& cell) {
      const auto& [id, column, micros] = cell.first;
      if (id != family.family) return false;
      if (family.delete_all) return true;
      for (const auto& del : family.deletes) {
        if (del.qualifier == column && del.time_range.Contains(micros)) return true;
      }
      return false;
    });
    for (const CellView& put : family.puts) {
      (*cells)[{family.family, std::string(put.qualifier), put.timestamp_micros}] = put.value;
    }
    for (const auto& add : family.adds) {
      std::string& cell = (*cells)[{family.family, std::string(add.qualifier), add.timestamp_micros}];
      const int64_t state = FoldAggregate(family.aggregate, DecodeAggregateState(cell), add.state);
      cell.clear();
      PutFixed64(&cell, static_cast<uint64_t>(state));
    }
  }
}

bool IsBefore(const CellView& a, const CellView& b) {
  if (a.qualifier != b.qualifier) return a.qualifier < b.qualifier;
  return a.timestamp_micros > b.timestamp_micros;
}

TEST(Normalize, RandomListsDoWhatTheirMutationsDoOneByOne) {
  const TableSchema schema = Schema();
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SeededRandom random(seed);
    const auto list = [&](size_t count, bool only_puts) {
      std::vector<Mutation> mutations;
      static const char* kQualifiers[] = {"", "p", "q"};
      while (count-- > 0) {
        const char* family = random.Uniform(2) ? "a" : "b";
        const char* qualifier = kQualifiers[random.Uniform(3)];
        const int64_t micros = static_cast<int64_t>(random.Uniform(6)) * 1000;
        switch (only_puts ? 11 : random.Uniform(12)) {
          case 0:
            mutations.push_back(DeleteFromFamily{family});
            break;
          case 1:
            mutations.push_back(DeleteFromRow{});  // often twice in a list
            break;
          case 2:
          case 3:
          case 4:
            mutations.push_back(DeleteFromColumn{
                random.Uniform(4) ? family : "sum",
                qualifier,
                {micros,
                 random.Uniform(3) ? micros + 1000 + static_cast<int64_t>(random.Uniform(3)) * 1000 : 0}});
            break;
          case 5:
          case 6:
            mutations.push_back(
                AddToCell{"sum", qualifier, micros, static_cast<int64_t>(random.Uniform(100))});
            break;
          default:
            mutations.push_back(SetCell{family, qualifier, micros, random.Uniform(2) ? "v" : "w"});
        }
      }
      return mutations;
    };
    Cells expected, got;
    for (int round = 0; round < 3; ++round) {
      const bool only_puts = random.Uniform(2) != 0;
      std::vector<Mutation> mutations = list(1 + random.Uniform(only_puts ? 5 : 12), only_puts);
      for (int row = 0; row < 4; ++row) {  // the first of a kind, one like it, and two that differ somewhere
        if (row >= 2) mutations[random.Uniform(mutations.size())] = list(1, row == 2)[0];
        for (const Mutation& mutation : mutations) ApplyNaively(mutation, schema, &expected);
        const RowDelta delta = Normal(mutations);
        for (const FamilyDelta& family : delta.families) {
          ASSERT_TRUE(std::is_sorted(family.puts.begin(), family.puts.end(), IsBefore));
        }
        ApplyDelta(delta, &got);
        ASSERT_EQ(got, expected);
      }
    }
  }
}

}  // namespace
}  // namespace sonde
