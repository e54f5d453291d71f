#include "table/tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

#include "engine/forwarding_engine.h"
#include "engine/memory/memory_engine.h"
#include "model/limits.h"
#include "table/local_tables.h"
#include "table/mutate_row_test_support.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

TEST_F(TablesTest, FamiliesComeByName) {
  Put("r", {SetCell{"z", "q", 0, "1"}, SetCell{"last", "q", 0, "2"}, SetCell{"day", "q", kNow, "3"}});
  EXPECT_EQ(Read({}), "r: day:q=3 last:q=2 z:q=1\n");
}

// Writers that read rows first wait for each other, whoever made their access.
TEST_F(TablesTest, AccessesOfTheSameTablesShareTheMutexOfMerging) {
  LocalTables one(&tables_, "projects/p/instances/i"), other(&tables_, "projects/p/instances/j");
  EXPECT_EQ(&one.merging(), &other.merging());
  Tables others(engine_.get(), catalog_.get(), &clock_, /*seed=*/2);
  EXPECT_NE(&one.merging(), &LocalTables(&others, "projects/p/instances/i").merging());
}

TEST_F(TablesTest, AReadGoesOnWhereItWasSuspended) {
  for (const char* row : {"a", "ab", "b", "c", "d", "da", "e"}) {
    Put(row, {SetCell{"z", "q", 0, row}, SetCell{"last", "q", 0, "x"}});
  }
  const std::vector<RowRange> ranges = {RowRange{"a", "b"}, RowRange::Single("c"), RowRange{"d", ""}};
  for (const bool reversed : {false, true}) {
    for (const int64_t limit : {0, 3}) {
      for (const auto& filter : {Filter(FilterSpec{FilterSpec::RowKeyRegex{".a|[bce]"}}),
                                 Filter(FilterSpec{FilterSpec::PassAll{}})}) {
        const ReadRequest request{
            .ranges = ranges, .filter = filter, .rows_limit = limit, .reversed = reversed};
        const std::string rows = Read(request);
        EXPECT_EQ(Read(request, /*suspend=*/true), rows);
        EXPECT_NE(rows, "");
      }
    }
  }
}

TEST_F(TablesTest, ForgottenCellsAreNeverReturned) {
  Put("r",
      {SetCell{"last", "q", 1000, "1"}, SetCell{"last", "q", 2000, "2"}, SetCell{"last", "q", 3000, "3"}});
  Put("old", {SetCell{"day", "q", kNow - 86'401 * kSecond, "x"}});
  EXPECT_EQ(Read({}), "r: last:q=3 last:q=2\n");
  Put("new", {SetCell{"day", "q", kNow, "x"}});
  EXPECT_EQ(Read({}), "new: day:q=x\nr: last:q=3 last:q=2\n");
  clock_.Advance(86'401 * kSecond);
  EXPECT_EQ(Read({}), "r: last:q=3 last:q=2\n");
}

TEST_F(TablesTest, AForgottenCellDoesNotMatchAPredicate) {
  Put("r", {SetCell{"day", "q", kNow - 86'401 * kSecond, "x"}});
  const std::vector<Mutation> mark = {SetCell{"z", "matched", 0, ""}}, not_mark = {SetCell{"z", "no", 0, ""}};
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", {nullptr, mark, not_mark}), false);
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", {nullptr, mark, not_mark}), true);
  EXPECT_EQ(Read({}), "r: z:matched= z:no=\n");
}

// What the table has to say to mutations, it says to those that are taken.
TEST_F(TablesTest, ABranchThatIsNotTakenMayNameAnything) {
  Put("r", {SetCell{"z", "q", 0, "v"}});
  const std::vector<Mutation> mark = {SetCell{"z", "q", 0, "marked"}};
  const std::string head = "Error while mutating the row '{}' (projects/p/instances/i/tables/t) : ";
  const std::string unknown = head + "Requested column family not found.",
                    mismatch = head + "Column family type mismatch";
  const std::pair<std::vector<Mutation>, std::string> wrongs[] = {
      {{SetCell{"nowhere", "q", 0, "v"}}, unknown},
      {{DeleteFromFamily{"nowhere"}}, unknown},
      {{SetCell{"sum", "q", 0, "v"}}, mismatch},
      {{SetCell{"z", "q", 1, "v"}}, ""},
      {{DeleteFromColumn{"z", "q", {1, 0}}}, ""}};
  for (const auto& [wrong, text] : wrongs) {
    EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", {nullptr, mark, wrong}), true);
    EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "s", {nullptr, wrong, {}}), false);
    for (const char* row : {"r", "s"}) {
      const absl::Status status = tables_.CheckAndMutateRow(schema_, row, {nullptr, wrong, wrong}).status();
      EXPECT_FALSE(status.ok());
      const std::string wanted =
          text.empty() ? std::string(status.message()) : fmt::format(fmt::runtime(text), row);
      EXPECT_EQ(status.message(), wanted);
    }
  }
  EXPECT_EQ(Read({}), "r: z:q=marked\n");
}

// An engine may give a family in pieces, also in the middle of a column.
TEST_F(TablesTest, VersionsAreCountedAcrossPieces) {
  const auto engine = MemoryEngine::Create({.honour_hints = false, .cells_per_piece_max = 1});
  const auto catalog = *Catalog::Open(engine.get());
  Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/t";
  schema.families = {{.name = "last", .gc_rule = {GcRule::MaxVersions{2}}}};
  const TableSchemaRef created = *catalog->Create(schema);
  const std::vector<Mutation> mutations = {SetCell{"last", "p", 1000, "0"}, SetCell{"last", "q", 1000, "1"},
                                           SetCell{"last", "q", 2000, "2"}, SetCell{"last", "q", 3000, "3"},
                                           SetCell{"last", "r", 1000, "4"}};
  ASSERT_TRUE(MutateRow(tables, *created, {"r", mutations}).ok());
  auto reader = tables.Read(created, {.ranges = {RowRange::All()}});
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(*(*reader)->Next(1), RowReader::Step::kRow);
  std::string values;
  for (const FilterCell& cell : (*reader)->cells()) values += cell.cell.value;
  EXPECT_EQ(values, "0324");
}

TEST_F(TablesTest, TellsInWhoseNameAWholeTableIsRead) {
  class Scans final : public AccessObserver {
   public:
    void OnAccess(TableId, const AccessPart&) override {}
    void OnFullScan(TableId, const FullScan& scan) override { callers.push_back(scan.caller); }
    std::vector<std::string> TabletStarts(TableId) override { return {}; }
    std::vector<std::string> callers;
  };
  Put("r", {SetCell{"z", "q", 1000, "1"}});
  Scans scans;
  Tables watched(engine_.get(), catalog_.get(), &clock_, /*seed=*/1, &scans);
  const auto read = [&](LocalTables tables) {
    ASSERT_TRUE(tables.ReadRows("t", {.ranges = {RowRange::All()}}, [](ReadRow&&) { return true; }).ok());
    const NumberRead numbers{.ranges = {RowRange::All()}, .family = "z", .columns = {{.qualifier = "q"}}};
    ASSERT_TRUE(tables.numbers()->Read("t", numbers, [](const NumberRow&) { return true; }).ok());
  };
  read(LocalTables(&watched, "projects/p/instances/i", "nightly-report from 10.0.0.7"));
  read(LocalTables(&watched, "projects/p/instances/i"));
  EXPECT_THAT(scans.callers,
              testing::ElementsAre("nightly-report from 10.0.0.7", "nightly-report from 10.0.0.7",
                                   "Sonde itself", "Sonde itself"));
}

TEST_F(TablesTest, LocalTablesListFamiliesAndGiveThemOtherRules) {
  LocalTables tables(&tables_, "projects/p/instances/i");
  EXPECT_TRUE(absl::IsNotFound(tables.ListFamilies("other").status()));
  EXPECT_TRUE(absl::IsNotFound(tables.UpdateFamilies("other", {})));
  const GcRule age{GcRule::MaxAge{kSecond}};
  ASSERT_TRUE(tables.EnsureTable("other", {{"a", age}, {"b", {}}}).ok());
  ASSERT_TRUE(tables.EnsureTable("other", {{"b", age}}).ok());  // what is there stays as it is
  ASSERT_TRUE(tables.UpdateFamilies("other", {{"a", GcRule{GcRule::MaxVersions{2}}}}).ok());
  const auto families = tables.ListFamilies("other").value();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].gc_rule, GcRule{GcRule::MaxVersions{2}});
  EXPECT_EQ(families[1].gc_rule, GcRule{});
}

TEST_F(TablesTest, LimitsCountRowsThatPass) {
  for (const char* row : {"a", "b", "c", "d"}) Put(row, {SetCell{"z", "q", 0, row}});
  const auto not_b = Filter({FilterSpec::ValueRegex{"[acd]"}});
  EXPECT_EQ(Read({.filter = not_b, .rows_limit = 2}), "a: z:q=a\nc: z:q=c\n");
  EXPECT_EQ(Read({.filter = not_b, .rows_limit = 2, .reversed = true}), "d: z:q=d\nc: z:q=c\n");
  EXPECT_EQ(Read({.ranges = {{"b", "c"}, {"d", ""}}}), "b: z:q=b\nd: z:q=d\n");
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::RowKeyRegex{"b|d"}})}), "b: z:q=b\nd: z:q=d\n");
}

TEST_F(TablesTest, AFilterThatNamesAFamilyThatIsNotThereIsRefused) {
  Put("a", {SetCell{"z", "q", 0, "v"}});
  const std::string missing =
      "NOT_FOUND: Error while reading table 'projects/p/instances/i/tables/t' : Requested column family not "
      "found";
  const FilterSpec none{FilterSpec::FamilyRegex{"none"}}, all{FilterSpec::PassAll{}};
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::ColumnRange{"none"}})}), missing);
  EXPECT_EQ(Read({.filter = Filter(none)}), missing);
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::Chain{{all, none}}})}), missing);
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::Interleave{{none, all}}})}), missing);
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::FamilyRegex{"none|z"}})}), "a: z:q=v\n");
  const std::vector<Mutation> set = {SetCell{"z", "q", 0, "w"}};
  EXPECT_EQ(tables_.CheckAndMutateRow(schema_, "a", {Filter(none), set, set}).status().ToString(), missing);
}

// Goes on by a second with each reading; somebody comes in between at the first.
class InterruptedClock final : public Clock {
 public:
  explicit InterruptedClock(std::function<void()> interrupt) : interrupt_(std::move(interrupt)) {}
  int64_t NowMicros() const override {
    const int64_t now = now_.fetch_add(kSecond);
    if (now == kNow) interrupt_();
    return now;
  }

 private:
  const std::function<void()> interrupt_;
  mutable std::atomic<int64_t> now_ = kNow;
};

TEST_F(TablesTest, ServerTimesAreInTheOrderOfTheChangesOfARow) {
  const auto set = [](std::string_view value) {
    return std::vector<Mutation>{SetCell{"last", "q", kServerTimestamp, value}};
  };
  const auto is_write = Filter({FilterSpec::ValueRegex{"write"}});
  std::future<absl::StatusOr<bool>> matched;
  Tables* tables = nullptr;
  const auto interrupt = [&] {
    matched = std::async(std::launch::async, [&] {
      return tables->CheckAndMutateRow(schema_, "r", {is_write, set("after"), set("before")});
    });
    // It would be done long before, were it not the write's turn.
    matched.wait_for(std::chrono::milliseconds(50));
  };
  const InterruptedClock clock(interrupt);
  Tables interrupted(engine_.get(), catalog_.get(), &clock, /*seed=*/1);
  tables = &interrupted;
  const std::vector<Mutation> write = set("write");
  ASSERT_TRUE(MutateRow(interrupted, *schema_, {"r", write}).ok());
  EXPECT_EQ(*matched.get(), true);
  EXPECT_EQ(Read({}), "r: last:q=after last:q=write\n");
}

TEST_F(TablesTest, IncrementsAndAppends) {
  using Rule = ReadModifyWriteRule;
  const std::vector<Rule> rules = {{"z", "n", Rule::Increment{5}},
                                   {"z", "n", Rule::Increment{-7}},
                                   {"last", "s", Rule::Append{"ab"}},
                                   {"last", "s", Rule::Append{"c"}}};
  const auto written = tables_.ReadModifyWriteRow(schema_, "r", rules);
  ASSERT_TRUE(written.ok()) << written.status();
  ASSERT_EQ(written->size(), 2u);
  EXPECT_EQ((*written)[0].value, "abc");
  EXPECT_EQ((*written)[1].value, std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
  EXPECT_EQ((*written)[1].timestamp_micros, kNow);

  // One rule that fails fails them all.
  const std::vector<Rule> bad = {{"z", "n", Rule::Increment{1}}, {"last", "s", Rule::Increment{1}}};
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "r", bad).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Read({}), "r: last:s=abc z:n=\xff\xff\xff\xff\xff\xff\xff\xfe\n");
}

TEST_F(TablesTest, OnlyAnUnsetCellIsZero) {
  using Rule = ReadModifyWriteRule;
  Put("r", {SetCell{"z", "empty", 0, ""}});
  const std::vector<Rule> stored = {{"z", "empty", Rule::Increment{1}}};
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "r", stored).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const std::vector<Rule> appended = {{"z", "n", Rule::Append{""}}, {"z", "n", Rule::Increment{1}}};
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "r", appended).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Read({}), "r: z:empty=\n");
}

// As many rules as a request may have, on a row that has as many cells: this takes a moment, not minutes.
TEST_F(TablesTest, ReadModifyWriteFindsTheColumnsOfManyRulesAmongManyCells) {
  using Rule = ReadModifyWriteRule;
  std::vector<std::string> qualifiers;
  for (int i = 0; i < 100'000; ++i) qualifiers.push_back(fmt::format("{:06}", i * 2));
  std::vector<Rule> rules;
  for (const std::string& qualifier : qualifiers) rules.push_back({"z", qualifier, Rule::Increment{1}});
  for (const char expected : {1, 2}) {
    const auto written = tables_.ReadModifyWriteRow(schema_, "r", rules);
    ASSERT_TRUE(written.ok()) << written.status();
    ASSERT_EQ(written->size(), qualifiers.size());
    for (const WrittenCell& cell : *written) EXPECT_EQ(cell.value.back(), expected);
  }
  // A column between two that are there, and one of another family.
  const std::vector<Rule> other = {{"z", "000001", Rule::Increment{7}},
                                   {"last", "000002", Rule::Append{"x"}}};
  const auto written = tables_.ReadModifyWriteRow(schema_, "r", other);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ((*written)[0].value, "x");
  EXPECT_EQ((*written)[1].value.back(), 7);
}

TEST_F(TablesTest, AChangedCellIsNeverOlderThanWhatItChanges) {
  Put("r", {SetCell{"z", "s", kNow + 5000, "x"}});
  const std::vector<ReadModifyWriteRule> rules = {{"z", "s", ReadModifyWriteRule::Append{"y"}}};
  EXPECT_EQ((*tables_.ReadModifyWriteRow(schema_, "r", rules))[0].timestamp_micros, kNow + 5000);
  EXPECT_EQ(Read({}), "r: z:s=xy\n");
}

TEST_F(TablesTest, OneBadEntryLeavesTheOthers) {
  const std::vector<Mutation> good = {SetCell{"z", "q", 0, "v"}},
                              bad = {SetCell{"z", "q", 0, "v"}, SetCell{"none", "q", 0, "v"}};
  const std::vector<RowMutations> rows = {{"a", good}, {"b", bad}, {"c", good}};
  const std::vector<absl::Status> statuses = tables_.MutateRows(*schema_, rows);
  EXPECT_TRUE(statuses[0].ok() && statuses[2].ok());
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Read({}), "a: z:q=v\nc: z:q=v\n");
}

TEST_F(TablesTest, AnEntryOfTheWrongKindFailsAll) {
  const std::vector<Mutation> good = {SetCell{"z", "q", 0, "v"}}, bad = {SetCell{"sum", "q", 0, "v"}};
  const std::vector<RowMutations> rows = {{"a", good}, {"b", bad}, {"c", good}};
  for (const absl::Status& status : tables_.MutateRows(*schema_, rows)) {
    EXPECT_EQ(status,
              absl::InvalidArgumentError(
                  "Error while mutating the row 'b' (projects/p/instances/i/tables/t) : Column family "
                  "type mismatch"));
  }
  EXPECT_EQ(Read({}), "");
}

TEST_F(TablesTest, SamplesEndWithTheirRangeAndHoldItsSplits) {
  const auto keys = [this](std::vector<RowRange> ranges) {
    const auto samples = tables_.SampleRowKeys(*schema_, ranges);
    EXPECT_TRUE(samples.ok());
    std::vector<std::string> result;
    for (const RowKeySample& sample : *samples) result.push_back(sample.row_key);
    return result;
  };
  using testing::ElementsAre;
  EXPECT_THAT(keys({RowRange::All()}), ElementsAre("b", "m", ""));
  EXPECT_THAT(keys({{"a", "n"}}), ElementsAre("b", "m", "n"));
  EXPECT_THAT(keys({{"b", "m"}}), ElementsAre("m"));
  EXPECT_THAT(keys({{"c", "d"}}), ElementsAre("d"));
  EXPECT_THAT(keys({{"c", ""}}), ElementsAre("m", ""));
  EXPECT_THAT(keys({{"a", "c"}, {"d", "e"}, {"k", "x"}}), ElementsAre("b", "c", "e", "m", "x"));
}

TEST_F(TablesTest, SampleOffsetsCountFromTheSampleBeforeTheRange) {
  for (const char* row : {"a", "c", "n"}) Put(row, {SetCell{"z", "q", 0, std::string(1000, 'v')}});
  const auto all = tables_.SampleRowKeys(*schema_, {{RowRange::All()}});
  const auto from_b = tables_.SampleRowKeys(*schema_, {{RowRange{"b", ""}}});
  ASSERT_EQ(all->size(), 3u);
  ASSERT_EQ(from_b->size(), 2u);
  EXPECT_GT((*all)[2].offset_bytes, 3000u);
  EXPECT_EQ((*from_b)[1].offset_bytes, (*all)[2].offset_bytes - (*all)[0].offset_bytes);
}

TEST_F(TablesTest, CountsWhatAReadSawAndReturned) {
  for (const char* row : {"a", "b", "c"}) {
    Put(row, {SetCell{"z", "q", 0, row}, SetCell{"z", "r", 0, "x"}});
  }
  const auto stats = [this](FilterSpec filter, int64_t rows_limit = 0) {
    const auto reader = *tables_.Read(
        schema_, {.ranges = {RowRange::All()}, .filter = Filter(filter), .rows_limit = rows_limit});
    while (*reader->Next(1) != RowReader::Step::kEnd) {
    }
    const ReadStats& s = reader->stats();
    return fmt::format("{}/{} rows, {}/{} cells", s.rows_returned, s.rows_seen, s.cells_returned,
                       s.cells_seen);
  };
  EXPECT_EQ(stats({FilterSpec::PassAll{}}), "3/3 rows, 6/6 cells");
  EXPECT_EQ(stats({FilterSpec::PassAll{}}, 2), "2/2 rows, 4/4 cells");
  EXPECT_EQ(stats({FilterSpec::ValueRegex{"[bx]"}}), "3/3 rows, 4/6 cells");
  EXPECT_EQ(stats({FilterSpec::ValueRegex{"b"}}), "1/3 rows, 1/6 cells");
  const FilterSpec all{FilterSpec::PassAll{}};
  const FilterSpec twice{FilterSpec::Interleave{{all, all}}};
  const auto limited = [&](int32_t count) {
    return stats({FilterSpec::Chain{{twice, {FilterSpec::CellsPerRowLimit{count}}}}});
  };
  EXPECT_EQ(stats(twice), "3/3 rows, 12/6 cells");
  for (int32_t count = 1; count <= 4; ++count) {
    EXPECT_EQ(limited(count), fmt::format("3/3 rows, {}/6 cells", 3 * count));
  }
  EXPECT_EQ(limited(5), "3/3 rows, 12/6 cells");
  EXPECT_EQ(stats({FilterSpec::RowKeyRegex{"[ac]+"}}), "2/3 rows, 4/6 cells");
  EXPECT_EQ(stats({FilterSpec::QualifierRegex{"q"}}), "3/3 rows, 3/3 cells");
}

TEST_F(TablesTest, AFilterThatNothingCanPassReadsNothing) {
  for (const char* row : {"a", "b", "c"}) Put(row, {SetCell{"z", "q", 0, row}});
  const FilterSpec block{FilterSpec::BlockAll{}}, strip{FilterSpec::StripValue{}};
  const auto chain = [](FilterSpec a, FilterSpec b) {
    return FilterSpec{FilterSpec::Chain{{std::move(a), std::move(b)}}};
  };
  const FilterSpec filters[] = {
      block,
      chain(strip, block),
      chain({FilterSpec::FamilyRegex{"z"}}, {FilterSpec::FamilyRegex{"last"}}),
      {FilterSpec::FamilyRegex{"no.*"}},
      {FilterSpec::ColumnRange{"z", {Bound::Kind::kOpen, "q"}, {Bound::Kind::kOpen, std::string("q\0", 2)}}},
      {FilterSpec::ValueRange{{Bound::Kind::kOpen, "a"}, {Bound::Kind::kOpen, std::string("a\0", 2)}}},
      chain({FilterSpec::QualifierRegex{"q"}}, {FilterSpec::QualifierRegex{"r"}}),
      chain({FilterSpec::RowKeyRegex{"a"}}, {FilterSpec::RowKeyRegex{"b"}}),
      {FilterSpec::Interleave{{block, chain(block, strip)}}},
  };
  for (const FilterSpec& filter : filters) {
    const auto reader = *tables_.Read(schema_, {.ranges = {RowRange::All()}, .filter = Filter(filter)});
    EXPECT_EQ(*reader->Next(1000), RowReader::Step::kEnd);
    EXPECT_EQ(reader->stats().rows_seen, 0) << "filter " << (&filter - filters);
  }
}

}  // namespace
}  // namespace sonde
