#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "engine_conformance.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

// Synced writes are the same code and ten times slower; the crash test has them.
std::unique_ptr<Engine> OpenRocks(const std::string& data_dir, size_t page_cells_max, bool settles) {
  auto engine = RocksEngine::Open({.data_dir = data_dir,
                                   .memory_bytes = 32 << 20,
                                   .sync = false,
                                   .settles = settles,
                                   .page = {.cells_max = page_cells_max},
                                   .settling_step_cells_max = 2 * page_cells_max,
                                   .settling_head_cells_min = 1});
  if (!engine.ok()) {
    ADD_FAILURE() << "cannot open " << data_dir << ": " << engine.status();
    return nullptr;
  }
  return *std::move(engine);
}

EngineUnderTest MakeRocks(size_t page_cells_max, bool settles,
                          std::function<absl::Status(RocksEngine&)> flush_or_compact) {
  const auto directory = std::make_shared<TemporaryDirectory>();
  return {.open = [=] { return OpenRocks(directory->path() + "/data", page_cells_max, settles); },
          .persistent = true,
          .flush_or_compact =
              [=](Engine& engine) {
                EXPECT_EQ(flush_or_compact(dynamic_cast<RocksEngine&>(engine)), absl::OkStatus());
              },
          .checkpoint_directory = directory->path() + "/copy",
          .open_checkpoint = [=] { return OpenRocks(directory->path() + "/copy", page_cells_max, settles); }};
}

EngineUnderTest MakeHead() {
  return MakeRocks(PageLimits().cells_max, /*settles=*/false,
                   [](RocksEngine& engine) { return engine.CompactAll(); });
}

// All that is written rests in pages of a few cells, most of the time.
EngineUnderTest MakeSettled() {
  return MakeRocks(3, /*settles=*/false, [](RocksEngine& engine) {
    absl::Status status = engine.SettleAll();
    return status.ok() ? engine.CompactAll() : status;
  });
}

// Some of it is in each tier: settling goes on a step or two at a time, and by itself.
EngineUnderTest MakeSettling() {
  const auto random = std::make_shared<SeededRandom>(1);
  return MakeRocks(7, /*settles=*/true, [random](RocksEngine& engine) {
    for (uint64_t steps = random->Uniform(3);; --steps) {
      const absl::StatusOr<bool> more = steps > 0 ? engine.SettleStep() : false;
      if (!more.ok()) return more.status();
      if (*more) continue;
      return steps > 0 ? engine.SwitchHeads() : absl::OkStatus();
    }
  });
}

// One page for all.
EngineUnderTest MakeSettledWhole() {
  return MakeRocks(PageLimits().cells_max, /*settles=*/false,
                   [](RocksEngine& engine) { return engine.SettleAll(); });
}

const auto kSources =
    testing::Values(EngineSource{"Head", MakeHead}, EngineSource{"Settled", MakeSettled},
                    EngineSource{"Settling", MakeSettling}, EngineSource{"SettledWhole", MakeSettledWhole});

INSTANTIATE_TEST_SUITE_P(Rocks, EngineConformance, kSources, SourceName);
INSTANTIATE_TEST_SUITE_P(Rocks, PersistentEngineConformance, kSources, SourceName);

}  // namespace
}  // namespace sonde
