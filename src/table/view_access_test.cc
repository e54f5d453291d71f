#include "table/view_access.h"

#include <gtest/gtest.h>

#include "table/mutate_row_test_support.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

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
    const absl::Status status = MutateRow(tables_, *schema_, {row, mutations}, view_.get());
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
  EXPECT_EQ(MutateRow(tables_, *schema_, {"a#1", mutations}, &all), absl::OkStatus());
  EXPECT_EQ(Read({.ranges = {RowRange::Single("a#1")}}), "");
  EXPECT_FALSE(MutateRow(tables_, *schema_, {"a", mutations}, &all).ok());
}

TEST_F(ViewTest, PredicatesAndRulesSeeNoMore) {
  const std::vector<Mutation> mark = {SetCell{"z", "p", 0, "marked"}}, out = {SetCell{"z", "q", 0, "v"}};
  const auto is_two = Filter({FilterSpec::ValueRegex{"2"}}), is_three = Filter({FilterSpec::ValueRegex{"3"}});
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#1", {is_two, mark, {}}, view_), false);
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#1", {is_three, mark, {}}, view_), true);
  EXPECT_EQ(tables_.CheckAndMutateRow(schema_, "a#1", {is_three, mark, out}, view_).status().ToString(),
            kOutside);
  EXPECT_EQ(tables_.CheckAndMutateRow(schema_, "b", {nullptr, mark, {}}, view_).status().ToString(),
            kOutside);
  Put("a#9", {SetCell{"z", "q", 0, "not in the view"}});
  EXPECT_EQ(*tables_.CheckAndMutateRow(schema_, "a#9", {nullptr, {}, mark}, view_), false);

  using Rule = ReadModifyWriteRule;
  const std::vector<Rule> in = {{"z", "p", Rule::Append{"+"}}},
                          not_in = {{"z", "p", Rule::Append{"+"}}, {"z", "q", Rule::Append{"+"}}};
  EXPECT_EQ((*tables_.ReadModifyWriteRow(schema_, "a#2", in, view_))[0].value, "1+");
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "a#2", not_in, view_).status().ToString(), kOutside);
  EXPECT_EQ(tables_.ReadModifyWriteRow(schema_, "b", in, view_).status().ToString(), kOutside);
}

}  // namespace
}  // namespace sonde
