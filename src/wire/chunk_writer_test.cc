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
  EXPECT_TRUE(writer.WriteCell("f", "q", 2000, "", "v2", false));
  EXPECT_TRUE(writer.WriteCell("f", "q", 1000, "", "v1", false));
  EXPECT_TRUE(writer.WriteCell("f", "r", 0, "label", "", false));
  EXPECT_TRUE(writer.WriteCell("g", "r", 0, "", "x", true));
  writer.StartRow("row2");
  EXPECT_TRUE(writer.WriteCell("g", "", 0, "", "x", true));
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

TEST(ChunkWriter, SplitsALongValueOverMessages) {
  std::string value(5 * ChunkWriter::kMessageBytes / 2, 'v');
  value.back() = 'e';
  ChunkWriter writer;
  writer.StartRow("row");
  std::vector<ReadRowsResponse> messages;
  while (!writer.WriteCell("f", "q", 1000, "", value, true)) messages.push_back(Parse(writer.Take()));
  messages.push_back(Parse(writer.Take()));
  ASSERT_EQ(messages.size(), 3u);
  std::string joined;
  for (size_t i = 0; i < messages.size(); ++i) {
    ASSERT_EQ(messages[i].chunks_size(), 1);
    const auto& chunk = messages[i].chunks(0);
    const bool last = i + 1 == messages.size();
    EXPECT_EQ(chunk.value_size(), last ? 0 : static_cast<int64_t>(value.size()));
    EXPECT_EQ(chunk.commit_row(), last);
    EXPECT_EQ(chunk.has_family_name(), i == 0);
    EXPECT_EQ(chunk.row_key().empty(), i != 0);
    joined += chunk.value();
  }
  EXPECT_EQ(joined, value);
}

TEST(ChunkWriter, AValueOfExactlyOneMessageIsWhole) {
  ChunkWriter writer;
  writer.StartRow("row");
  EXPECT_TRUE(writer.WriteCell("f", "q", 1000, "", std::string(ChunkWriter::kMessageBytes, 'v'), true));
  EXPECT_TRUE(writer.IsFull());
  EXPECT_EQ(Parse(writer.Take()).chunks(0).value_size(), 0);
  EXPECT_TRUE(writer.IsEmpty());
}

}  // namespace
}  // namespace sonde
