#include "engine/memory/memory_engine.h"
#include "engine_conformance.h"

namespace sonde {
namespace {

EngineSource Memory(std::string name, MemoryEngineOptions options) {
  return {std::move(name), [options](uint64_t) {
            return EngineUnderTest{.open = [options] { return MemoryEngine::Create(options); }};
          }};
}

INSTANTIATE_TEST_SUITE_P(Memory, EngineConformance,
                         testing::Values(Memory("HonoursHints", {}),
                                         Memory("IgnoresHints", {.honour_hints = false}),
                                         Memory("OneCellAPiece", {.cells_per_piece_max = 1})),
                         SourceName);

}  // namespace
}  // namespace sonde
