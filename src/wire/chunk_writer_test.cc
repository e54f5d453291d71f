#include "wire/chunk_writer.h"

#include <gmock/gmock.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

using google::bigtable::v2::ReadRowsResponse;

ReadRowsResponse Parse(const std::string& bytes) {
  ReadRowsResponse response;
  EXPECT_TRUE(response.ParseFromString(bytes));
  // Nothing that protocol buffers would have written differently.
  EXPECT_EQ(response.SerializeAsString(), bytes);
  return response;
}

TEST(ChunkWriter, NamesRowFamilyAndColumnOnceUntilTheyChange) {
  ChunkWriter writer;
  writer.StartRow("row1");
  writer.WriteCell("f", "q", 2000, "", "v2", false);
  writer.WriteCell("f", "q", 1000, "", "v1", false);
  writer.WriteCell("f", "r", 0, "label", "", false);
  writer.WriteCell("g", "r", 0, "", "x", true);
  writer.StartRow("row2");
  writer.WriteCell("g", "", 0, "", "x", true);
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
  writer.WriteCell("f", "q", 1000, "label", value, true);
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
  writer.WriteCell("f", "q", 1000, "", std::string(ChunkWriter::kPieceBytesMax, 'v'), true);
  const ReadRowsResponse message = Parse(writer.Take());
  ASSERT_EQ(message.chunks_size(), 1);
  EXPECT_EQ(message.chunks(0).value_size(), 0);
}

}  // namespace
}  // namespace sonde
