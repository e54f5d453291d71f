#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "base/random.h"
#include "engine/rocks/rocks_engine.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine_conformance.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

struct Sizes {
  size_t page_cells_max = PageLimits().cells_max;
  bool settles = false;
  size_t combined_bytes_max = kCombinedBytesMax;
  size_t step_bytes_max = RocksOptions().settling_step_bytes_max;
};

// Synced writes are the same code and ten times slower; the crash test has them.
std::unique_ptr<Engine> OpenRocks(const std::string& data_dir, const Sizes& sizes) {
  auto engine = RocksEngine::Open({.data_dir = data_dir,
                                   .memory_bytes = 32 << 20,
                                   .sync = false,
                                   .settles = sizes.settles,
                                   .page = {.cells_max = sizes.page_cells_max},
                                   .settling_step_cells_max = 2 * sizes.page_cells_max,
                                   .settling_step_bytes_max = sizes.step_bytes_max,
                                   .settling_head_cells_min = 1,
                                   .visit_interval = absl::Milliseconds(20),
                                   .combined_bytes_max = sizes.combined_bytes_max});
  if (!engine.ok()) {
    ADD_FAILURE() << "cannot open " << data_dir << ": " << engine.status();
    return nullptr;
  }
  return *std::move(engine);
}

// The sizes of an engine are asked for whenever it is opened.
EngineUnderTest MakeRocks(std::function<Sizes()> sizes,
                          std::function<absl::Status(RocksEngine&)> flush_or_compact) {
  const auto directory = std::make_shared<TemporaryDirectory>();
  return {.open = [=] { return OpenRocks(directory->path() + "/data", sizes()); },
          .persistent = true,
          .flush_or_compact =
              [=](Engine& engine) {
                EXPECT_EQ(flush_or_compact(dynamic_cast<RocksEngine&>(engine)), absl::OkStatus());
              },
          .checkpoint =
              [](Engine& engine, TableId table, const std::string& copy) {
                return dynamic_cast<RocksEngine&>(engine).Checkpoint(table, copy);
              },
          .checkpoint_directory = directory->path() + "/copy",
          .open_checkpoint = [=] { return OpenRocks(directory->path() + "/copy", sizes()); }};
}

EngineUnderTest MakeHead(uint64_t) {
  return MakeRocks([] { return Sizes(); }, [](RocksEngine& engine) { return engine.CompactAll(); });
}

// All that is written rests in pages of a few cells, most of the time.
EngineUnderTest MakeSettled(uint64_t) {
  return MakeRocks([] { return Sizes{.page_cells_max = 3}; },
                   [](RocksEngine& engine) {
                     absl::Status status = engine.SettleAll();
                     return status.ok() ? engine.CompactAll() : status;
                   });
}

EngineUnderTest MakeSettlingBySteps(uint64_t seed, std::function<Sizes()> sizes) {
  const auto random = std::make_shared<SeededRandom>(seed);
  return MakeRocks(std::move(sizes), [random](RocksEngine& engine) {
    // So that pages lie in tables that can be given back whole.
    if (random->Uniform(4) == 0) {
      if (absl::Status status = engine.CompactAll(); !status.ok()) return status;
    }
    for (uint64_t steps = random->Uniform(3);; --steps) {
      const absl::StatusOr<bool> more = steps > 0 ? engine.SettleStep() : false;
      if (!more.ok()) return more.status();
      if (*more) continue;
      return steps > 0 ? engine.SwitchHeads() : absl::OkStatus();
    }
  });
}

// Some of it is in each tier: settling goes on a step or two at a time, and by itself.
EngineUnderTest MakeSettling(uint64_t seed) {
  return MakeSettlingBySteps(seed, [] { return Sizes{.page_cells_max = 7, .settles = true}; });
}

// Likewise, with pages and steps of other sizes whenever it is opened, down to a cell a page.
EngineUnderTest MakeRandomPages(uint64_t seed) {
  const auto random = std::make_shared<SeededRandom>(seed);
  return MakeSettlingBySteps(seed, [random] {
    const bool often_apart = random->Uniform(4) == 0;
    return Sizes{.page_cells_max = 1 + random->Uniform(random->Uniform(2) == 0 ? 5 : 200),
                 .settles = random->Uniform(2) == 0,
                 .combined_bytes_max = often_apart ? 1 + random->Uniform(100) : kCombinedBytesMax,
                 .step_bytes_max = 1 + random->Uniform(10'000)};
  });
}

// Likewise, and nearly every entry is a long one: its fragments stay apart, and settle in several batches.
EngineUnderTest MakeLongEntries(uint64_t seed) {
  return MakeSettlingBySteps(seed, [] {
    return Sizes{.page_cells_max = 3, .settles = true, .combined_bytes_max = 1, .step_bytes_max = 1};
  });
}

// One page for all.
EngineUnderTest MakeSettledWhole(uint64_t) {
  return MakeRocks([] { return Sizes(); }, [](RocksEngine& engine) { return engine.SettleAll(); });
}

const auto kSources = testing::Values(
    EngineSource{"Head", MakeHead}, EngineSource{"Settled", MakeSettled},
    EngineSource{"Settling", MakeSettling}, EngineSource{"RandomPages", MakeRandomPages},
    EngineSource{"LongEntries", MakeLongEntries}, EngineSource{"SettledWhole", MakeSettledWhole});

INSTANTIATE_TEST_SUITE_P(Rocks, EngineConformance, kSources, SourceName);
INSTANTIATE_TEST_SUITE_P(Rocks, PersistentEngineConformance, kSources, SourceName);

}  // namespace
}  // namespace sonde
