#include "changes/change_record.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr int64_t kNow = 1'700'000'000'123'456;

TableSchema Schema(TimestampGranularity granularity = TimestampGranularity::kMillis) {
  TableSchema schema;
  schema.granularity = granularity;
  schema.families = {{.name = "f", .id = 1}, {.name = "g", .id = 2}};
  return schema;
}

template <typename CellMutation>
std::string Column(const CellMutation& m) {
  return std::string(m.family) + ":" + std::string(m.qualifier) + "@" + std::to_string(m.timestamp_micros);
}

std::string Text(const LoggedMutation& logged) {
  struct Visitor {
    std::string operator()(const SetCell& m) const {
      return "set " + Column(m) + "=" + (m.value.size() > 20 ? "..." : std::string(m.value));
    }
    std::string operator()(const AddToCell& m) const {
      const auto* number = std::get_if<int64_t>(&m.input);
      const auto* bytes = std::get_if<std::string_view>(&m.input);
      return "add " + Column(m) + "=" +
             (number != nullptr  ? std::to_string(*number)
              : bytes != nullptr ? "'" + std::string(*bytes) + "'"
                                 : "nothing");
    }
    std::string operator()(const MergeToCell& m) const {
      return "merge " + Column(m) + "=" + std::string(m.state.value_or("nothing"));
    }
    std::string operator()(const DeleteFromColumn& m) const {
      return "delete " + std::string(m.family) + ":" + std::string(m.qualifier) + "[" +
             std::to_string(m.time_range.start_micros) + "," + std::to_string(m.time_range.end_micros) + ")";
    }
    std::string operator()(const DeleteFromFamily& m) const { return "delete " + std::string(m.family); }
    std::string operator()(const DeleteFromRow&) const { return "delete row"; }
  };
  std::string text = std::visit(Visitor(), logged.mutation);
  if (logged.chunk.has_value()) {
    text += " " + std::to_string(logged.chunk->offset) + "/" + std::to_string(logged.chunk->value_bytes);
    if (logged.chunk->last) text += " last";
  }
  return text + "\n";
}

// Checks what holds of every record on the way.
std::string Text(const std::vector<std::string>& pieces, std::string_view row_key) {
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i) {
    ChangePiece piece;
    EXPECT_EQ(DecodeChangePiece(pieces[i], &piece), absl::OkStatus());
    EXPECT_EQ(piece.first, i == 0);
    EXPECT_EQ(piece.last, i + 1 == pieces.size());
    EXPECT_EQ(piece.row_key, i == 0 ? row_key : "");
    EXPECT_LE(pieces[i].size(), 2 * kChangePieceBytes);
    ChangePieceHead head;
    EXPECT_EQ(DecodeChangePieceHead(pieces[i], &head), absl::OkStatus());
    EXPECT_EQ(head.first, piece.first);
    EXPECT_EQ(head.last, piece.last);
    EXPECT_EQ(head.row_key, piece.row_key);
    for (const LoggedMutation& mutation : piece.mutations) text += Text(mutation);
  }
  return text;
}

TEST(ChangeRecord, KeepsMutationsInTheirOrder) {
  const std::vector<Mutation> mutations = {
      DeleteFromFamily{"g"},
      SetCell{"f", "q", 5000, "v"},
      SetCell{"f", "", 0, ""},
      DeleteFromColumn{"f", "q", {1000, 0}},
      AddToCell{"g", "sum", 2000, int64_t{-3}},
      AddToCell{"g", "unique", 2000, std::string_view("x")},
      AddToCell{"g", "sum", 3000, {}},
      MergeToCell{"g", "sum", 2000, "12345678"},
      DeleteFromRow{},
  };
  EXPECT_EQ(Text(EncodeChange(Schema(), ChangeKind::kUser, "row", mutations, kNow), "row"),
            "delete g\n"
            "set f:q@5000=v\n"
            "set f:@0=\n"
            "delete f:q[1000,0)\n"
            "add g:sum@2000=-3\n"
            "add g:unique@2000='x'\n"
            "add g:sum@3000=nothing\n"
            "merge g:sum@2000=12345678\n"
            "delete f\n"
            "delete g\n");
}

TEST(ChangeRecord, ResolvesTimesAsTheCellsHaveThem) {
  const std::vector<Mutation> mutations = {
      SetCell{"f", "q", kServerTimestamp, "v"},
      SetCell{"f", "q", 1234567, "v", /*client_generated_timestamp=*/true},
      AddToCell{"g", "s", kServerTimestamp, int64_t{1}},
  };
  EXPECT_EQ(Text(EncodeChange(Schema(), ChangeKind::kUser, "r", mutations, kNow), "r"),
            "set f:q@1700000000123000=v\nset f:q@1234000=v\nadd g:s@1700000000123000=1\n");
  EXPECT_EQ(Text(EncodeChange(Schema(TimestampGranularity::kMicros), ChangeKind::kUser, "r",
                              absl::MakeSpan(mutations).first(1), kNow),
                 "r"),
            "set f:q@1700000000123456=v\n");
}

TEST(ChangeRecord, TellsGarbageCollection) {
  const std::vector<Mutation> mutations = {DeleteFromColumn{"f", "q", {0, 1000}}};
  ChangePiece piece;
  const auto garbage = EncodeChange(Schema(), ChangeKind::kGarbageCollection, "r", mutations, kNow);
  ASSERT_EQ(DecodeChangePiece(garbage[0], &piece), absl::OkStatus());
  EXPECT_EQ(piece.kind, ChangeKind::kGarbageCollection);
  const auto user = EncodeChange(Schema(), ChangeKind::kUser, "r", mutations, kNow);
  ASSERT_EQ(DecodeChangePiece(user[0], &piece), absl::OkStatus());
  EXPECT_EQ(piece.kind, ChangeKind::kUser);
}

TEST(ChangeRecord, CutsLongValuesIntoChunks) {
  const std::string long_value(2 * kChangePieceBytes + 5, 'x');
  const std::vector<Mutation> mutations = {SetCell{"f", "a", 0, "1"}, SetCell{"f", "b", 1000, long_value},
                                           SetCell{"f", "c", 0, "2"}};
  const auto pieces = EncodeChange(Schema(), ChangeKind::kUser, "r", mutations, kNow);
  EXPECT_EQ(pieces.size(), 4u);
  EXPECT_EQ(Text(pieces, "r"),
            "set f:a@0=1\n"
            "set f:b@1000=... 0/131077\n"
            "set :@0=... 65536/131077\n"
            "set :@0=xxxxx 131072/131077 last\n"
            "set f:c@0=2\n");
}

TEST(ChangeRecord, SpreadsManyMutationsOverPieces) {
  const std::string value(1000, 'v');
  std::vector<Mutation> mutations(1000, SetCell{"f", "q", 0, value});
  const auto pieces = EncodeChange(Schema(), ChangeKind::kUser, std::string(4096, 'r'), mutations, kNow);
  EXPECT_EQ(pieces.size(), 16u);
  std::string text = Text(pieces, std::string(4096, 'r'));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000);
}

TEST(ChangeRecord, ASecondDeletionOfTheRowIsOneOfWhatChangedSince) {
  const std::vector<Mutation> mutations = {DeleteFromRow{},           DeleteFromRow{},
                                           SetCell{"g", "q", 0, "v"}, SetCell{"g", "p", 0, "v"},
                                           DeleteFromRow{},           DeleteFromRow{}};
  EXPECT_EQ(Text(EncodeChange(Schema(), ChangeKind::kUser, "r", mutations, kNow), "r"),
            "delete f\n"
            "delete g\n"
            "set g:q@0=v\n"
            "set g:p@0=v\n"
            "delete g\n");
}

// Without that, 100 MB to 6 GB.
TEST(ChangeRecord, OfManyDeletionsOfAWideRowIsBounded) {
  constexpr size_t kFamilies = 1'000;
  TableSchema schema;
  for (FamilyId id = 1'000; id < 1'000 + kFamilies; ++id) {
    schema.families.push_back({.name = std::string(60, 'f') + std::to_string(id), .id = id});
  }
  const std::string& name = schema.families[500].name;
  for (const bool changes : {false, true}) {
    std::vector<Mutation> mutations;
    while (mutations.size() < kMutationsPerRequestMax) {
      if (changes) mutations.push_back(SetCell{name, "q", 0, "v"});
      mutations.push_back(DeleteFromRow{});
    }
    const auto pieces = EncodeChange(schema, ChangeKind::kUser, "r", mutations, kNow);
    const std::string text = Text(pieces, "r");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
              changes ? kMutationsPerRequestMax + kFamilies - 1 : kFamilies);
  }
}

TEST(ChangeRecord, BytesThatAreNoPieceAreDataLoss) {
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 5000, "value"},
                                           AddToCell{"g", "s", 0, int64_t{1}},
                                           DeleteFromColumn{"f", "q", {0, 1000}}};
  const std::string whole = EncodeChange(Schema(), ChangeKind::kUser, "row", mutations, kNow)[0];
  ChangePiece piece;
  EXPECT_EQ(DecodeChangePiece("", &piece).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeChangePiece("\x02\x03", &piece).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeChangePiece(std::string("\x01\x80", 2), &piece).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeChangePiece(whole.substr(0, whole.size() - 1), &piece).code(), absl::StatusCode::kDataLoss);
  SeededRandom random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = whole.substr(0, random.Uniform(whole.size() + 1));
    if (!damaged.empty())
      damaged[random.Uniform(damaged.size())] ^= static_cast<char>(1 + random.Uniform(255));
    const absl::Status status = DecodeChangePiece(damaged, &piece);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace sonde
