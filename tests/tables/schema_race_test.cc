// Two servers of a store in memory, whose network is late and loses calls and answers, change schemas at once.
#include "schema_race.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

TEST(SchemaRace, GivesNoIdTwiceAndAcknowledgesNoWriteIntoWhatWasDropped) {
  SchemaRaceOptions options{.seen_within = absl::Milliseconds(60), .changes = 60};
  if (const char* const changes = std::getenv("SONDE_SCHEMA_CHANGES")) options.changes = std::atoi(changes);
  if (const char* const seed = std::getenv("SONDE_TEST_SEED"))
    options.seed = std::strtoull(seed, nullptr, 10);
  const std::unique_ptr<MemoryEngine> store = MemoryEngine::Create();
  const ClusterFaults faults{
      .seed = options.seed, .delay_max = absl::Milliseconds(2), .lost_calls = 5, .lost_answers = 5};
  ClusterFaults others = faults;
  ++others.seed;
  ClusterMember one(store.get(), faults), other(store.get(), others);
  const SchemaRaceResult result = RaceSchemas({&one, &other}, options);
  for (const std::string& fault : result.faults) ADD_FAILURE() << fault;
  EXPECT_GT(result.families_made, 0);
  EXPECT_GT(result.acknowledged, 0);
  fmt::print("{}\n", result.Text());
}

}  // namespace
}  // namespace sonde
