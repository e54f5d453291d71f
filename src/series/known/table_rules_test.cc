#include "series/known/table_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "series/known/declaration_store.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr int64_t kNow = 18690 * kMicrosPerDay;
constexpr int64_t kMargin = kRollupSlackMicros / 2;
using Notes = std::map<std::string, std::string>;

SeriesSchema Parse(std::string_view retention, std::string_view rest = "") {
  return ParseSchema(
             fmt::format("series: s\ntags: {{ h: string }}\nfields: {{ x: int, y: {{ type: int, family: "
                         "f }} }}\nkey: [h, bucket]\nbucket: day\nretention: {}\n{}",
                         retention, rest),
             "s.yaml")
      .value();
}

class TableRulesTest : public testing::Test {
 protected:
  void Ensure(const SeriesSchema& schema) {
    const absl::Status status = EnsureSeriesTables(schema, &tables_, &clock_);
    ASSERT_TRUE(status.ok()) << status;
  }
  GcRule Rule(const std::string& table, const std::string& family = "m") {
    return tables_.tables[table].families.at(family);
  }
  Notes KeptFrom() { return ListNotes("s", kKeptFromNote, &tables_).value(); }

  MemoryTables tables_;
  ManualClock clock_{kNow};
};

GcRule Age(int64_t days) { return {GcRule::MaxAge{days * kMicrosPerDay}}; }

TEST_F(TableRulesTest, ChangeWithTheDeclarationBothWays) {
  const auto schema = [](int age, int versions, int own) {
    return Parse(
        fmt::format("{{ max_age: {}d, max_versions: {} }}", age, versions),
        fmt::format("families: {{ f: {{ max_age: {0}d }} }}\nderive:\n  - order: {{ table: o, key: [h, time] "
                    "}}\n  - latest: l\n  - period: {{ table: 'p_{{yyyymmdd}}', every: day }}\n"
                    "versions: [ {{ until: 2021-01-01, table: old, retention: {{ max_age: {0}d }} }} ]\n",
                    own));
  };
  Ensure(schema(30, 3, 10));
  for (const char* table : {"p_20210301", "p_20210302"}) {
    ASSERT_TRUE(tables_.EnsureTable(table, {{"f", {}}, {"m", GcRule{GcRule::MaxVersions{3}}}}).ok());
  }
  Ensure(schema(30, 3, 10));
  EXPECT_EQ(tables_.update_requests, 0);
  for (const auto& [age, versions, own] : {std::tuple{20, 5, 40}, {90, 2, 7}}) {
    Ensure(schema(age, versions, own));
    const GcRule both{GcRule::Union{{Age(age), GcRule{GcRule::MaxVersions{versions}}}}};
    EXPECT_EQ(Rule("s"), both);
    EXPECT_EQ(Rule("o"), both);
    EXPECT_EQ(Rule("s", "f"), Age(own));
    EXPECT_EQ(Rule("old"), Age(own));
    EXPECT_EQ(Rule("p_20210301"), GcRule{GcRule::MaxVersions{versions}});
    EXPECT_EQ(Rule("p_20210302"), GcRule{GcRule::MaxVersions{versions}});
    EXPECT_EQ(Rule("l"), GcRule{GcRule::MaxVersions{1}});
  }
  const int updates = tables_.update_requests;
  Ensure(schema(90, 2, 7));
  EXPECT_EQ(tables_.update_requests, updates);
}

TEST_F(TableRulesTest, AddAMissingFamily) {
  ASSERT_TRUE(tables_.EnsureTable("s", {{"f", Age(1)}}).ok());
  Ensure(Parse("{ max_age: 1d }"));
  EXPECT_EQ(Rule("s"), Age(1));
  EXPECT_EQ(tables_.update_requests, 0);
}

TEST_F(TableRulesTest, KeepPointsLongerForRollups) {
  const SeriesSchema schema =
      Parse("{ max_age: 30d }",
            "families: { f: { max_age: 10d } }\nderive:\n  - rollup: { table: r, every: 1d, "
            "retention: 5y }\n  - rollup: { table: r1, every: 1h }\n  - order: { table: o, key: "
            "[h, time] }\nversions: [ { until: 2021-01-01, table: old } ]\n");
  EXPECT_EQ(schema.retention.max_age_micros, 30 * kMicrosPerDay);
  Ensure(schema);
  const auto longer = [](int64_t days) {
    return GcRule{GcRule::MaxAge{(days + 1) * kMicrosPerDay + kMicrosPerHour}};
  };
  EXPECT_EQ(Rule("s"), longer(30));
  EXPECT_EQ(Rule("s", "f"), longer(10));
  EXPECT_EQ(Rule("old"), longer(30));
  EXPECT_EQ(Rule("o"), Age(30));
  EXPECT_EQ(Rule("r"), (GcRule{GcRule::Union{{Age(5 * 365), GcRule{GcRule::MaxVersions{1}}}}}));
}

TEST_F(TableRulesTest, NoteFromWhenOnPointsAreKept) {
  const auto note = [&](int64_t days) {
    return fmt::format("{}", clock_.NowMicros() - days * kMicrosPerDay + kMargin);
  };
  Ensure(Parse("{ max_age: 30d }"));
  Ensure(Parse("{ max_age: 20d, max_versions: 3 }"));
  EXPECT_THAT(KeptFrom(), IsEmpty());
  clock_.Advance(kMicrosPerHour);
  Ensure(Parse("{ max_age: 40d }"));
  const Notes first = {{"s:f", note(20)}, {"s:m", note(20)}};
  EXPECT_EQ(KeptFrom(), first);
  // What was kept for 40 days was there 20 days ago.
  clock_.Advance(kMicrosPerHour);
  Ensure(Parse("{ max_versions: all }"));
  EXPECT_EQ(KeptFrom(), first);
  Ensure(Parse("{ max_age: 5d }", "families: { f: { max_age: 10d } }\n"));
  Ensure(Parse("{ max_age: 6d }", "families: { f: { max_age: 10d } }\n"));
  EXPECT_THAT(KeptFrom(), ElementsAre(Pair("s:f", first.at("s:f")), Pair("s:m", note(5))));
  ASSERT_TRUE(tables_.DropTable("s").ok());
  Ensure(Parse("{ max_age: 6d }"));
  EXPECT_THAT(KeptFrom(), IsEmpty());
}

TEST_F(TableRulesTest, TheNoteIsThereBeforeTheRule) {
  Ensure(Parse("{ max_age: 20d }"));
  for (int writes = 0; writes < 2; ++writes) {
    DyingTables dying(&tables_, writes);
    const absl::Status status = EnsureTablesAndRules(Parse("{ max_age: 40d }"), &dying, clock_);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(Rule("s", "f"), Age(20));
  }
}

}  // namespace
}  // namespace sonde::series
