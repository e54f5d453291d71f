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

TEST(MemoryEngine, SaysThatItHasNoFilesToCopy) {
  const std::unique_ptr<Engine> engine = MemoryEngine::Create();
  EXPECT_EQ(engine->Checkpoint(1, "copy").code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(engine->CreateTable(1).ok());
  EXPECT_EQ(engine->Checkpoint(1, "copy").code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sonde
