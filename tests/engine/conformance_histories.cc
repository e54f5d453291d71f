// Random histories, and restarts.
//
// SONDE_TEST_HISTORIES: how many histories each engine lives through; SONDE_TEST_SEED: the seed of the first
// one.
#include <cstdlib>
#include <string>

#include "engine_conformance.h"
#include "fmt/format.h"
#include "random_history.h"

namespace sonde {
namespace {

constexpr int kStepsPerHistory = 150;

uint64_t NumberOfEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_P(EngineConformance, RandomHistoriesMatchTheModel) {
  const uint64_t count = NumberOfEnvironment("SONDE_TEST_HISTORIES", 15);
  const uint64_t first = NumberOfEnvironment("SONDE_TEST_SEED", 1);
  engine_.reset();  // each history has an engine of its own
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const EngineUnderTest under_test = GetParam().make(seed);
    const absl::Status status = RunHistory(under_test, seed, kStepsPerHistory);
    ASSERT_TRUE(status.ok()) << fmt::format("SONDE_TEST_SEED={} SONDE_TEST_HISTORIES=1\n", seed)
                             << status.message();
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PersistentEngineConformance);

TEST_P(PersistentEngineConformance, EverythingIsThereAfterARestart) {
  Put("a", "q", 1000, "old");
  Put("b", "q", 1000, "v", kOther);
  Put("c", "q", 1000, "v");
  FlushOrCompact();
  Put("a", "q", 1000, "new");
  Apply("s", {.family = kSum, .aggregate = AggregateKind::kSum, .adds = {{"q", 1000, 40}}});
  ASSERT_EQ(engine_->WriteRecords({{"kept", "1"}, {"gone", "1"}}), absl::OkStatus());
  ASSERT_EQ(engine_->WriteRecords({{"gone", std::nullopt}}), absl::OkStatus());
  ASSERT_EQ(engine_->CreateTable({.id = 8}), absl::OkStatus());
  ASSERT_EQ(engine_->CreateTable({.id = 9}), absl::OkStatus());
  ASSERT_EQ(engine_->DropTable(9), absl::OkStatus());
  ASSERT_EQ(engine_->DropFamily(kTable, kOther), absl::OkStatus());
  ASSERT_EQ(engine_->DropRange(kTable, RowRange::Single("c")), absl::OkStatus());
  for (int restart = 0; restart < 3; ++restart) {
    ASSERT_NO_FATAL_FAILURE(Restart());
    EXPECT_EQ(RowKeys(), (std::vector<std::string>{"a", "s"})) << "after restart " << restart;
    EXPECT_EQ(Cells("a"), "q@1000=new");
    EXPECT_EQ(Cells("s", kSum), "q@1000=" + StateBytes(40 + restart));
    Apply("s", {.family = kSum, .aggregate = AggregateKind::kSum, .adds = {{"q", 1000, 1}}});
    EXPECT_EQ(ReadRecords(""), (Records{{"kept", "1"}}));
    EXPECT_EQ(Rows({RowRange::All()}, false, 8).size(), 0u) << "an empty table is a table";
    EXPECT_EQ(engine_->Scan(9, {RowRange::All()}, {}).status().code(), absl::StatusCode::kNotFound);
  }
}

}  // namespace
}  // namespace sonde
