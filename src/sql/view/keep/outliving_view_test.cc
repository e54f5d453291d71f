// Views that outlive their source: what their hints may say, what they keep, and when they forget.
#include "sql/view/keep/view_test_support.h"
#include "sql/view/lifetime.h"

namespace sonde::sql {
namespace {

constexpr char kByHour[] =
    "@{outlive_source=true} SELECT kind AS kind, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, COUNT(*) "
    "AS n "
    "FROM UNPACK((SELECT SUBSTR(CAST(_key AS STRING), 1, 1) AS kind, day['v'] AS v FROM t(with_history => "
    "TRUE))) GROUP BY kind, 2";
constexpr int64_t kStartSecond = kViewTestStart / kViewTestSecond;

class OutlivingViewTest : public ViewTest {
 protected:
  std::string Refused(const std::string& query) {
    const auto definition = DefineView(query, options());
    return definition.ok() ? "taken" : definition.status().ToString();
  }
  BindOptions options() { return BindOptionsOfView(store_.catalog.get(), &bundles_, kViewTestInstance); }
  // What has expired is collected, and the view follows.
  void Collect() {
    ASSERT_EQ(store_.streams.Upkeep(), absl::OkStatus());
    CatchUp();
  }
  bool HasCells(const std::string& row) {
    const auto stream = engine_->Scan(store_.Table()->id, {RowRange::Single(row)}, {});
    RowPiece piece;
    return *(*stream)->Next(&piece);
  }

  BundleFinder bundles_{store_.catalog.get()};
};

TEST_F(OutlivingViewTest, HintsAreChecked) {
  const std::string query = std::string(kByHour).substr(std::string(kByHour).find("SELECT"));
  EXPECT_EQ(Refused("@{outlive_source=true, retain='5y'} " + query), "taken");
  EXPECT_EQ(Refused("@{OUTLIVE_SOURCE=TRUE} " + query), "taken");
  EXPECT_EQ(Refused("@{outlive_source=false} " + query), "taken");
  EXPECT_EQ(Refused("@{outlive_source='yes'} " + query),
            "INVALID_ARGUMENT: Hint outlive_source must have a BOOL literal [at 1:18]");
  EXPECT_EQ(Refused("@{outlive_source=true, retain=5} " + query),
            "INVALID_ARGUMENT: Hint retain must have a STRING literal [at 1:31]");
  EXPECT_EQ(
      Refused("@{outlive_source=true, retain='long'} " + query),
      "INVALID_ARGUMENT: Hint retain: 'long' is not a duration; allowed: a whole number from 1 and a unit "
      "(us, ms, s, m, h, d, w, y), as in 15m [at 1:31]");
  EXPECT_EQ(Refused("@{retain='5y'} " + query),
            "INVALID_ARGUMENT: Hint retain needs outlive_source=true: other views forget what their source "
            "forgets [at 1:3]");
  EXPECT_EQ(Refused("@{fast=true} " + query),
            "INVALID_ARGUMENT: A materialized view cannot have the hint fast [at 1:3]");
  EXPECT_EQ(
      Refused("@{outlive_source=true, retain='5y'} SELECT v AS v, COUNT(*) AS n FROM UNPACK((SELECT "
              "day['v'] AS v FROM t(with_history => TRUE))) GROUP BY v"),
      "INVALID_ARGUMENT: A materialized view with retain must have a column _timestamp, the time that its "
      "rows are forgotten by");
  EXPECT_EQ(
      Refused("@{outlive_source=true} SELECT v AS v, COUNT(*) AS n FROM UNPACK((SELECT day['v'] AS v FROM "
              "t(with_history => TRUE, latest_n => 2))) GROUP BY v"),
      "INVALID_ARGUMENT: A materialized view that outlives its source cannot have latest_n or as_of");
}

TEST_F(OutlivingViewTest, ProductionHasNoSuchHints) {
  BindOptions production = options();
  production.dialect = Dialect::kProduction;
  EXPECT_EQ(
      DefineView(kByHour, production).status(),
      absl::UnimplementedError("Hints of materialized views are not in production's language [at 1:3]"));
}

TEST_F(OutlivingViewTest, KeepsWhatExpires) {
  CreateView("v", kByHour);
  CatchUp();
  Put("a1", "day", "v", kStartSecond, "x");
  Put("a2", "day", "v", kStartSecond, "y");
  CatchUp();
  const std::string shown = Shown("v");
  EXPECT_NE(shown, "");
  clock_.Advance(2 * kViewTestDay);
  Put("a2", "day", "v", kStartSecond + 2 * 86'400, "z");  // a row that goes on being written
  CatchUp();
  Collect();
  EXPECT_FALSE(HasCells("a1"));
  EXPECT_TRUE(Shown("v").starts_with(shown.substr(0, shown.find('\n')))) << Shown("v");
  Put("a2", "day", "v", kStartSecond + 2 * 86'400 + 1, "z");
  Collect();
  const std::string hours[] = {"1599998400000000", "1600171200000000"};
  EXPECT_EQ(Shown("v"),
            "a default:@0 \n"
            "a default:n@" +
                hours[0] +
                " \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\n"
                "a default:n@" +
                hours[1] + " \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\n");
}

TEST_F(OutlivingViewTest, WhatPeopleDeleteGoes) {
  CreateView("v", kByHour);
  CatchUp();
  for (const char* row : {"a1", "b1", "c1", "d1"}) Put(row, "day", "v", kStartSecond, "x");
  CatchUp();
  clock_.Advance(2 * kViewTestDay);
  Collect();
  EXPECT_FALSE(HasCells("a1"));
  // None of these rows is there any more.
  ASSERT_EQ(store_.Mutate("a1", {DeleteFromRow{}}), absl::OkStatus());
  ASSERT_EQ(store_.Mutate("b1", {DeleteFromColumn{"day", "v", {}}}), absl::OkStatus());
  ASSERT_EQ(store_.tables.DropRowRange(*store_.Table(), RowRange::Prefix("c")), absl::OkStatus());
  ASSERT_EQ(store_.Mutate("d1", {DeleteFromColumn{"day", "other", {}}}), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"),
            "d default:@0 \n"
            "d default:n@1599998400000000 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\n");
}

TEST_F(OutlivingViewTest, NothingIsCollectedWhileNobodyKeepsIt) {
  CreateView("v", kByHour);
  CatchUp();
  Put("a1", "day", "v", kStartSecond, "x");
  CatchUp();
  clock_.Advance(2 * kViewTestDay);
  keepers_.reset();
  EXPECT_EQ(store_.streams.Upkeep(),
            absl::UnavailableError("Views of table projects/p/instances/i/tables/t keep what "
                                   "has expired, and none of them is kept by this process now"));
  EXPECT_TRUE(HasCells("a1"));
  CatchUp();
  EXPECT_NE(Shown("v"), "");
  Collect();
  EXPECT_FALSE(HasCells("a1"));
  EXPECT_NE(Shown("v"), "");
}

TEST_F(OutlivingViewTest, GroupsLeaveAfterTheTimeThatTheyAreKept) {
  CreateView("v", "@{outlive_source=true, retain='3d'}" + std::string(kByHour).substr(22));
  CatchUp();
  Put("a1", "day", "v", kStartSecond, "x");
  CatchUp();
  clock_.Advance(2 * kViewTestDay);
  Put("a1", "day", "v", kStartSecond + 2 * 86'400, "y");
  Collect();
  EXPECT_NE(Shown("v").find("n@1599998400000000"), std::string::npos);
  clock_.Advance(2 * kViewTestDay);
  Collect();
  EXPECT_EQ(Shown("v").find("n@1599998400000000"), std::string::npos);
  EXPECT_NE(Shown("v").find("n@1600171200000000"), std::string::npos);
  clock_.Advance(2 * kViewTestDay);
  Collect();
  EXPECT_EQ(Shown("v"), "");
  EXPECT_EQ(*ListKeptRows(&store_.tables, store_.Table()->id, RowRange::All(), 10),
            std::vector<std::string>());
}

}  // namespace
}  // namespace sonde::sql
