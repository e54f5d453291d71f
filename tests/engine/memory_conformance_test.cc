#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"
#include "engine_conformance.h"

namespace sonde {
namespace {

EngineSource Memory(std::string name, MemoryEngineOptions options) {
  return {std::move(name), [options](uint64_t) {
            return EngineUnderTest{.open = [options] { return MemoryEngine::Create(options); }};
          }};
}

class OwnStore {
 protected:
  const std::unique_ptr<MemoryEngine> store_ = MemoryEngine::Create();
};

// A member of a cluster, with a store of its own.
class OnlyMember final : private OwnStore, public ClusterMember {
 public:
  explicit OnlyMember(const ClusterFaults& faults) : ClusterMember(store_.get(), faults) {}
};

EngineSource Cluster(std::string name, ClusterFaults faults) {
  return {std::move(name), [faults](uint64_t seed) {
            ClusterFaults seeded = faults;
            seeded.seed = seed;
            return EngineUnderTest{.open = [seeded] { return std::make_unique<OnlyMember>(seeded); }};
          }};
}

INSTANTIATE_TEST_SUITE_P(Memory, EngineConformance,
                         testing::Values(Memory("HonoursHints", {}),
                                         Memory("IgnoresHints", {.honour_hints = false}),
                                         Memory("OneCellAPiece", {.cells_per_piece_max = 1}),
                                         Cluster("Cluster", {}),
                                         Cluster("LateCluster", {.delay_max = absl::Microseconds(300)})),
                         SourceName);

}  // namespace
}  // namespace sonde
