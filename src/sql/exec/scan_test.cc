#include <gtest/gtest.h>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

class ScanTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    Put("r1", "a", "p", 1, "p1");
    Put("r1", "a", "p", 3, "p3");
    Put("r1", "a", "q", 2, "q2");
    Put("r2", "z", "y", 5, "y5");
    Put("r3", "a", "q", 4, "q4");
    Put("r3", {AddToCell{"sum", "n", 1 * kSecond, int64_t{7}}});
  }

  PlanPtr Scan(std::vector<ScanColumn> columns) { return ScanPlan(table_, std::move(columns)); }
};

Value Seconds(int64_t seconds) { return Value::Timestamp(seconds * kSecond); }

TEST_F(ScanTest, GivesTheNewestCellOfEachColumn) {
  EXPECT_EQ(Rows(Scan({KeyColumn(), OfFamily("a"), OfCell("a", "p"), OfTime("a", "q")})),
            "b\"r1\" {b\"p\": b\"p3\", b\"q\": b\"q2\"} b\"p3\" TIMESTAMP \"1970-01-01 00:00:02+00\"\n"
            "b\"r2\" {} NULL NULL\n"
            "b\"r3\" {b\"q\": b\"q4\"} NULL TIMESTAMP \"1970-01-01 00:00:04+00\"\n");
}

TEST_F(ScanTest, DecodesNumbersOfAggregateFamilies) {
  EXPECT_EQ(Rows(Scan({OfFamily("sum", false, TypeKind::kInt64), OfCell("sum", "n", TypeKind::kInt64)})),
            "{} NULL\n{} NULL\n{b\"n\": 7} 7\n");
}

TEST_F(ScanTest, WithoutColumnsStillGivesARowForEach) {
  EXPECT_EQ(Rows(Scan({})), "\n\n\n");
  EXPECT_EQ(Rows(Scan({KeyColumn()})), "b\"r1\"\nb\"r2\"\nb\"r3\"\n");
}

TEST_F(ScanTest, LeavesRowsOutThatHaveNoneOfItsColumnsIfThesePlanNone) {
  PlanPtr plan = Scan({KeyColumn(), OfCell("a", "q")});
  plan->scan->needs_all_rows = false;
  EXPECT_EQ(Rows(std::move(plan)), "b\"r1\" b\"q2\"\nb\"r3\" b\"q4\"\n");
  plan = Scan({KeyColumn(), OfCell("a", "p"), OfCell("z", "y"), OfCell("z", "x")});
  plan->scan->needs_all_rows = false;
  EXPECT_EQ(Rows(std::move(plan)), "b\"r1\" b\"p3\" NULL NULL\nb\"r2\" NULL b\"y5\" NULL\n");
}

TEST_F(ScanTest, AsOfTakesTheNewestAtOrBefore) {
  const auto as_of = [&](Value time) {
    PlanPtr plan = Scan({KeyColumn(), OfCell("a", "p")});
    plan->scan->temporal.as_of = MakeLiteral(std::move(time));
    return Rows(std::move(plan));
  };
  EXPECT_EQ(as_of(Seconds(0)), "");
  EXPECT_EQ(as_of(Seconds(1)), "b\"r1\" b\"p1\"\nb\"r3\" NULL\n");
  EXPECT_EQ(as_of(Value::Timestamp(3 * kSecond - 1)), "b\"r1\" b\"p1\"\nb\"r3\" NULL\n");
  EXPECT_EQ(as_of(Seconds(3)), "b\"r1\" b\"p3\"\nb\"r3\" NULL\n");
  EXPECT_EQ(as_of(Seconds(-5)), "");
  EXPECT_EQ(as_of(Value::Null(TypeKind::kTimestamp)), "INVALID_ARGUMENT: as_of must not be NULL");
}

TEST_F(ScanTest, HistoryIsBoundedByTemporalArguments) {
  struct Case {
    ExpressionPtr TemporalArguments::* argument;
    Value value;
    std::string expected;  // of a:p in r1
  };
  const std::string p3 = "(TIMESTAMP \"1970-01-01 00:00:03+00\", b\"p3\")";
  const std::string p1 = "(TIMESTAMP \"1970-01-01 00:00:01+00\", b\"p1\")";
  const Case cases[] = {
      {nullptr, {}, "[" + p3 + ", " + p1 + "]"},
      {&TemporalArguments::after, Seconds(1), "[" + p3 + "]"},
      {&TemporalArguments::after_or_equal, Seconds(1), "[" + p3 + ", " + p1 + "]"},
      {&TemporalArguments::before, Seconds(3), "[" + p1 + "]"},
      {&TemporalArguments::before_or_equal, Seconds(3), "[" + p3 + ", " + p1 + "]"},
      {&TemporalArguments::latest_n, Value::Int(1), "[" + p3 + "]"},
      {&TemporalArguments::latest_n, Value::Int(int64_t{1} << 40), "[" + p3 + ", " + p1 + "]"},
  };
  for (const Case& test : cases) {
    PlanPtr plan = Scan({OfCell("a", "p", HistoryOf(TypeKind::kBytes))});
    plan->scan->temporal.with_history = true;
    plan->scan->needs_all_rows = false;
    if (test.argument != nullptr) plan->scan->temporal.*test.argument = MakeLiteral(test.value);
    std::string rows = Rows(std::move(plan));
    EXPECT_EQ(rows, test.expected + "\n");
  }
  PlanPtr plan = Scan({OfFamily("a", true)});
  plan->scan->temporal.with_history = true;
  plan->scan->temporal.latest_n = MakeLiteral(Value::Int(0));
  EXPECT_EQ(Rows(std::move(plan)), "INVALID_ARGUMENT: latest_n must be at least 1, but is 0");
}

TEST_F(ScanTest, LimitsAndReverses) {
  EXPECT_EQ(Rows(LimitPlan(Scan({KeyColumn()}), Value::Int(2), Value::Int(1))), "b\"r2\"\nb\"r3\"\n");
  PlanPtr plan = Scan({KeyColumn()});
  plan->scan->reversed = true;
  EXPECT_EQ(Rows(LimitPlan(std::move(plan), Value::Int(2))), "b\"r3\"\nb\"r2\"\n");
  EXPECT_EQ(Rows(LimitPlan(Scan({}), Value::Int(-1))),
            "OUT_OF_RANGE: Limit requires non-negative count and offset");
  EXPECT_EQ(Rows(LimitPlan(Scan({}), Value())), "OUT_OF_RANGE: Limit requires non-null count and offset");
}

TEST_F(ScanTest, UnpackGivesARowForEachTime) {
  PlanPtr scan = Scan({KeyColumn(), OfFamily("a", true), OfCell("a", "p", HistoryOf(TypeKind::kBytes))});
  scan->scan->temporal.with_history = true;
  PlanPtr plan = NewPlan(Plan::Kind::kUnpack,
                         {TypeKind::kBytes, Type::Map(TypeKind::kBytes, TypeKind::kBytes), TypeKind::kBytes,
                          TypeKind::kTimestamp},
                         std::move(scan));
  plan->history = {{1, true}, {2, false}};
  EXPECT_EQ(Rows(std::move(plan)),
            "b\"r1\" {b\"p\": b\"p3\"} b\"p3\" TIMESTAMP \"1970-01-01 00:00:03+00\"\n"
            "b\"r1\" {b\"q\": b\"q2\"} NULL TIMESTAMP \"1970-01-01 00:00:02+00\"\n"
            "b\"r1\" {b\"p\": b\"p1\"} b\"p1\" TIMESTAMP \"1970-01-01 00:00:01+00\"\n"
            "b\"r3\" {b\"q\": b\"q4\"} NULL TIMESTAMP \"1970-01-01 00:00:04+00\"\n");
}

TEST_F(ScanTest, ResumesBehindEachBatch) {
  for (int row = 0; row < 200; ++row) Put("s" + std::to_string(1000 + row), "a", "p", row + 1, "v");
  const auto make = [&](bool reversed) {
    PlanPtr scan = Scan({KeyColumn(), OfCell("a", "p")});
    scan->scan->reversed = reversed;
    return LimitPlan(std::move(scan), Value::Int(150), Value::Int(3));
  };
  for (const bool reversed : {false, true}) {
    BoundQuery query;
    query.plan = make(reversed);
    const std::string all = Rows(make(reversed));
    auto execution = *Execute(query, {}, Environment());
    std::string before;
    rows::Batch batch;
    while (*execution->Next(&batch)) {
      AppendRows(query.plan->types, batch, &before);
      ExecutionEnvironment environment = Environment();
      environment.resume_after = *execution->ResumePoint();
      auto resumed = *Execute(query, {}, environment);
      EXPECT_EQ(before + Rest(resumed.get(), query.plan->types), all);
    }
    EXPECT_EQ(before, all);
  }
}

}  // namespace
}  // namespace sonde::sql
