#include "table/change_streams.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "filter/compiled_filter.h"
#include "model/limits.h"
#include "table/change_streams_test_support.h"

namespace sonde {
namespace {

TEST_F(ChangeStreamsTest, EveryCallThatChangesARowIsLogged) {
  const auto reader = OpenAt(kStart);
  const TableSchemaRef schema = Schema();
  const std::vector<Mutation> good = {DeleteFromRow{}, SetCell{"f", "q", 0, "1"},
                                      AddToCell{"s", "n", 0, int64_t{5}}};
  const std::vector<Mutation> bad = {SetCell{"none", "q", 0, "1"}};
  const auto statuses =
      tables_.MutateRows(*schema, std::vector<RowMutations>{{"a", good}, {"b", bad}, {"c", good}});
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Drain(reader.get()), "a: -f -g -s f:q=1 s:n+=5; c: -f -g -s f:q=1 s:n+=5; ");

  const std::vector<Mutation> if_true = {SetCell{"f", "t", 0, "yes"}};
  EXPECT_TRUE(*tables_.CheckAndMutateRow(schema, "a", {nullptr, if_true, {}}));
  EXPECT_FALSE(*tables_.CheckAndMutateRow(schema, "none", {nullptr, if_true, {}}));
  EXPECT_EQ(Drain(reader.get()), "a: f:t=yes; ") << "nothing was changed in the other row";

  const std::vector<ReadModifyWriteRule> rules = {{"f", "q", ReadModifyWriteRule::Append{"2"}},
                                                  {"g", "q", ReadModifyWriteRule::Append{"x"}}};
  ASSERT_TRUE(tables_.ReadModifyWriteRow(schema, "a", rules).ok());
  EXPECT_EQ(Drain(reader.get()), "a: f:q=12 g:q=x; ");

  ASSERT_TRUE(tables_.DropRowRange(*schema, RowRange::Prefix("c")).ok());
  EXPECT_EQ(Drain(reader.get()), "c: -f -g -s; ");
}

TEST_F(ChangeStreamsTest, ADroppedRangeIsLoggedRowByRow) {
  const auto reader = OpenAt(kStart);
  std::vector<std::string> keys;
  for (int i = 0; i < 2500; ++i) keys.push_back("k" + std::to_string(10'000 + i));
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, "1"}, SetCell{"g", "q", 0, "1"}};
  std::vector<RowMutations> rows;
  for (const std::string& key : keys) rows.push_back({key, mutations});
  tables_.MutateRows(*Schema(), rows);
  Drain(reader.get());
  ASSERT_TRUE(tables_.DropRowRange(*Schema(), {"k10001", "k12499"}).ok());
  const std::string text = Drain(reader.get());
  EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 2498);
  EXPECT_EQ(text.substr(0, 20), "k10001: -f -g -s; k1");
  RowStream* rest = engine_->Scan(Schema()->id, {RowRange::All()}, {})->release();
  RowPiece piece;
  std::string left;
  while (*rest->Next(&piece)) left += piece.row_key + " ";
  delete rest;
  EXPECT_EQ(left, "k10000 k10000 k12499 k12499 ");
}

TEST_F(ChangeStreamsTest, TablesWithoutAStreamLogNothing) {
  catalog_
      ->Update(kTable,
               [](TableSchema* table) {
                 table->change_stream.reset();
                 return absl::OkStatus();
               })
      .IgnoreError();
  Set("a", "1");
  EXPECT_EQ(engine_->log()->FindEnd(Schema()->id, RowRange::All(), 0)->last_record, 0);
  EXPECT_EQ(OpenCode({}), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ChangeStreamsTest, StartsAtATimeOrNow) {
  Set("a", "1");
  const int64_t second = Set("b", "2");
  Set("c", "3");
  EXPECT_EQ(Drain(OpenAt(second).get()), "b: f:q=2; c: f:q=3; ") << "the start is inclusive";
  EXPECT_EQ(Drain(OpenAt(second + 1).get()), "c: f:q=3; ");
  const auto now = Open({});
  EXPECT_EQ(Drain(now.get()), "");
  EXPECT_FALSE(now->HasNews());
  Set("d", "4");
  EXPECT_TRUE(now->HasNews());
  EXPECT_EQ(Drain(now.get()), "d: f:q=4; ");
  EXPECT_FALSE(now->HasNews());
  EXPECT_EQ(OpenCode({.start_micros = kStart - 1}), absl::StatusCode::kInvalidArgument)
      << "before its creation";
  EXPECT_EQ(OpenCode({.start_micros = clock_.NowMicros() + 1}), absl::StatusCode::kInvalidArgument);
}

TEST_F(ChangeStreamsTest, TellsHowFarReadersHaveCome) {
  EXPECT_EQ(streams_.ListProgress().at(0).readers, 0u);
  EXPECT_EQ(streams_.ListProgress().at(0).LagMicros(), 0);
  auto ahead = OpenAt(kStart), behind = OpenAt(kStart);
  const int64_t last = Set("a", "1");
  Drain(ahead.get());
  clock_.Advance(5 * kSecond);
  ChangeStreams::Progress progress = streams_.ListProgress().at(0);
  EXPECT_EQ(progress.table_name, kTable);
  EXPECT_EQ(progress.readers, 2u);
  EXPECT_EQ(progress.last_record_micros, last);
  EXPECT_EQ(progress.frontier_micros, clock_.NowMicros());
  EXPECT_EQ(progress.oldest_watermark_micros, kStart - 1);
  EXPECT_EQ(progress.LagMicros(), 6 * kSecond + 1);
  Drain(behind.get());
  EXPECT_EQ(streams_.ListProgress().at(0).LagMicros(), 0);
  // A reader that has read all is not behind, however long nothing happens.
  clock_.Advance(100 * kSecond);
  EXPECT_EQ(streams_.ListProgress().at(0).LagMicros(), 0);
  behind.reset();
  EXPECT_EQ(streams_.ListProgress().at(0).readers, 1u);
  for (int i = 0; i < 100; ++i) OpenAt(kStart);  // that end at once
  EXPECT_EQ(streams_.ListProgress().at(0).readers, 1u);
}

TEST_F(ChangeStreamsTest, EveryTokenGoesOnWhereItWasGiven) {
  for (int i = 0; i < 5; ++i) Set(std::string(1, static_cast<char>('a' + i)), std::to_string(i));
  const std::string all = Drain(OpenAt(kStart).get());
  auto reader = OpenAt(kStart);
  std::string before;
  for (int cut = 0; cut < 5; ++cut) {
    // The token of the change before, and one between two changes.
    const std::string token = cut == 0 ? reader->Token() : last_token_;
    const auto resumed = Open({.tokens = {{RowRange::All(), token}}});
    EXPECT_EQ(before + Drain(resumed.get()), all);
    const auto until =
        Open({.tokens = {{RowRange::All(), token}}, .end_micros = kStart + (cut + 1) * kSecond});
    before += Drain(until.get(), State::kEndReached);
  }
  EXPECT_EQ(before, all);
  const auto idle = OpenAt(clock_.NowMicros());
  Drain(idle.get());
  clock_.Advance(kDay / 2);
  Drain(idle.get());
  const std::string token = idle->Token();
  clock_.Advance(kDay - kSecond);
  EXPECT_EQ(Drain(Open({.tokens = {{RowRange::All(), token}}}).get()), "")
      << "a token of an idle stream is as old as when it was given, not as the last change";
}

TEST_F(ChangeStreamsTest, AReaderSeesItsPartitionOnly) {
  for (const char* row : {"a", "g", "h", "o", "p", "z"}) Set(row, row);
  EXPECT_EQ(PartitionsOf(*Schema()->change_stream),
            (std::vector<RowRange>{{"", "h"}, {"h", "p"}, {"p", ""}}));
  EXPECT_EQ(Drain(OpenAt(kStart, {"", "h"}).get()), "a: f:q=a; g: f:q=g; ");
  EXPECT_EQ(Drain(OpenAt(kStart, {"h", "p"}).get()), "h: f:q=h; o: f:q=o; ");
  EXPECT_EQ(Drain(OpenAt(kStart, {"p", ""}).get()), "p: f:q=p; z: f:q=z; ");
}

TEST_F(ChangeStreamsTest, MergedPartitionsGoOnFromEachToken) {
  Set("a", "1");
  const auto left = OpenAt(kStart, {"", "h"});
  Drain(left.get());
  const std::string left_token = left->Token();
  Set("b", "2");
  Set("i", "3");
  const auto right = OpenAt(kStart, {"h", "p"});
  Drain(right.get());
  const std::string right_token = right->Token();
  Set("c", "4");
  Set("j", "5");
  const ReadChangesRequest request = {.partition = {"", "p"},
                                      .tokens = {{{"h", "p"}, right_token}, {{"", "h"}, left_token}}};
  const std::string rest = "b: f:q=2; c: f:q=4; j: f:q=5; ";
  EXPECT_EQ(Drain(Open(request).get()), rest);
  // Also when it is interrupted where the parts have not come equally far.
  auto first = Open(request);
  ReadChangesRequest to_b = request;
  to_b.end_micros = kStart + 2 * kSecond;
  const std::string b = Drain(Open(to_b).get(), State::kEndReached);
  EXPECT_EQ(b + Drain(Open({.partition = {"", "p"}, .tokens = {{{"", "p"}, last_token_}}}).get()), rest);
}

TEST_F(ChangeStreamsTest, RefusesTokensThatDoNotCoverThePartition) {
  Set("a", "1");
  const std::string left = OpenAt(kStart, {"", "h"})->Token();
  const std::string right = OpenAt(kStart, {"h", "p"})->Token();
  const RowRange l{"", "h"}, r{"h", "p"}, both{"", "p"};
  using Tokens = std::vector<ReadChangesRequest::Token>;
  for (const auto& [partition, tokens] : std::vector<std::pair<RowRange, Tokens>>{
           {both, {{l, left}}},                         // a part is missing
           {l, {{l, left}, {r, right}}},                // too much
           {both, {{l, left}, {l, left}, {r, right}}},  // twice
           {both, {{both, left}, {r, right}}},          // not the token's partition
           {RowRange::All(), {{l, left}, {r, right}}},
           {l, {{l, right}}},
           {l, {{l, "nonsense"}}}}) {
    EXPECT_EQ(OpenCode({.partition = partition, .tokens = tokens}), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(OpenCode({.partition = both, .tokens = {{r, right}, {l, left}}}), absl::StatusCode::kOk);
  const StreamIdentity stream = {Schema()->id, Schema()->change_stream->start_micros};
  const StreamCursor future = {.segments = {{l, clock_.NowMicros() + kDay}}, .watermark = clock_.NowMicros()};
  EXPECT_EQ(OpenCode({.partition = l, .tokens = {{l, EncodeStreamToken(stream, future)}}}),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ChangeStreamsTest, EndsAfterItsEnd) {
  Set("a", "1");
  const int64_t second = Set("b", "2");
  Set("c", "3");
  auto reader = Open({.start_micros = kStart, .end_micros = second});
  EXPECT_EQ(Drain(reader.get(), State::kEndReached), "a: f:q=1; b: f:q=2; ") << "the end is inclusive";
  auto later = Open({.start_micros = kStart, .end_micros = clock_.NowMicros() + kSecond});
  EXPECT_EQ(Drain(later.get()), "a: f:q=1; b: f:q=2; c: f:q=3; ");
  EXPECT_FALSE(later->HasNews());
  clock_.Advance(kSecond);
  EXPECT_TRUE(later->HasNews());
  EXPECT_EQ(Drain(later.get(), State::kEndReached), "");
  EXPECT_EQ(OpenCode({.start_micros = kStart + 1, .end_micros = kStart}), absl::StatusCode::kInvalidArgument);
}

TEST_F(ChangeStreamsTest, NothingOlderThanTheRetentionIsReturned) {
  Set("a", "1");
  const std::string token = OpenAt(kStart)->Token();
  auto reader = OpenAt(clock_.NowMicros());
  auto stalled = OpenAt(kStart);
  std::vector<ChangeStreamReader::Piece> pieces;
  ASSERT_TRUE(stalled->Read(&pieces).ok());
  clock_.Advance(kDay);
  const int64_t b = Set("b", "2");
  EXPECT_EQ(Drain(reader.get()), "b: f:q=2; ") << "a is too old, though it is still stored";
  EXPECT_EQ(OpenCode({.tokens = {{RowRange::All(), token}}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(OpenCode({.start_micros = kStart}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stalled->Read(&pieces).status().code(), absl::StatusCode::kOutOfRange);

  const auto stored = [this] {
    std::vector<int64_t> positions;
    EXPECT_TRUE(engine_->log()
                    ->Read(Schema()->id, RowRange::All(), 0, 0, INT64_MAX,
                           [&](const RowLog::Piece& piece) {
                             positions.push_back(piece.position);
                             return true;
                           })
                    .ok());
    return positions;
  };
  EXPECT_EQ(stored().size(), 2u);
  clock_.Advance(kDay / 2);
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(stored(), std::vector<int64_t>{b});
}

TEST_F(ChangeStreamsTest, ALogWithoutAStreamIsKeptForItsOtherUse) {
  const auto alter = [this](const Catalog::SchemaChange& change) {
    ASSERT_TRUE(catalog_->Update(kTable, change).ok());
  };
  alter([this](TableSchema* table) {
    table->change_stream.reset();
    table->log_uses = {{.name = "journal", .retention_micros = 2 * kDay, .start_micros = clock_.NowMicros()}};
    return absl::OkStatus();
  });
  const int64_t a = Set("a", "1");
  EXPECT_EQ(OpenCode({}), absl::StatusCode::kFailedPrecondition) << "there is no stream";
  clock_.Advance(kDay);
  const absl::StatusOr<ChangeStreamSchema> stream = streams_.ForTable(*Schema(), kDay);
  ASSERT_TRUE(stream.ok()) << stream.status();
  alter([&](TableSchema* table) {
    table->change_stream = *stream;
    return absl::OkStatus();
  });
  const int64_t b = Set("b", "2");
  const auto stored = [this] {
    std::vector<int64_t> positions;
    EXPECT_TRUE(engine_->log()
                    ->Read(Schema()->id, RowRange::All(), 0, 0, INT64_MAX,
                           [&](const RowLog::Piece& piece) {
                             positions.push_back(piece.position);
                             return true;
                           })
                    .ok());
    return positions;
  };
  EXPECT_EQ(stored(), (std::vector<int64_t>{a, b})) << "a stream that begins takes nothing from others";
  EXPECT_EQ(Drain(OpenAt(stream->start_micros).get()), "b: f:q=2; ") << "it does not see what is from before";
  clock_.Advance(kDay / 2);
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(stored().size(), 2U);
  clock_.Advance(kDay);
  ASSERT_EQ(streams_.Upkeep(), absl::OkStatus());
  EXPECT_EQ(stored(), (std::vector<int64_t>{b}))
      << "kept for the journal, though the stream has forgotten it";
}

TEST_F(ChangeStreamsTest, ARepartitionedStreamSaysHowToGoOn) {
  Set("i", "1");
  auto reader = OpenAt(kStart, {"h", "p"});
  auto other = OpenAt(kStart, {"p", ""});
  Drain(reader.get());
  Drain(other.get());
  Set("j", "2");
  ASSERT_TRUE(catalog_
                  ->Update(kTable,
                           [](TableSchema* table) {
                             table->change_stream->partition_points = {"k", "p"};
                             return absl::OkStatus();
                           })
                  .ok());
  Drain(other.get());  // its partition is as it was
  EXPECT_EQ(Drain(reader.get(), State::kRepartitioned), "");
  const auto continuations = reader->Continuations();
  ASSERT_EQ(continuations.size(), 2u);
  EXPECT_EQ(continuations[0].partition, (RowRange{"", "k"}));
  EXPECT_EQ(continuations[0].token_partition, (RowRange{"h", "k"}));
  EXPECT_EQ(continuations[1].partition, (RowRange{"k", "p"}));
  EXPECT_EQ(continuations[1].token_partition, (RowRange{"k", "p"}));
  Set("m", "3");
  // The new partition ["", "k") is continued by the tokens of ["", "h") and ["h", "k").
  auto left = OpenAt(kStart, {"", "h"});
  Drain(left.get());
  auto merged = Open(
      {.partition = {"", "k"}, .tokens = {{{"", "h"}, left->Token()}, {{"h", "k"}, continuations[0].token}}});
  EXPECT_EQ(Drain(merged.get()), "j: f:q=2; ");
  auto right = Open({.partition = {"k", "p"}, .tokens = {{{"k", "p"}, continuations[1].token}}});
  EXPECT_EQ(Drain(right.get()), "m: f:q=3; ");
}

TEST_F(ChangeStreamsTest, ADisabledStreamIsOver) {
  Set("a", "1");
  auto reader = OpenAt(kStart);
  const std::string token = reader->Token();
  const auto set = [&](std::optional<ChangeStreamSchema> stream) {
    ASSERT_TRUE(catalog_
                    ->Update(kTable,
                             [&](TableSchema* table) {
                               table->change_stream = stream;
                               return absl::OkStatus();
                             })
                    .ok());
  };
  set(std::nullopt);
  std::vector<ChangeStreamReader::Piece> pieces;
  EXPECT_EQ(reader->Read(&pieces).status().code(), absl::StatusCode::kFailedPrecondition);
  clock_.Advance(kSecond);
  set(*streams_.ForTable(*Schema(), kDay));
  EXPECT_EQ(reader->Read(&pieces).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenCode({.tokens = {{RowRange::All(), token}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Drain(OpenAt(clock_.NowMicros()).get()), "") << "what the first stream logged is forgotten";
  set(std::nullopt);
  ASSERT_TRUE(catalog_->Delete(kTable).ok());
  EXPECT_EQ(reader->Read(&pieces).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ChangeStreamsTest, CommitTimesAscendWhenTheClockGoesBack) {
  Set("a", "1");
  auto reader = OpenAt(kStart);
  EXPECT_EQ(Drain(reader.get()), "a: f:q=1; ");
  const int64_t watermark = reader->watermark_micros();
  EXPECT_EQ(watermark, clock_.NowMicros());
  clock_.Advance(-kSecond / 2);
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, "2"}};
  ASSERT_TRUE(MutateRow(tables_, *Schema(), {"a", mutations}).ok());
  EXPECT_EQ(Drain(reader.get()), "a: f:q=2; ") << "above the watermark that was promised";
  EXPECT_EQ(reader->watermark_micros(), watermark + 1);
}

TEST_F(ChangeStreamsTest, LargeChangesComeInBoundedReads) {
  const std::string value(1'000'000, 'v');
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, value}, SetCell{"f", "r", 0, "end"}};
  clock_.Advance(1);
  ASSERT_TRUE(MutateRow(tables_, *Schema(), {"a", mutations}).ok());
  auto reader = OpenAt(kStart);
  std::vector<ChangeStreamReader::Piece> pieces;
  std::string joined, last;
  State state = State::kMore;
  int reads_count = 0;
  while (state == State::kMore) {
    state = *reader->Read(&pieces);
    ++reads_count;
    size_t bytes = 0;
    for (const auto& piece : pieces) {
      bytes += piece.bytes.size();
      ChangePiece decoded;
      ASSERT_TRUE(DecodeChangePiece(piece.bytes, &decoded).ok());
      for (const LoggedMutation& m : decoded.mutations) {
        const auto& set = std::get<SetCell>(m.mutation);
        (m.chunk.has_value() ? joined : last) += set.value;
      }
    }
    EXPECT_LE(bytes, 3 * kChangePieceBytes);
  }
  EXPECT_EQ(state, State::kCaughtUp);
  EXPECT_GT(reads_count, 10);
  EXPECT_EQ(joined, value);
  EXPECT_EQ(last, "end");
}

// A client may send a token that is as long as any: then each change comes with one.
TEST_F(ChangeStreamsTest, LongTokensComeInBoundedReads) {
  constexpr size_t kRows = 100;
  for (size_t i = 0; i < kRows; ++i) Set("r" + std::to_string(100 + i), "v");
  const int64_t now = clock_.NowMicros();
  // It will not have been read through the last of its segments' positions before the last change.
  StreamCursor cursor = {.watermark = kStart};
  std::string start;
  for (size_t i = 0; i < kStreamSegmentsMax; ++i) {
    std::string end = i + 1 < kStreamSegmentsMax ? "s" + std::to_string(100 + i) : "";
    if (!end.empty()) end.resize(kRowKeyBytesMax, 'k');
    cursor.segments.push_back({{start, end}, i == 0 ? kStart : now - static_cast<int64_t>(i % 2)});
    start = std::move(end);
  }
  const StreamIdentity stream = {Schema()->id, Schema()->change_stream->start_micros};
  const std::string token = EncodeStreamToken(stream, cursor);
  EXPECT_GT(token.size(), 10 * kChangePieceBytes);
  auto reader = Open({.partition = RowRange::All(), .tokens = {{RowRange::All(), token}}});
  ASSERT_NE(reader, nullptr);
  std::vector<ChangeStreamReader::Piece> pieces;
  size_t changes = 0;
  for (State state = State::kMore; state == State::kMore;) {
    state = *reader->Read(&pieces);
    size_t bytes = 0;
    for (const auto& piece : pieces) bytes += piece.bytes.size() + piece.token.size();
    EXPECT_LE(bytes, token.size() + 2 * kChangePieceBytes);
    changes += pieces.size();
  }
  EXPECT_EQ(changes, kRows);
}

// Writers on a few rows, while a reader of each partition follows: every change once, each row's in order.
TEST_F(ChangeStreamsTest, ReadersMissNothingWhileOthersWrite) {
  constexpr int kWriters = 3;
  constexpr int kWrites = 400;
  const TableSchemaRef schema = Schema();
  const SystemClock clock;
  Tables tables(engine_.get(), catalog_.get(), &clock, 1);
  ChangeStreams streams(&tables);
  std::vector<std::unique_ptr<ChangeStreamReader>> readers;
  for (const RowRange& partition : PartitionsOf(*schema->change_stream)) {
    readers.push_back(*streams.Open(schema, {.partition = partition}));
  }
  std::atomic<int> writing = kWriters;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string value = std::to_string(i);
        const std::string row = std::string(1, "aiq"[i % 3]) + std::to_string(writer);
        const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, value}};
        EXPECT_TRUE(MutateRow(tables, *schema, {row, mutations}).ok());
      }
      --writing;
    });
  }
  std::map<std::string, std::vector<int>> seen;
  std::vector<ChangeStreamReader::Piece> pieces;
  bool last_round = false;
  while (!last_round) {
    last_round = writing == 0;
    for (const auto& reader : readers) {
      State state = State::kMore;
      while (state == State::kMore) {
        const int64_t watermark = reader->watermark_micros();
        state = *reader->Read(&pieces);
        for (const auto& piece : pieces) {
          EXPECT_GT(piece.commit_micros, watermark);
          ChangePiece decoded;
          ASSERT_TRUE(DecodeChangePiece(piece.bytes, &decoded).ok());
          const auto& set = std::get<SetCell>(decoded.mutations[0].mutation);
          seen[std::string(decoded.row_key)].push_back(std::stoi(std::string(set.value)));
        }
      }
    }
  }
  for (std::thread& thread : writers) thread.join();
  EXPECT_EQ(seen.size(), 9u);
  for (const auto& [row, values] : seen) {
    std::vector<int> expected;
    for (int i = 0; i < kWrites; ++i) {
      if ("aiq"[i % 3] == row[0]) expected.push_back(i);
    }
    EXPECT_EQ(values, expected) << row;
  }
}

TEST(PartitionPoints, FollowTheDataWithoutGoingToAndFro) {
  const ChangeStreamOptions options = {.partition_bytes_target = 100, .partitions_max = 4};
  using Points = std::vector<std::string>;
  const std::vector<RowKeySample> samples = {{"b", 50}, {"d", 150}, {"f", 250}, {"h", 350}, {"", 400}};
  EXPECT_EQ(AdaptPartitionPoints(options, {}, samples, {}), Points{"d"}) << "nearest to the middle";
  EXPECT_EQ(AdaptPartitionPoints(options, {}, samples, {"d"}), (Points{"d", "f"}));
  EXPECT_EQ(AdaptPartitionPoints(options, {}, samples, {"d", "f"}), (Points{"d", "f"})) << "150, 100, 150";
  EXPECT_EQ(AdaptPartitionPoints({.partition_bytes_target = 10, .partitions_max = 2}, {}, samples, {"d"}),
            Points{"d"})
      << "there may be no more";
  const std::vector<RowKeySample> less = {{"d", 10}, {"f", 30}, {"", 110}};
  EXPECT_EQ(AdaptPartitionPoints(options, {}, less, {"d", "f"}), Points{"f"});
  EXPECT_EQ(AdaptPartitionPoints(options, {"d"}, less, {"d", "f"}), (Points{"d", "f"})) << "a split stays";
  EXPECT_EQ(AdaptPartitionPoints(options, {}, {{"", 1000}}, {}), Points{}) << "nowhere to divide";
}

}  // namespace
}  // namespace sonde
