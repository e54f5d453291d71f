// What MemoryEngine promises beyond Engine; the rest is in tests/engine.
#include "engine/memory/memory_engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/varint.h"

namespace sonde {
namespace {

constexpr TableId kTable = 1;
constexpr FamilyId kPlain = 2;
constexpr FamilyId kOther = 3;

std::string BigEndian(int64_t state) {
  std::string value;
  PutFixed64(&value, static_cast<uint64_t>(state));
  return value;
}

RowDelta Puts(FamilyId family, std::vector<CellView> puts) {
  return {.families = {{.family = family, .puts = std::move(puts)}}};
}

RowDelta Add(AggregateKind kind, int64_t state) {
  return {.families = {{.family = kPlain, .aggregate = kind, .adds = {{"q", 1000, state}}}}};
}

// One line a piece: row/family: qualifier@timestamp=value ...
std::string Transcript(MemoryEngine* engine, Engine::ScanOptions options = {}) {
  auto stream = engine->Scan(kTable, {RowRange::All()}, std::move(options));
  EXPECT_TRUE(stream.ok()) << stream.status();
  std::string text;
  RowPiece piece;
  while ((*stream)->Next(&piece).value()) {
    text += fmt::format("{}/{}:", piece.row_key, piece.family);
    for (const CellView& cell : piece.cells) {
      text += fmt::format(" {}@{}={}", cell.qualifier, cell.timestamp_micros, cell.value);
    }
    text += "\n";
  }
  return text;
}

std::unique_ptr<MemoryEngine> TwoRows(MemoryEngineOptions options) {
  auto engine = MemoryEngine::Create(options);
  EXPECT_TRUE(engine->CreateTable({.id = kTable}).ok());
  EXPECT_TRUE(engine
                  ->Apply(kTable, {{"a", Puts(kPlain, {{"p", 2, "x"}, {"p", 1, "y"}, {"q", 2, "z"}})},
                                   {"a", Puts(kOther, {{"p", 2, "w"}})},
                                   {"b", Puts(kOther, {{"p", 2, "v"}})}})
                  .ok());
  return engine;
}

TEST(MemoryEngine, HonoursEveryHintExactly) {
  auto engine = TwoRows({});
  Engine::ScanOptions options;
  options.hints.families = {kPlain};
  EXPECT_EQ(Transcript(engine.get(), options), "a/2: p@2=x p@1=y q@2=z\n");
  options.hints.columns = {ReadHints::ColumnRange{.start = "p", .end = "q"}};
  EXPECT_EQ(Transcript(engine.get(), options), "a/2: p@2=x p@1=y\n");
  options.hints.newest_per_column = 1;
  options.hints.keys_only = true;
  EXPECT_EQ(Transcript(engine.get(), options), "a/2: p@2=\n");
  options = {.hints = {.time_range = {.start_micros = 1, .end_micros = 2}}};
  EXPECT_EQ(Transcript(engine.get(), options), "a/2: p@1=y\n");
  options = {.reverse = true, .hints = {.rows_max = 1}};
  EXPECT_EQ(Transcript(engine.get(), options), "b/3: p@2=v\n");
}

TEST(MemoryEngine, IgnoresEveryHintWhenToldTo) {
  auto engine = TwoRows({.honour_hints = false});
  Engine::ScanOptions options;
  options.hints = {.families = std::vector<FamilyId>{kPlain},
                   .columns = std::vector<ReadHints::ColumnRange>{},
                   .time_range = {.start_micros = 7},
                   .newest_per_column = 1,
                   .keys_only = true,
                   .rows_max = 1};
  EXPECT_EQ(Transcript(engine.get(), options), "a/2: p@2=x p@1=y q@2=z\na/3: p@2=w\nb/3: p@2=v\n");
}

TEST(MemoryEngine, CutsFamiliesIntoPieces) {
  auto engine = TwoRows({.cells_per_piece_max = 2});
  EXPECT_EQ(Transcript(engine.get()), "a/2: p@2=x p@1=y\na/2: q@2=z\na/3: p@2=w\nb/3: p@2=v\n");
}

TEST(MemoryEngine, AScanEndsWhenItsTableIsDropped) {
  auto engine = TwoRows({});
  auto stream = engine->Scan(kTable, {RowRange::All()}, {});
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE(engine->DropTable(kTable).ok());
  RowPiece piece;
  EXPECT_FALSE((*stream)->Next(&piece).value());
}

TEST(MemoryEngine, CountsTheBytesOfATable) {
  auto engine = TwoRows({});
  const auto ranges = engine->Ranges(kTable, absl::InfiniteFuture());
  ASSERT_TRUE(ranges.ok());
  ASSERT_EQ(ranges->size(), 1u);
  EXPECT_EQ((*ranges)[0].end_key, "");
  // 2 row keys, 4 columns of one byte, 5 timestamps of 8, 5 values of one byte.
  EXPECT_EQ((*ranges)[0].bytes, 2u + 4u + 5 * 8u + 5u);
}

TEST(MemoryEngine, AStateOfAWrongLengthCountsAsZero) {
  auto engine = MemoryEngine::Create();
  ASSERT_TRUE(engine->CreateTable({.id = kTable}).ok());
  ASSERT_TRUE(engine->Apply(kTable, {{"r", Puts(kPlain, {{"q", 1000, "seven.."}})}}).ok());
  ASSERT_TRUE(engine->Apply(kTable, {{"r", Add(AggregateKind::kMin, 5)}}).ok());
  EXPECT_EQ(Transcript(engine.get()), "r/2: q@1000=" + BigEndian(0) + "\n");
}

}  // namespace
}  // namespace sonde
