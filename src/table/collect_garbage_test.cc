#include "table/collect_garbage.h"

#include "engine/memory/cluster_member.h"
#include "table/change_streams_test_support.h"

namespace sonde {
namespace {

TEST_F(ChangeStreamsTest, GarbageIsCollectedAndTold) {
  ASSERT_TRUE(catalog_
                  ->Modify(kTable, {UpdateFamily{"f", GcRule{GcRule::MaxVersions{2}}},
                                    UpdateFamily{"g", GcRule{GcRule::MaxAge{10 * kSecond}}}})
                  .ok());
  const int64_t now = clock_.NowMicros();
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 3000, "3"},
                                           SetCell{"f", "q", 2000, "2"},
                                           SetCell{"f", "q", 1000, "1"},
                                           SetCell{"f", "q", 0, "0"},
                                           SetCell{"f", "r", 1000, "1"},
                                           SetCell{"g", "old", now, "x"},
                                           SetCell{"g", "new", now + 30 * kSecond, "x"}};
  for (const char* row : {"a", "b"}) ASSERT_TRUE(MutateRow(tables_, *Schema(), {row, mutations}).ok());
  auto reader = Open({});
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(Drain(reader.get()), "a: -f:q; b: -f:q; ");
  clock_.Advance(20 * kSecond);
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(Drain(reader.get()), "a: -g:old; b: -g:old; ");
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(Drain(reader.get()), "") << "it is collected once";

  std::string left;
  const auto stream = *engine_->Scan(Schema()->id, {RowRange::Single("a")}, {});
  RowPiece piece;
  while (*stream->Next(&piece)) {
    for (const CellView& cell : piece.cells) {
      left += std::string(cell.qualifier) + "@" + std::to_string(cell.timestamp_micros % kSecond) + " ";
    }
  }
  EXPECT_EQ(left, "q@3000 q@2000 r@1000 new@0 ");
}

TEST_F(ChangeStreamsTest, GarbageIsToldToAUseOfTheLogThatReadsIt) {
  const auto logged_pieces = [this](bool reads_garbage) {
    EXPECT_TRUE(catalog_
                    ->Update(kTable,
                             [&](TableSchema* table) {
                               table->change_stream.reset();
                               table->log_uses = {{.name = "views",
                                                   .retention_micros = kDay,
                                                   .reads_garbage = reads_garbage}};
                               return absl::OkStatus();
                             })
                    .ok());
    EXPECT_EQ(streams_.Upkeep(), absl::OkStatus());
    size_t count = 0;
    const auto visit = [&](const RowLog::Piece& piece) {
      ChangePiece decoded;
      EXPECT_EQ(DecodeChangePiece(piece.bytes, &decoded), absl::OkStatus());
      if (decoded.kind == ChangeKind::kGarbageCollection) ++count;
      return true;
    };
    EXPECT_EQ(engine_->log()->Read(Schema()->id, RowRange::All(), 0, 0, INT64_MAX, visit), absl::OkStatus());
    return count;
  };
  ASSERT_TRUE(catalog_->Modify(kTable, {UpdateFamily{"f", GcRule{GcRule::MaxVersions{1}}}}).ok());
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 2000, "2"}, SetCell{"f", "q", 1000, "1"}};
  ASSERT_TRUE(MutateRow(tables_, *Schema(), {"a", mutations}).ok());
  EXPECT_EQ(logged_pieces(false), 0U);
  EXPECT_EQ(logged_pieces(true), 1U);
}

// In a table of microseconds, what is forgotten may lie just below what is kept, wherever that is.
TEST_F(ChangeStreamsTest, CollectingTheGreatestTimestampsSparesWhatIsKept) {
  TableSchema micros = *Schema();
  micros.name += "-micros";
  micros.granularity = TimestampGranularity::kMicros;
  micros.families = {{.name = "f", .gc_rule = {GcRule::MaxVersions{1}}}};
  const TableSchemaRef schema = *catalog_->Create(micros);
  const std::vector<Mutation> mutations = {
      SetCell{"f", "q", INT64_MAX, "last"}, SetCell{"f", "q", INT64_MAX - 1, "x"},
      SetCell{"f", "r", INT64_MAX - 806, "kept"}, SetCell{"f", "r", INT64_MAX - 807, "x"},
      SetCell{"f", "r", 0, "x"}};
  ASSERT_TRUE(MutateRow(tables_, *schema, {"a", mutations}).ok());
  EXPECT_FALSE(CollectGarbage(&tables_, schema, "", 10)->has_value());
  std::string left;
  const auto stream = *engine_->Scan(schema->id, {RowRange::All()}, {});
  RowPiece piece;
  while (*stream->Next(&piece)) {
    for (const CellView& cell : piece.cells) left += std::string(cell.value) + " ";
  }
  EXPECT_EQ(left, "last kept ");
}

TEST_F(ChangeStreamsTest, GarbageIsCollectedAFewRowsAtATime) {
  ASSERT_TRUE(catalog_->Modify(kTable, {UpdateFamily{"f", GcRule{GcRule::MaxVersions{1}}}}).ok());
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 1000, "1"}, SetCell{"f", "q", 0, "0"}};
  for (const char* row : {"a", "b", "c"}) ASSERT_TRUE(MutateRow(tables_, *Schema(), {row, mutations}).ok());
  auto reader = Open({});
  EXPECT_EQ(*CollectGarbage(&tables_, Schema(), "", 2), std::optional<std::string>("c"));
  EXPECT_EQ(Drain(reader.get()), "a: -f:q; b: -f:q; ");
  EXPECT_FALSE(CollectGarbage(&tables_, Schema(), "c", 2)->has_value());
  EXPECT_EQ(Drain(reader.get()), "c: -f:q; ");
}

// Such a store forgets nothing by itself.
TEST(CollectGarbageTest, IsDoneInAllTablesOfAStoreThatServersShare) {
  const auto store = MemoryEngine::Create();
  ClusterMember engine(store.get(), {});
  ManualClock clock(kStart);
  const std::unique_ptr<Catalog> catalog = *Catalog::Open(&engine);
  Tables tables(&engine, catalog.get(), &clock, 1);
  ChangeStreams streams(&tables);
  TableSchema schema;
  schema.name = kTable;
  schema.families = {{.name = "f", .gc_rule = {GcRule::MaxVersions{1}}}};
  const absl::StatusOr<TableSchemaRef> made = catalog->Create(schema);
  ASSERT_TRUE(made.ok()) << made.status();
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 2000, "2"}, SetCell{"f", "q", 1000, "1"},
                                           SetCell{"f", "r", 1000, "1"}};
  ASSERT_TRUE(MutateRow(tables, **made, {"a", mutations}).ok());
  ASSERT_EQ(streams.Upkeep(), absl::OkStatus());
  std::string left;
  const auto stream = *store->Scan((*made)->id, {RowRange::All()}, {});
  RowPiece piece;
  while (*stream->Next(&piece)) {
    for (const CellView& cell : piece.cells)
      left += std::string(cell.qualifier) + "@" + std::to_string(cell.timestamp_micros) + " ";
  }
  EXPECT_EQ(left, "q@2000 r@1000 ");
  EXPECT_EQ(store->log()->FindEnd((*made)->id, RowRange::All(), 0)->last_record, 0) << "nothing is logged";
}

}  // namespace
}  // namespace sonde
