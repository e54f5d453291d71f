// Tables with a change stream, and readers of it that say what they read as text.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "changes/change_record.h"
#include "engine/memory/memory_engine.h"
#include "table/change_streams.h"
#include "table/mutate_row_test_support.h"

namespace sonde {

inline constexpr char kTable[] = "projects/p/instances/i/tables/t";
inline constexpr int64_t kSecond = 1'000'000;
inline constexpr int64_t kDay = 86'400 * kSecond;
inline constexpr int64_t kStart = 1'700'000'000 * kSecond;
using State = ChangeStreamReader::State;

inline std::string Text(const LoggedMutation& logged) {
  struct Visitor {
    std::string operator()(const SetCell& m) const {
      return std::string(m.family) + ":" + std::string(m.qualifier) + "=" + Printable(m.value, 10);
    }
    std::string operator()(const AddToCell& m) const {
      return std::string(m.family) + ":" + std::string(m.qualifier) +
             "+=" + std::to_string(std::get<int64_t>(m.input));
    }
    std::string operator()(const MergeToCell&) const { return "merge"; }
    std::string operator()(const DeleteFromColumn& m) const {
      return "-" + std::string(m.family) + ":" + std::string(m.qualifier);
    }
    std::string operator()(const DeleteFromFamily& m) const { return "-" + std::string(m.family); }
    std::string operator()(const DeleteFromRow&) const { return "-row"; }
  };
  return std::visit(Visitor(), logged.mutation);
}

class ChangeStreamsTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = kTable;
    schema.families = {{.name = "f"}, {.name = "g"}, {.name = "s", .aggregate = AggregateKind::kSum}};
    schema.split_points = {"h", "p"};
    schema.change_stream = streams_.ForNewTable(schema, kDay);
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }

  TableSchemaRef Schema() { return *catalog_->Find(kTable); }

  // Each at a time of its own.
  int64_t Set(std::string_view row_key, std::string_view value) {
    clock_.Advance(kSecond);
    const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, value}};
    EXPECT_EQ(MutateRow(tables_, *Schema(), {row_key, mutations}), absl::OkStatus());
    return clock_.NowMicros();
  }

  std::unique_ptr<ChangeStreamReader> Open(const ReadChangesRequest& request) {
    auto reader = streams_.Open(Schema(), request);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (reader.ok()) last_watermark_.erase(reader->get());
    return reader.ok() ? *std::move(reader) : nullptr;
  }
  std::unique_ptr<ChangeStreamReader> OpenAt(int64_t start_micros, RowRange partition = RowRange::All()) {
    return Open({.partition = std::move(partition), .start_micros = start_micros});
  }
  absl::StatusCode OpenCode(const ReadChangesRequest& request) {
    return streams_.Open(Schema(), request).status().code();
  }

  // What can be read now, a change as "row: mutation mutation; ".  Checks commit times and watermarks.
  std::string Drain(ChangeStreamReader* reader, State until = State::kCaughtUp) {
    std::string text;
    std::vector<ChangeStreamReader::Piece> pieces;
    while (true) {
      absl::StatusOr<State> state = reader->Read(&pieces);
      EXPECT_TRUE(state.ok()) << state.status();
      if (!state.ok()) return text;
      for (const ChangeStreamReader::Piece& piece : pieces) {
        ChangePiece decoded;
        EXPECT_EQ(DecodeChangePiece(piece.bytes, &decoded), absl::OkStatus());
        if (decoded.first) {
          EXPECT_GT(piece.commit_micros, last_watermark_[reader]);
          text += std::string(decoded.row_key) + ":";
        }
        for (const LoggedMutation& mutation : decoded.mutations) text += " " + Text(mutation);
        EXPECT_EQ(decoded.last, !piece.token.empty());
        if (decoded.last) {
          text += "; ";
          EXPECT_GE(piece.watermark_micros, piece.commit_micros);
          last_watermark_[reader] = piece.watermark_micros;
          last_token_ = piece.token;
        }
      }
      if (*state == State::kMore) continue;
      EXPECT_EQ(*state, until);
      last_watermark_[reader] = reader->watermark_micros();
      return text;
    }
  }

  ManualClock clock_{kStart};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, 1};
  ChangeStreams streams_{&tables_};
  std::map<const ChangeStreamReader*, int64_t> last_watermark_;
  std::string last_token_;
};

}  // namespace sonde
