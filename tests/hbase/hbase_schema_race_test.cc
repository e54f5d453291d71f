// Two servers over a store in a cluster change schemas at once, while others write.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/random.h"
#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"
#include "schema_race.h"

namespace sonde {
namespace {

TEST(HBaseSchemaRace, GivesNoIdTwiceAndAcknowledgesNoWriteIntoWhatWasDropped) {
  const char* const master = std::getenv("SONDE_HBASE_MASTER");
  ASSERT_NE(master, nullptr) << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
  SchemaRaceOptions options{.changes = 24};
  if (const char* const changes = std::getenv("SONDE_SCHEMA_CHANGES")) options.changes = std::atoi(changes);
  if (const char* const seed = std::getenv("SONDE_TEST_SEED"))
    options.seed = std::strtoull(seed, nullptr, 10);
  SystemRandom random;
  const HBaseStoreAddress address =
      *ParseHBaseStore(fmt::format("hbase://{}/sonde_race_{:016x}", master, random.Next()));
  const auto open = [&] {
    return *HBaseEngine::Open(
        {.address = address, .tls = hbase::TlsOfCluster(), .open_timeout = absl::Minutes(2)});
  };
  const std::unique_ptr<HBaseEngine> one = open(), other = open();
  const SchemaRaceResult result = RaceSchemas({one.get(), other.get()}, options);
  for (const std::string& fault : result.faults) ADD_FAILURE() << fault;
  EXPECT_GT(result.families_made, 0);
  EXPECT_GT(result.acknowledged, 0);
  fmt::print("{}\n", result.Text());
  const auto tables = one->client()->tables()->List(address.space, hbase::InAMinute());
  ASSERT_TRUE(tables.ok()) << tables.status();
  for (const hbase::TableSchema& table : *tables)
    EXPECT_EQ(one->client()->tables()->Drop(table.table, hbase::InAMinute()), absl::OkStatus());
}

}  // namespace
}  // namespace sonde
