#include <cstdio>
#include <cstdlib>
#include <memory>

#include "engine/rocks/rocks_engine.h"
#include "engine_conformance.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

// Synced writes are the same code and ten times slower; the crash test has them.
std::unique_ptr<Engine> OpenRocks(const std::string& data_dir) {
  auto engine = RocksEngine::Open({.data_dir = data_dir, .memory_bytes = 32 << 20, .sync = false});
  if (!engine.ok()) {
    ADD_FAILURE() << "cannot open " << data_dir << ": " << engine.status();
    return nullptr;
  }
  return *std::move(engine);
}

EngineUnderTest MakeRocks() {
  const auto directory = std::make_shared<TemporaryDirectory>();
  return {.open = [directory] { return OpenRocks(directory->path() + "/data"); },
          .persistent = true,
          .flush_or_compact =
              [](Engine& engine) {
                EXPECT_EQ(dynamic_cast<RocksEngine&>(engine).CompactAll(), absl::OkStatus());
              }};
}

INSTANTIATE_TEST_SUITE_P(Rocks, EngineConformance, testing::Values(EngineSource{"Head", MakeRocks}),
                         SourceName);
INSTANTIATE_TEST_SUITE_P(Rocks, PersistentEngineConformance, testing::Values(EngineSource{"Head", MakeRocks}),
                         SourceName);

}  // namespace
}  // namespace sonde
