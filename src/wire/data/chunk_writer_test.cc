#include "wire/data/chunk_writer.h"

#include <gmock/gmock.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/random.h"

namespace sonde {
namespace {

using google::bigtable::v2::ReadRowsResponse;

ReadRowsResponse Parse(const std::vector<std::string>& blocks) {
  const std::string bytes = absl::StrJoin(blocks, "");
  ReadRowsResponse response;
  EXPECT_TRUE(response.ParseFromString(bytes));
  // Nothing that protocol buffers would have written differently.
  EXPECT_EQ(response.SerializeAsString(), bytes);
  return response;
}

TEST(ChunkWriter, NamesRowFamilyAndColumnOnceUntilTheyChange) {
  ChunkWriter writer;
  writer.StartRow("row1");
  writer.WriteCell("f", "q", 2000, "", "v2");
  writer.WriteCell("f", "q", 1000, "", "v1");
  writer.WriteCell("f", "r", 0, "label", "");
  writer.WriteCell("g", "r", 0, "", "x");
  writer.EndRow();
  writer.StartRow("row2");
  writer.WriteCell("g", "", 0, "", "x");
  writer.EndRow();
  const ReadRowsResponse response = Parse(writer.Take());
  ASSERT_EQ(response.chunks_size(), 5);
  EXPECT_EQ(response.chunks(0).row_key(), "row1");
  EXPECT_EQ(response.chunks(0).family_name().value(), "f");
  EXPECT_EQ(response.chunks(0).timestamp_micros(), 2000);
  EXPECT_FALSE(response.chunks(1).has_family_name());
  EXPECT_FALSE(response.chunks(1).has_qualifier());
  EXPECT_EQ(response.chunks(1).value(), "v1");
  EXPECT_FALSE(response.chunks(2).has_family_name());
  EXPECT_EQ(response.chunks(2).qualifier().value(), "r");
  EXPECT_EQ(response.chunks(2).labels(0), "label");
  EXPECT_TRUE(response.chunks(3).has_qualifier()) << "a new family comes with a qualifier";
  EXPECT_TRUE(response.chunks(3).commit_row());
  EXPECT_EQ(response.chunks(4).row_key(), "row2");
  EXPECT_TRUE(response.chunks(4).has_family_name());
  EXPECT_TRUE(response.chunks(4).has_qualifier()) << "present, though empty";
  EXPECT_TRUE(response.chunks(4).commit_row());
}

TEST(ChunkWriter, SplitsALongValueOverChunksOfOneMessage) {
  std::string value(5 * ChunkWriter::kPieceBytesMax / 2, 'v');
  value.back() = 'e';
  ChunkWriter writer;
  writer.StartRow("row");
  writer.WriteCell("f", "q", 1000, "label", value);
  writer.EndRow();
  EXPECT_TRUE(writer.IsFull());
  const ReadRowsResponse message = Parse(writer.Take());
  EXPECT_TRUE(writer.IsEmpty());
  ASSERT_EQ(message.chunks_size(), 3);
  std::string joined;
  for (int i = 0; i < message.chunks_size(); ++i) {
    const auto& chunk = message.chunks(i);
    const bool last = i + 1 == message.chunks_size();
    EXPECT_EQ(chunk.value_size(), last ? 0 : static_cast<int64_t>(value.size()));
    EXPECT_EQ(chunk.commit_row(), last);
    EXPECT_EQ(chunk.has_family_name(), i == 0);
    EXPECT_EQ(chunk.labels_size(), i == 0);
    EXPECT_EQ(chunk.timestamp_micros(), i == 0 ? 1000 : 0);
    EXPECT_EQ(chunk.row_key().empty(), i != 0);
    joined += chunk.value();
  }
  EXPECT_EQ(joined, value);
}

TEST(ChunkWriter, AValueOfExactlyOnePieceIsWhole) {
  ChunkWriter writer;
  writer.StartRow("row");
  writer.WriteCell("f", "q", 1000, "", std::string(ChunkWriter::kPieceBytesMax, 'v'));
  writer.EndRow();
  const ReadRowsResponse message = Parse(writer.Take());
  ASSERT_EQ(message.chunks_size(), 1);
  EXPECT_EQ(message.chunks(0).value_size(), 0);
}

// Rows of cells that are drawn at random, some of them dropped: the message is what protocol buffers make of
// the others, and its blocks are no larger than one chunk demands.
TEST(ChunkWriter, RowsLieInBlocksAndCanBeTakenBack) {
  SeededRandom random(7);
  for (int round = 0; round < 30; ++round) {
    ChunkWriter writer(/*piece_bytes_max=*/300'000);
    ReadRowsResponse wanted;
    for (int row = 0; row < 8; ++row) {
      ReadRowsResponse of_row;
      writer.StartRow("row");
      const int cells = 1 + static_cast<int>(random.Uniform(3'000));
      for (int i = 0; i < cells; ++i) {
        const std::string value(random.Uniform(i % 1'000 == 1 ? 290'000 : 300), 'v');
        writer.WriteCell("f", "q", i + 1, "", value);
        auto* chunk = of_row.add_chunks();
        if (i == 0) {
          chunk->set_row_key("row");
          chunk->mutable_family_name()->set_value("f");
          chunk->mutable_qualifier()->set_value("q");
        }
        chunk->set_timestamp_micros(i + 1);
        chunk->set_value(value);
      }
      if (random.Uniform(3) == 0) {
        writer.DropRow();
        continue;
      }
      writer.EndRow();
      of_row.mutable_chunks(cells - 1)->set_commit_row(true);
      wanted.MergeFrom(of_row);
    }
    ASSERT_EQ(writer.bytes(), wanted.ByteSizeLong());
    const std::vector<std::string> blocks = writer.Take();
    for (const std::string& block : blocks) {
      EXPECT_LE(block.capacity(), ChunkWriter::kBlockBytes + ChunkWriter::kBlockBytes / 8);
    }
    EXPECT_EQ(absl::StrJoin(blocks, ""), wanted.SerializeAsString());
    EXPECT_TRUE(writer.IsEmpty());
  }
}

// A chunk's size is written before it is known that it is the last one.
TEST(ChunkWriter, TheLastChunkMayTakeAByteMoreForItsSize) {
  for (size_t value_bytes = 90; value_bytes < 130; ++value_bytes) {
    ChunkWriter writer;
    writer.StartRow("row");
    writer.WriteCell("f", "q", 0, "", std::string(value_bytes, 'v'));
    writer.EndRow();
    const ReadRowsResponse message = Parse(writer.Take());
    ASSERT_EQ(message.chunks_size(), 1);
    EXPECT_TRUE(message.chunks(0).commit_row());
    EXPECT_EQ(message.chunks(0).value().size(), value_bytes);
  }
}

}  // namespace
}  // namespace sonde
