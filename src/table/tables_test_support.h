// A few families of a table in memory, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/mutate_row_test_support.h"
#include "table/tables.h"

namespace sonde {

inline constexpr int64_t kSecond = 1'000'000;
inline constexpr int64_t kNow = 1'600'000'000 * kSecond;

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
    const absl::Status status = MutateRow(tables_, *schema_, {row, mutations});
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

}  // namespace sonde
