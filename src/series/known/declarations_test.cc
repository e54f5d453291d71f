#include "series/known/declarations.h"

#include <gtest/gtest.h>

#include <string>

#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

std::string Declared(std::string_view fields) {
  return "series: s\ntags: { host: string }\nfields: { " + std::string(fields) +
         " }\nbucket: day\nkey: [host, bucket]\nretention: { max_age: 1y }\n";
}

class DeclarationsTest : public testing::Test {
 protected:
  MemoryTables tables_;
  ManualClock clock_{1'614'945'600 * kMicrosPerSecond};
  Declarations mine_{&tables_, &clock_};
  Declarations other_{&tables_, &clock_};
};

TEST_F(DeclarationsTest, SeesWithinSecondsWhatOthersStore) {
  ASSERT_TRUE(mine_.Declare(Declared("cpu: double")).ok());
  EXPECT_EQ(mine_.Find("s")->schema.fields.size(), 1);
  ASSERT_TRUE(other_.Declare(Declared("cpu: double, mem: int")).ok());
  EXPECT_EQ(mine_.Find("s")->schema.fields.size(), 1);
  const int reads = tables_.read_requests;
  for (int i = 0; i < 100; ++i) (void)mine_.Find("s");
  EXPECT_EQ(tables_.read_requests, reads);
  clock_.Advance(3 * kMicrosPerSecond);
  EXPECT_EQ(mine_.Find("s")->schema.fields.size(), 2);
  // And that it was taken away.
  tables_.tables[kDeclarationsTable].rows.clear();
  clock_.Advance(3 * kMicrosPerSecond);
  EXPECT_EQ(mine_.Find("s"), nullptr);
}

TEST_F(DeclarationsTest, LooksAtOnceForWhatItDoesNotKnow) {
  EXPECT_EQ(mine_.Find("s"), nullptr);
  ASSERT_TRUE(other_.Declare(Declared("cpu: double")).ok());
  EXPECT_EQ(mine_.Find("s"), nullptr);
  const auto found = mine_.FindStored("s");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->yaml, Declared("cpu: double"));
  EXPECT_EQ(*mine_.FindStored("t"), nullptr);
  EXPECT_EQ(mine_.Extend("s", {}, {}).status().message(), "series 's' is declared");
}

TEST_F(DeclarationsTest, KeepsWhatItKnewWhereItDoesNotUnderstand) {
  ASSERT_TRUE(mine_.Declare(Declared("cpu: double")).ok());
  auto& row = tables_.tables[kDeclarationsTable].rows["s"];
  row[{"d", "yaml"}][clock_.NowMicros() + 1'000] = "series: of a later version";
  clock_.Advance(3 * kMicrosPerSecond);
  ASSERT_NE(mine_.Find("s"), nullptr);
  EXPECT_EQ(mine_.Find("s")->yaml, Declared("cpu: double"));
  EXPECT_EQ(other_.Load().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DeclarationsTest, AnOpenSeriesStaysOne) {
  ASSERT_TRUE(mine_.Extend("s", {"host"}, {{"cpu", FieldType::kDouble}}).ok());
  const absl::Status status = other_.Declare(Declared("cpu: double")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "declaration: series 's' has come undeclared before, and its points are in table 'timeseries'; "
            "declare it under another name");
  // Not even where one was stored that did not look.
  tables_.tables[kDeclarationsTable].rows["s"][{"d", "yaml"}][clock_.NowMicros()] = Declared("cpu: double");
  clock_.Advance(3 * kMicrosPerSecond);
  EXPECT_TRUE(mine_.Find("s")->is_open());
  ASSERT_TRUE(other_.Load().ok());
  EXPECT_TRUE(other_.Find("s")->is_open());
  EXPECT_EQ(
      FindDeclaration("s", &tables_).status().message(),
      "series 's' was not declared, its points have come by line protocol or Prometheus: it can only be "
      "queried");
}

}  // namespace
}  // namespace sonde::series
