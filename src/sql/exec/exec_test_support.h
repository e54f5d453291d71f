// Plans made by hand over a table in memory, for the tests of this folder.
//
//   PlanPtr plan = ScanPlan(table, {KeyColumn(), CellColumn("a", "q")});
//   EXPECT_EQ(Rows(*plan), "b\"k1\" b\"v\"\n");
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "sql/bind/binder.h"
#include "sql/exec/execution.h"
#include "sql/plan/plan.h"
#include "sql/value/value.h"
#include "table/mutate_row_test_support.h"
#include "table/tables.h"

namespace sonde::sql {

inline constexpr int64_t kSecond = 1'000'000;
inline constexpr int64_t kNow = 1'600'000'000 * kSecond;

// The large size of campaigns (scripts/nightly) is so many times the small one.
inline int CampaignScale() {
  const char* const scale = std::getenv("SONDE_SQL_SCALE");
  return scale == nullptr ? 1 : std::max(1, std::atoi(scale));
}

// --- Plans.
inline ScanColumn KeyColumn() { return {.kind = ScanColumn::Kind::kKey, .type = TypeKind::kBytes}; }
inline Type HistoryOf(const Type& value) {
  return Type::Array(Type::Struct({{"timestamp", TypeKind::kTimestamp}, {"value", value}}));
}
inline ScanColumn OfFamily(std::string family, bool history = false, const Type& value = TypeKind::kBytes) {
  return {.kind = ScanColumn::Kind::kFamily,
          .family = std::move(family),
          .type = Type::Map(TypeKind::kBytes, history ? HistoryOf(value) : value)};
}
inline ScanColumn OfCell(std::string family, std::string qualifier, const Type& type = TypeKind::kBytes) {
  return {.kind = ScanColumn::Kind::kCell,
          .family = std::move(family),
          .qualifier = std::move(qualifier),
          .type = type};
}
inline ScanColumn OfTime(std::string family, std::string qualifier) {
  return {.kind = ScanColumn::Kind::kWriteTimestamp,
          .family = std::move(family),
          .qualifier = std::move(qualifier),
          .type = TypeKind::kTimestamp};
}

inline PlanPtr NewPlan(Plan::Kind kind, std::vector<Type> types, PlanPtr input = nullptr) {
  auto plan = std::make_unique<Plan>();
  plan->kind = kind;
  plan->types = std::move(types);
  if (input != nullptr) plan->inputs.push_back(std::move(input));
  return plan;
}
inline PlanPtr ScanPlan(TableSchemaRef table, std::vector<ScanColumn> columns) {
  std::vector<Type> types;
  for (const ScanColumn& column : columns) types.push_back(column.type);
  PlanPtr plan = NewPlan(Plan::Kind::kScan, std::move(types));
  plan->scan = std::make_unique<Plan::Scan>();
  plan->scan->table = std::move(table);
  plan->scan->columns = std::move(columns);
  return plan;
}
inline PlanPtr LimitPlan(PlanPtr input, std::optional<Value> limit, std::optional<Value> offset = {}) {
  PlanPtr plan = NewPlan(Plan::Kind::kLimit, input->types, nullptr);
  if (limit.has_value()) plan->limit = MakeLiteral(*limit);
  if (offset.has_value()) plan->offset = MakeLiteral(*offset);
  plan->inputs.push_back(std::move(input));
  return plan;
}

class ExecTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = "projects/p/instances/i/tables/t";
    schema.families = {{.name = "z"},
                       {.name = "a"},
                       {.name = "last", .gc_rule = {GcRule::MaxVersions{2}}},
                       {.name = "sum", .aggregate = AggregateKind::kSum}};
    table_ = *catalog_->Create(schema);
  }

  void Put(std::string_view row, std::vector<Mutation> mutations) {
    const absl::Status status = MutateRow(tables_, *table_, {row, mutations});
    ASSERT_TRUE(status.ok()) << status;
  }
  // A cell, at a second.
  void Put(std::string_view row, std::string_view family, std::string_view qualifier, int64_t second,
           std::string_view value) {
    Put(row, {SetCell{family, qualifier, second * kSecond, value}});
  }

  ExecutionEnvironment Environment() {
    ExecutionEnvironment environment;
    environment.tables = &tables_;
    return environment;
  }

  static void AppendRows(const std::vector<Type>& types, const rows::Batch& batch, std::string* text) {
    for (size_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < types.size(); ++i) {
        if (i > 0) *text += ' ';
        AppendSql(types[i], DatumAt(batch.columns[i], row), text);
      }
      *text += '\n';
    }
  }

  // A line a row; after an error its text.
  static std::string Rest(Execution* execution, const std::vector<Type>& types) {
    std::string text;
    rows::Batch batch;
    while (true) {
      const absl::StatusOr<bool> more = execution->Next(&batch);
      if (!more.ok()) return text + more.status().ToString();
      if (!*more) return text;
      AppendRows(types, batch, &text);
    }
  }

  std::string Rows(PlanPtr plan, const ExecutionEnvironment& environment) {
    BoundQuery query;
    query.plan = std::move(plan);
    const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    return Rest(execution->get(), query.plan->types);
  }
  std::string Rows(PlanPtr plan) { return Rows(std::move(plan), Environment()); }

  // --- Queries as text.
  absl::StatusOr<BoundQuery> BindText(std::string_view sql, std::vector<QueryParameter> parameters = {}) {
    BindOptions options;
    options.find_table = [this](std::string_view id) {
      return catalog_->Find("projects/p/instances/i/tables/" + std::string(id));
    };
    options.parameters = std::move(parameters);
    options.rewrite.numbers = reads_numbers_;
    return ParseAndBind(sql, options);
  }
  static std::vector<Type> TypesOf(const BoundQuery& query) {
    std::vector<Type> types;
    for (const OutputColumn& column : query.columns) types.push_back(column.type);
    return types;
  }
  // A line a row; after an error its text.
  std::string Query(std::string_view sql, const ExecutionEnvironment& environment) {
    const absl::StatusOr<BoundQuery> query = BindText(sql);
    if (!query.ok()) return query.status().ToString();
    const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(*query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    return Rest(execution->get(), TypesOf(*query));
  }
  std::string Query(std::string_view sql) { return Query(sql, Environment()); }

  bool reads_numbers_ = true;
  ManualClock clock_{kNow};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
  TableSchemaRef table_;
};

}  // namespace sonde::sql
