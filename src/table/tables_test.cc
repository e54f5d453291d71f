#include "table/tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <map>

#include "base/clock.h"
#include "engine/forwarding_engine.h"
#include "engine/memory/memory_engine.h"
#include "model/aggregate.h"
#include "model/limits.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kNow = 1'600'000'000 * kSecond;

class TablesTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    // Families are made out of the order of their names: they come back in it.
    schema.families = {{.name = "z"},
                       {.name = "last", .gc_rule = {GcRule::MaxVersions{2}}},
                       {.name = "day", .gc_rule = {GcRule::MaxAge{86'400 * kSecond}}},
                       {.name = "sum", .aggregate = AggregateKind::kSum}};
    schema.split_points = {"b", "m"};
    schema_ = *catalog_->Create(schema);
  }

  void Put(std::string_view row, std::vector<Mutation> mutations) {
    const absl::Status status = tables_.MutateRow(*schema_, {row, mutations});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string Read(ReadRequest request, bool suspend = false) {
    if (request.ranges.empty()) request.ranges = {RowRange::All()};
    auto reader = tables_.Read(schema_, std::move(request));
    if (!reader.ok()) return reader.status().ToString();
    std::string result;
    while (true) {
      if (suspend) (*reader)->Suspend();
      const auto step = (*reader)->Next(1);
      if (!step.ok()) return step.status().ToString();
      if (*step == RowReader::Step::kEnd) return result;
      if (*step == RowReader::Step::kPaused) continue;
      result += (*reader)->row_key() + ":";
      for (const FilterCell& cell : (*reader)->cells()) {
        result += " " + (*reader)->family_name(cell) + ":" + std::string(cell.cell.qualifier) + "=" +
                  std::string(cell.cell.value);
      }
      result += "\n";
    }
  }

  std::shared_ptr<const CompiledFilter> Filter(FilterSpec spec) { return *CompileFilter(spec); }

  ManualClock clock_{kNow};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  TableSchemaRef schema_;
};

TEST_F(TablesTest, FamiliesComeByName) {
  Put("r", {SetCell{"z", "q", 0, "1"}, SetCell{"last", "q", 0, "2"}, SetCell{"day", "q", kNow, "3"}});
  EXPECT_EQ(Read({}), "r: day:q=3 last:q=2 z:q=1\n");
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
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", nullptr, mark, not_mark), false);
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", nullptr, mark, not_mark), true);
  EXPECT_EQ(Read({}), "r: z:matched= z:no=\n");
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
  ASSERT_TRUE(tables.MutateRow(*created, {"r", mutations}).ok());
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
    ASSERT_TRUE(tables.ReadNumbers("t", numbers, [](const NumberRow&) { return true; }).ok());
  };
  read(LocalTables(&watched, "projects/p/instances/i", "nightly-report from 10.0.0.7"));
  read(LocalTables(&watched, "projects/p/instances/i"));
  EXPECT_THAT(scans.callers,
              testing::ElementsAre("nightly-report from 10.0.0.7", "nightly-report from 10.0.0.7",
                                   "Sonde itself", "Sonde itself"));
}

TEST_F(TablesTest, NumbersAreWhatIsSeenOfAColumn) {
  for (const size_t cells_per_piece_max : {0, 1, 2}) {
    const auto engine = MemoryEngine::Create(
        {.honour_hints = cells_per_piece_max == 0, .cells_per_piece_max = cells_per_piece_max});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef created = *catalog->Create(*schema_);
    for (const char* row : {"a", "b", "c"}) {
      std::vector<Mutation> mutations;
      constexpr std::string_view kValues[] = {"1", "2", "3", "4"};
      for (const char* family : {"z", "last", "day"}) {
        for (int64_t i = 0; i < 4; ++i) {
          mutations.push_back(SetCell{family, "q", kNow - (3 - i) * 43'200 * kSecond, kValues[i]});
          mutations.push_back(SetCell{family, "other", kNow, "9"});
        }
      }
      ASSERT_TRUE(tables.MutateRow(*created, {row, mutations}).ok());
    }
    const auto read = [&](NumberRead request, size_t rows_max = 100) {
      request.columns = {{"q"}};
      std::string result;
      const absl::Status status = tables.ReadNumbers(created, request, [&](const NumberRow& row) {
        if (!result.starts_with(row.row_key) && result.find(std::string(row.row_key)) == std::string::npos)
          result += row.row_key;
        for (const NumberRow::Part& part : row.parts) {
          EXPECT_EQ(part.column, 0u);
          for (size_t i = 0; i < part.timestamps_micros.size(); ++i) {
            EXPECT_EQ(part.timestamps_micros[i], kNow - ('4' - part.texts[i][0]) * 43'200 * kSecond);
            result += part.texts[i];
          }
        }
        return --rows_max > 0;
      });
      return status.ok() ? result : std::string(status.message());
    };
    const std::vector<RowRange> all = {RowRange::All()};
    EXPECT_EQ(read({.ranges = all, .family = "z"}), "a4321b4321c4321");
    EXPECT_EQ(read({.ranges = {RowRange::Single("b")}, .family = "last"}), "b43");
    EXPECT_EQ(read({.ranges = all, .family = "day"}), "a432b432c432");
    // What is out of the time that is asked for counts as a version.
    EXPECT_EQ(read({.ranges = {RowRange{"b", ""}}, .family = "last", .end_micros = kNow}), "b3c3");
    EXPECT_EQ(read({.ranges = {RowRange{"b", ""}},
                    .family = "z",
                    .start_micros = kNow - 2 * 43'200 * kSecond,
                    .end_micros = kNow}),
              "b32c32");
    EXPECT_EQ(read({.ranges = all, .family = "z", .reversed = true}), "c4321b4321a4321");
    EXPECT_EQ(read({.ranges = all, .family = "z", .end_micros = kNow, .cells_per_column_max = 2}),
              "a32b32c32");
    EXPECT_EQ(read({.ranges = {}, .family = "z"}), "");
    EXPECT_TRUE(std::string("a4321").starts_with(read({.ranges = all, .family = "z"}, 1)));
    EXPECT_EQ(read({.ranges = all, .family = "none"}), "projects/p/instances/i/tables/t: no family 'none'");
  }
}

// Columns come in any order of the read, each in its own parts; whole rows at once.
TEST_F(TablesTest, NumbersOfSeveralColumns) {
  for (const size_t cells_per_piece_max : {0, 1, 3}) {
    const auto engine = MemoryEngine::Create(
        {.honour_hints = cells_per_piece_max == 0, .cells_per_piece_max = cells_per_piece_max});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef created = *catalog->Create(*schema_);
    for (const char* row : {"a", "b"}) {
      std::vector<Mutation> mutations;
      constexpr std::string_view kValues[] = {"0", "1", "2"};
      for (int64_t i = 0; i < 3; ++i) {
        for (const char* column : {"p", "q", "r", "s"}) {
          if (*row == 'b' && *column == 'q') continue;
          mutations.push_back(SetCell{"last", column, kNow - i * kSecond, kValues[i]});
        }
      }
      ASSERT_TRUE(tables.MutateRow(*created, {row, mutations}).ok());
    }
    for (const bool whole_rows : {false, true}) {
      const NumberRead read{.ranges = {RowRange::All()},
                            .family = "last",
                            .columns = {{"r"}, {"none"}, {"q"}, {"p"}},
                            .whole_rows = whole_rows};
      std::map<std::string, std::map<size_t, std::string>> found;
      size_t calls = 0;
      const absl::Status status = tables.ReadNumbers(created, read, [&](const NumberRow& row) {
        ++calls;
        for (const NumberRow::Part& part : row.parts) {
          for (const std::string_view text : part.texts) found[std::string(row.row_key)][part.column] += text;
        }
        return true;
      });
      ASSERT_TRUE(status.ok()) << status;
      // The family keeps two versions.
      EXPECT_EQ(found, (std::map<std::string, std::map<size_t, std::string>>{
                           {"a", {{0, "01"}, {2, "01"}, {3, "01"}}}, {"b", {{0, "01"}, {3, "01"}}}}));
      if (whole_rows) {
        EXPECT_EQ(calls, 2u);
      }
    }
  }
}

TEST_F(TablesTest, LimitsCountRowsThatPass) {
  for (const char* row : {"a", "b", "c", "d"}) Put(row, {SetCell{"z", "q", 0, row}});
  const auto not_b = Filter({FilterSpec::ValueRegex{"[acd]"}});
  EXPECT_EQ(Read({.filter = not_b, .rows_limit = 2}), "a: z:q=a\nc: z:q=c\n");
  EXPECT_EQ(Read({.filter = not_b, .rows_limit = 2, .reversed = true}), "d: z:q=d\nc: z:q=c\n");
  EXPECT_EQ(Read({.ranges = {{"b", "c"}, {"d", ""}}}), "b: z:q=b\nd: z:q=d\n");
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::RowKeyRegex{"b|d"}})}), "b: z:q=b\nd: z:q=d\n");
  EXPECT_EQ(Read({.filter = Filter({FilterSpec::ColumnRange{"none"}})}),
            "NOT_FOUND: Requested column family not found.");
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
      return tables->CheckAndMutateRow(schema_, "r", is_write, set("after"), set("before"));
    });
    // It would be done long before, were it not the write's turn.
    matched.wait_for(std::chrono::milliseconds(50));
  };
  const InterruptedClock clock(interrupt);
  Tables interrupted(engine_.get(), catalog_.get(), &clock, /*seed=*/1);
  tables = &interrupted;
  const std::vector<Mutation> write = set("write");
  ASSERT_TRUE(interrupted.MutateRow(*schema_, {"r", write}).ok());
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

class ViewTest : public TablesTest {
 protected:
  void SetUp() override {
    TablesTest::SetUp();
    for (const char* row : {"a", "a#1", "a#2", "b", "c#1"}) {
      Put(row, {SetCell{"z", "p", 0, "1"}, SetCell{"z", "q", 0, "2"}, SetCell{"z", "q1", 0, "3"},
                SetCell{"last", "p", 1000, "4"}, SetCell{"last", "p", 2000, "5"},
                SetCell{"last", "p", 3000, "6"}});
    }
    AuthorizedView view;
    view.name = "projects/p/instances/i/tables/t/authorizedViews/v";
    view.row_prefixes = {"c", "a#"};
    view.families = {{"z", {{"p"}, {"q1"}}}, {"last", {{}, {""}}}, {"absent", {{}, {""}}}};
    view_ = std::make_shared<const AuthorizedView>(std::move(view));
  }

  std::string Write(std::string_view row, std::vector<Mutation> mutations) {
    const absl::Status status = tables_.MutateRow(*schema_, {row, mutations}, view_.get());
    return status.ok() ? "" : status.ToString();
  }

  static constexpr char kOutside[] =
      "PERMISSION_DENIED: Cannot mutate from projects/p/instances/i/tables/t/authorizedViews/v because the "
      "mutation contains cells outside the Authorized View.";
  AuthorizedViewRef view_;
};

TEST_F(ViewTest, ShowsItsRowsAndColumnsBeforeAnyFilter) {
  const std::string row = " last:p=6 last:p=5 z:p=1 z:q1=3\n";
  EXPECT_EQ(Read({.view = view_}), "a#1:" + row + "a#2:" + row + "c#1:" + row);
  EXPECT_EQ(Read({.ranges = {{"a#2", "c"}}, .view = view_}), "a#2:" + row);
  EXPECT_EQ(Read({.ranges = {RowRange::Single("b")}, .view = view_}), "");
  EXPECT_EQ(Read({.view = view_, .rows_limit = 1, .reversed = true}), "c#1:" + row);
  const auto read = [this](FilterSpec filter) {
    return Read({.ranges = {RowRange::Single("a#1")}, .view = view_, .filter = Filter(std::move(filter))});
  };
  EXPECT_EQ(read({FilterSpec::QualifierRegex{"q.*"}}), "a#1: z:q1=3\n");
  EXPECT_EQ(read({FilterSpec::QualifierRegex{"q"}}), "");
  EXPECT_EQ(read({FilterSpec::FamilyRegex{"z"}}), "a#1: z:p=1 z:q1=3\n");
  EXPECT_EQ(read({FilterSpec::CellsPerRowOffset{2}}), "a#1: z:p=1 z:q1=3\n");
  EXPECT_EQ(read({FilterSpec::CellsPerRowLimit{3}}), "a#1: last:p=6 last:p=5 z:p=1\n");
  EXPECT_EQ(read({FilterSpec::CellsPerColumnLimit{1}}), "a#1: last:p=6 z:p=1 z:q1=3\n");
}

TEST_F(ViewTest, OfNoRowsOrNoColumnsShowsNothing) {
  AuthorizedView view = *view_;
  view.row_prefixes.clear();
  EXPECT_EQ(Read({.view = std::make_shared<const AuthorizedView>(view)}), "");
  view.row_prefixes = {""};
  view.families.clear();
  EXPECT_EQ(Read({.view = std::make_shared<const AuthorizedView>(view)}), "");
  view.families["z"] = {};
  EXPECT_EQ(Read({.view = std::make_shared<const AuthorizedView>(view)}), "");
}

TEST_F(ViewTest, ChangesOnlyWhatItShows) {
  const std::string before = Read({});
  EXPECT_EQ(Write("a#3", {SetCell{"z", "p", 0, "v"}, SetCell{"z", "q12", 0, "v"}}), "");
  EXPECT_EQ(Read({.ranges = {RowRange::Single("a#3")}}), "a#3: z:p=v z:q12=v\n");
  EXPECT_EQ(Write("a#3", {DeleteFromColumn{"z", "q12", {}}, DeleteFromFamily{"last"}}), "");
  EXPECT_EQ(Write("a#3", {DeleteFromColumn{"z", "p", {}}}), "");
  EXPECT_EQ(Read({}), before);

  EXPECT_EQ(Write("b", {SetCell{"z", "p", 0, "v"}}), kOutside);
  EXPECT_EQ(Write("a#1", {SetCell{"z", "p", 0, "v"}, SetCell{"z", "q", 0, "v"}}), kOutside);
  EXPECT_EQ(Write("a#1", {AddToCell{"sum", "q", 0, 1}}), kOutside);
  EXPECT_EQ(Write("a#1", {SetCell{"day", "p", 0, "v"}}), kOutside);
  EXPECT_EQ(Write("a#1", {DeleteFromColumn{"z", "q", {}}}), kOutside);
  EXPECT_EQ(Write("a#1", {DeleteFromFamily{"z"}}), kOutside);
  EXPECT_EQ(Write("a#1", {DeleteFromRow{}}), kOutside);
  EXPECT_EQ(Write("a#1", {SetCell{"nowhere", "p", 0, "v"}}), kOutside);
  EXPECT_EQ(Read({}), before);

  const std::vector<Mutation> in = {SetCell{"z", "p", 0, "1"}}, out = {SetCell{"z", "q", 0, "v"}};
  const std::vector<RowMutations> rows = {
      {"a#1", in}, {"b", in}, {"a#2", out}, {"c#1", out, Idempotency{"token 01"}}};
  const auto statuses = tables_.MutateRows(*schema_, rows, view_.get());
  EXPECT_EQ(statuses[0], absl::OkStatus());
  for (int i = 1; i < 4; ++i) EXPECT_EQ(statuses[i].code(), absl::StatusCode::kPermissionDenied) << i;
  EXPECT_EQ(Read({}), before);
}

TEST_F(ViewTest, DeletesRowsWhenAllOfThemIsInIt) {
  AuthorizedView all = *view_;
  for (const FamilySchema& family : schema_->families) all.families[family.name] = {{}, {""}};
  const std::vector<Mutation> mutations = {DeleteFromRow{}};
  EXPECT_EQ(tables_.MutateRow(*schema_, {"a#1", mutations}, &all), absl::OkStatus());
  EXPECT_EQ(Read({.ranges = {RowRange::Single("a#1")}}), "");
  EXPECT_FALSE(tables_.MutateRow(*schema_, {"a", mutations}, &all).ok());
}

TEST_F(ViewTest, PredicatesAndRulesSeeNoMore) {
  const std::vector<Mutation> mark = {SetCell{"z", "p", 0, "marked"}}, out = {SetCell{"z", "q", 0, "v"}};
  const auto is_two = Filter({FilterSpec::ValueRegex{"2"}}), is_three = Filter({FilterSpec::ValueRegex{"3"}});
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#1", is_two, mark, {}, view_), false);
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#1", is_three, mark, {}, view_), true);
  EXPECT_EQ(tables_.CheckAndMutateRow(schema_, "a#1", is_three, mark, out, view_).status().ToString(),
            kOutside);
  EXPECT_EQ(tables_.CheckAndMutateRow(schema_, "b", nullptr, mark, {}, view_).status().ToString(), kOutside);
  Put("a#9", {SetCell{"z", "q", 0, "not in the view"}});
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#9", nullptr, {}, mark, view_), false);

  using Rule = ReadModifyWriteRule;
  const std::vector<Rule> in = {{"z", "p", Rule::Append{"+"}}},
                          not_in = {{"z", "p", Rule::Append{"+"}}, {"z", "q", Rule::Append{"+"}}};
  EXPECT_EQ((*tables_.ReadModifyWriteRow(schema_, "a#2", in, view_))[0].value, "1+");
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "a#2", not_in, view_).status().ToString(), kOutside);
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "b", in, view_).status().ToString(), kOutside);
}

class IdempotencyTest : public TablesTest {
 protected:
  absl::Status Add(std::string_view token, std::string_view row = "r",
                   std::optional<int64_t> start_micros = std::nullopt) {
    const std::vector<Mutation> mutations = {AddToCell{"sum", "q", 0, 1}};
    return tables_.MutateRow(*schema_, {row, mutations, Idempotency{token, start_micros}});
  }
  int64_t Sum(std::string_view row = "r") {
    const auto reader = *tables_.Read(schema_, {.ranges = {RowRange::Single(row)}});
    if (*reader->Next(1) != RowReader::Step::kRow) return 0;
    EXPECT_EQ(reader->cells().size(), 1u);
    return DecodeAggregateState(reader->cells()[0].cell.value);
  }
};

TEST_F(IdempotencyTest, ARepetitionIsNotApplied) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
  EXPECT_EQ(Add("token 02"), absl::OkStatus());
  EXPECT_EQ(Sum(), 2);
  EXPECT_EQ(Add("token 01", "another row"), absl::OkStatus());
  EXPECT_EQ(Sum("another row"), 1);
}

TEST_F(IdempotencyTest, TokensProtectForAQuarterOfAnHour) {
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  for (int minutes = 1; minutes <= 15; ++minutes) {
    clock_.Advance(60 * kSecond);
    EXPECT_EQ(Add("token 01"), absl::OkStatus());
    EXPECT_EQ(Sum(), 1) << minutes << " minutes later";
  }
  clock_.Advance(1);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 2);
}

TEST_F(IdempotencyTest, TokensProtectWhenAClockGoesBack) {
  clock_.Set(kNow / kExpiryPeriodMicros * kExpiryPeriodMicros);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  clock_.Advance(-1);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
}

TEST_F(IdempotencyTest, AFirstAttemptOfLongAgoIsRefused) {
  EXPECT_EQ(Add("token 01", "r", kNow - 900 * kSecond), absl::OkStatus());
  const absl::Status late = Add("token 02", "r", kNow - 900 * kSecond - 1);
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(late.message()), testing::HasSubstr("token 02"));
  EXPECT_EQ(Add("token 03", "r", kNow + 3600 * kSecond), absl::OkStatus()) << "a client's clock may be ahead";
  EXPECT_EQ(Sum(), 2);
}

TEST_F(IdempotencyTest, WhatWasRefusedMayComeAgain) {
  const std::vector<Mutation> bad = {SetCell{"sum", "q", 0, "v"}};
  EXPECT_EQ(tables_.MutateRow(*schema_, {"r", bad, Idempotency{"token 01"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Sum(), 1);
}

TEST_F(IdempotencyTest, EntriesOfARequestCountByTheirTokens) {
  const std::vector<Mutation> add = {AddToCell{"sum", "q", 0, 1}};
  const Idempotency one{"token 01"}, two{"token 02"};
  const std::vector<RowMutations> rows = {
      {"r", add, one}, {"r", add}, {"r", add, one}, {"r", add, two}, {"r", add}};
  for (const absl::Status& status : tables_.MutateRows(*schema_, rows)) EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(Sum(), 4);
}

// Counts the commits of its engine.
class CountingEngine : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  absl::Status Apply(TableId table, absl::Span<const RowChange> changes) override {
    ++commits;
    return refuses ? absl::UnavailableError("busy") : engine_->Apply(table, changes);
  }
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints,
                      const Decide& decide) override {
    ++commits;
    return engine_->Update(table, row_key, hints, decide);
  }
  std::atomic<int> commits = 0;
  bool refuses = false;
};

class IdempotentBatchTest : public IdempotencyTest {
 protected:
  static constexpr size_t kRows = 200;

  IdempotentBatchTest() {
    for (size_t i = 0; i < kRows; ++i) {
      rows_.push_back({names_.emplace_back(fmt::format("row {}", i)), add_,
                       Idempotency{names_.emplace_back(fmt::format("token {}", i))}});
    }
  }
  std::vector<absl::Status> Mutate(const std::function<absl::Status()>& interrupted = {}) {
    return counted_.MutateRows(*schema_, rows_, nullptr, interrupted);
  }
  int64_t SumOfAll() {
    int64_t sum = 0;
    for (const RowMutations& row : rows_) sum += Sum(row.row_key);
    return sum;
  }

  const std::vector<Mutation> add_ = {AddToCell{"sum", "q", 0, 1}};
  std::deque<std::string> names_;
  std::vector<RowMutations> rows_;
  CountingEngine counting_{engine_.get()};
  Tables counted_{&counting_, catalog_.get(), &clock_, 1};
};

TEST_F(IdempotentBatchTest, IsOneCommit) {
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 1);
  EXPECT_EQ(SumOfAll(), kRows);
  rows_.push_back({"another", add_, Idempotency{"token 0"}});
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 2);
  EXPECT_EQ(SumOfAll(), kRows + 1) << "what was there was not applied again";
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(counting_.commits, 2) << "nothing to write";
}

TEST_F(IdempotentBatchTest, KeepsTheOrderOfARowsEntries) {
  const std::vector<Mutation> first = {SetCell{"z", "q", 0, "1"}}, second = {SetCell{"z", "q", 0, "2"}};
  rows_ = {{"r", first, Idempotency{"token 01"}}, {"r", second}, {"r", first, Idempotency{"token 01"}}};
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  EXPECT_EQ(Read({}), "r: z:q=2\n");
}

TEST_F(IdempotentBatchTest, WhatWasNotCommittedMayComeAgain) {
  rows_.push_back(rows_.front());  // a repetition in the request itself
  counting_.refuses = true;
  EXPECT_THAT(Mutate(), testing::Each(absl::UnavailableError("busy")));
  counting_.refuses = false;
  EXPECT_THAT(Mutate(), testing::Each(absl::OkStatus()));
  rows_.pop_back();
  EXPECT_EQ(SumOfAll(), kRows);
}

TEST_F(IdempotentBatchTest, WhoseCallerHasGoneWritesNothing) {
  for (size_t patience : {size_t{0}, kRows / 2, kRows}) {
    size_t asked = 0;
    const auto interrupted = [&] {
      return asked++ < patience ? absl::OkStatus() : absl::CancelledError("gone");
    };
    EXPECT_THAT(Mutate(interrupted), testing::Each(absl::CancelledError("gone")));
    EXPECT_EQ(asked, patience + 1);
  }
  EXPECT_EQ(counting_.commits, 0);
  EXPECT_EQ(SumOfAll(), 0);
}

// The same requests from several threads, in different orders.
TEST_F(IdempotentBatchTest, IsAppliedOnceWhenItComesAtOnce) {
  std::vector<std::future<void>> senders;
  for (size_t i = 0; i < 8; ++i) {
    senders.push_back(std::async(std::launch::async, [&, i] {
      std::vector<RowMutations> rows = rows_;
      std::rotate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i * kRows / 8), rows.end());
      EXPECT_THAT(counted_.MutateRows(*schema_, rows), testing::Each(absl::OkStatus()));
    }));
  }
  for (std::future<void>& sender : senders) sender.get();
  EXPECT_EQ(SumOfAll(), kRows);
}

TEST_F(IdempotencyTest, TokensAreNoRowsAndOutliveTheirRow) {
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  Put("r", {DeleteFromRow{}});
  EXPECT_EQ(Read({}), "");
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "r", nullptr, {}, {}), false);
  EXPECT_EQ(Add("token 01"), absl::OkStatus());
  EXPECT_EQ(Read({}), "");
}

TEST_F(IdempotencyTest, WhatHasExpiredIsForgotten) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Add("token 01"), absl::OkStatus());
    clock_.Advance(2 * kExpiryPeriodMicros);
  }
  EXPECT_EQ(Sum(), 100);
  ReadHints hints;
  hints.families.emplace();
  for (int64_t at = kNow; at < clock_.NowMicros(); at += kExpiryPeriodMicros) {
    for (const FamilyId family : TokenFamilies("token 01", at)) hints.families->push_back(family);
  }
  size_t families = 0;
  const auto count = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    families = row.size();
    return std::nullopt;
  };
  ASSERT_EQ(engine_->Update(schema_->id, "r", hints, count), absl::OkStatus());
  EXPECT_EQ(families, 1u);
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
